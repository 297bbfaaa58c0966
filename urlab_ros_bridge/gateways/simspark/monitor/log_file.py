# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A game as a file that RoboViz replays: the messages of a monitor, one a line."""

from __future__ import annotations

import logging
from pathlib import Path

from urlab_ros_bridge.gateways.simspark.errors import SimSparkError

_LOG = logging.getLogger(__name__)


class LogNotWritable(SimSparkError, OSError):
    """The file of a log cannot be written."""

    def __init__(self, path: Path, cause: OSError) -> None:
        super().__init__(f'cannot write the log {path}: {cause.strerror}')


class LogFile:
    """
    A viewer that writes down what it is sent.

    Each line is whole at once, so what a killed program leaves behind can be replayed.
    """

    def __init__(self, path: Path) -> None:
        """
        Open the file; one that is there is overwritten.

        :raises LogNotWritable: when it cannot be.
        """
        self._path = path
        try:
            self._file = path.open('wb')
        except OSError as error:
            raise LogNotWritable(path, error) from error

    @property
    def is_clear(self) -> bool:
        """Return whether the log continues."""
        return not self._file.closed

    def send(self, payload: bytes) -> bool:
        """Write a message; after an error the log ends."""
        if not self.is_clear:
            return False
        try:
            self._file.write(payload + b'\n')
            self._file.flush()
        except OSError as error:
            _LOG.error('logging stopped: %s', LogNotWritable(self._path, error))
            self.close()
            return False
        return True

    def close(self) -> None:
        """End the log; safe to call twice."""
        try:
            self._file.close()
        except OSError as error:  # what it holds cannot be written
            _LOG.error('%s', LogNotWritable(self._path, error))


__all__ = ['LogFile', 'LogNotWritable']
