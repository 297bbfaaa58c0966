# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Logging of the programs without ROS, in the format of the ROS console."""

from __future__ import annotations

import logging
import os
import sys

LOGGER = 'urlab_ros_bridge'
_LEVELS = {'debug': logging.DEBUG, 'info': logging.INFO, 'warn': logging.WARNING,
           'error': logging.ERROR}
_ROS_NAMES = {logging.WARNING: 'WARN', logging.CRITICAL: 'FATAL'}


def printable(text: object) -> str:
    r"""
    Return a text without control characters, which files and peers could send to a terminal.

    >>> print(printable('name \x1b[2J'))
    name \x1b[2J
    """
    return ''.join(
        char if char.isprintable() or char in '\n\t' else repr(char)[1:-1] for char in str(text)
    )


def ros_level(level: object) -> str:
    """Return a row of LOG_LEVELS as rcl takes it under any locale: a Turkish one has another I."""
    return str(level).upper()


class _RosFormatter(logging.Formatter):
    """`[WARN] [1700000000.123456789] [server]: text`, as rcutils writes it."""

    def format(self, record: logging.LogRecord) -> str:
        level = _ROS_NAMES.get(record.levelno, record.levelname)
        name = record.name.removeprefix(f'{LOGGER}.')
        text = f'[{level}] [{record.created:.9f}] [{name}]: {printable(record.getMessage())}'
        return f'{text}\n{self.formatException(record.exc_info)}' if record.exc_info else text


def set_up_logging(level: str) -> logging.Logger:
    """Log the project's messages of `level` (a row of LOG_LEVELS) and above to stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_RosFormatter())
    logger = logging.getLogger(LOGGER)
    logger.handlers = [handler]
    logger.setLevel(_LEVELS[level])
    logger.propagate = False
    return logger


def announce(line: str) -> None:
    """Print the ready line of a program; a full disk behind stdout does not end the program."""
    try:
        print(line, flush=True)
    except OSError as error:
        logger = logging.getLogger(LOGGER)
        logger.warning('cannot write to the standard output (%s): %s', error.strerror, line)
        # The rest of its buffer would fail again at exit.
        with open(os.devnull, 'w') as nothing:
            os.dup2(nothing.fileno(), sys.stdout.fileno())
