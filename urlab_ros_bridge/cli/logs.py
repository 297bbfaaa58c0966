# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Logging of the programs without ROS, in the format of the ROS console."""

from __future__ import annotations

import logging
import os
import sys
import threading
import time

LOGGER = 'urlab_ros_bridge'
_LEVELS = {'debug': logging.DEBUG, 'info': logging.INFO, 'warn': logging.WARNING,
           'error': logging.ERROR}
# Lines of one place in the code: so many at once, and so many a second after that.
BURST, RATE = 50, 1.0
_ROS_NAMES = {logging.WARNING: 'WARN', logging.CRITICAL: 'FATAL'}


class _RosFormatter(logging.Formatter):
    """`[WARN] [1700000000.123456789] [server]: text`, as rcutils writes it."""

    def format(self, record: logging.LogRecord) -> str:
        level = _ROS_NAMES.get(record.levelno, record.levelname)
        name = record.name.removeprefix(f'{LOGGER}.')
        text = f'[{level}] [{record.created:.9f}] [{name}]: {record.getMessage()}'
        return f'{text}\n{self.formatException(record.exc_info)}' if record.exc_info else text


class FloodFilter(logging.Filter):
    """
    Leaves lines out when one place in the code writes very many.

    Otherwise a peer that connects a thousand times a second would fill the disk.  How many were
    left out is in the next line from there.  What is logged for debugging always passes.
    """

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        # By place: lines that may be written, when that was (s), and how many were left out.
        self._places: dict[tuple[str, int], tuple[float, float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno <= logging.DEBUG:
            return True
        place, now = (record.pathname, record.lineno), time.monotonic()
        with self._lock:
            allowed, before, held = self._places.get(place, (float(BURST), now, 0))
            allowed = min(allowed + RATE * (now - before), float(BURST))
            passes = allowed >= 1.0
            self._places[place] = (allowed - passes, now, 0 if passes else held + 1)
        if passes and held:
            record.msg = f'{record.msg} ({held:,} more like this were omitted)'
        return passes


def set_up_logging(level: str) -> logging.Logger:
    """Log the project's messages of `level` (a row of LOG_LEVELS) and above to stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_RosFormatter())
    handler.addFilter(FloodFilter())
    logger = logging.getLogger(LOGGER)
    logger.handlers = [handler]
    logger.setLevel(_LEVELS[level])
    logger.propagate = False
    return logger


def announce(line: str) -> None:
    """Print the line of a program that is ready; a full disk behind the output does not end it."""
    try:
        print(line, flush=True)
    except OSError as error:
        logger = logging.getLogger(LOGGER)
        logger.warning('cannot write to the standard output (%s): %s', error.strerror, line)
        # What is still in its buffer would fail again at the end.
        with open(os.devnull, 'w') as nothing:
            os.dup2(nothing.fileno(), sys.stdout.fileno())
