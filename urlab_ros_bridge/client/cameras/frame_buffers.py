# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Reused memory for camera frames: the system would have to clear new memory."""

from __future__ import annotations

import sys

import numpy as np

_MOST = 4


class FrameBuffers:
    """Memory for frames of one size, reused when it is no longer referenced."""

    def __init__(self) -> None:
        self._size = 0
        self._made: list[np.ndarray] = []

    def take(self, size: int) -> np.ndarray:
        """
        Return unshared memory; what the caller keeps of it is not handed out again.

        :param size: in bytes; memory of another size is forgotten.
        """
        if size != self._size:
            self._size, self._made = size, []
        for index in range(len(self._made)):
            # Referred to by the list and by the argument: by no array made of it.
            if sys.getrefcount(self._made[index]) <= 2:
                return self._made[index]
        buffer = np.empty(size, np.uint8)
        if len(self._made) < _MOST:
            self._made.append(buffer)
        return buffer


__all__ = ['FrameBuffers']
