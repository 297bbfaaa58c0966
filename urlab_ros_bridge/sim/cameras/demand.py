# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Which cameras must be rendered, and why."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
import time

REQUEST_SECONDS = 2.0  # wall time that a camera keeps rendering after a request for its images


class Reason(Enum):
    """Why a camera is rendered."""

    ZMQ = 'zmq'  # it has subscribers over ZeroMQ
    SHM = 'shm'  # its region of shared memory is open
    REQUEST = 'request'  # its newest image was requested not long ago


class Demand:
    """
    The cameras that must be rendered, for each reason.

    Sets are replaced and never changed, so that other threads may read them.
    """

    def __init__(self) -> None:
        self._streamed = {Reason.ZMQ: frozenset[int](), Reason.SHM: frozenset[int]()}
        self._switched_off = {Reason.ZMQ: frozenset[int](), Reason.SHM: frozenset[int]()}
        self._until: dict[int, float] = {}

    def __bool__(self) -> bool:
        return bool(self._until) or any(self._streamed.values())

    def of(self, reason: Reason) -> frozenset[int]:
        """Return the cameras that are demanded for a reason, also those that are switched off."""
        if reason is not Reason.REQUEST:
            return self._streamed[reason]
        now = time.monotonic()
        return frozenset(camera for camera, end in self._until.items() if end > now)

    def cameras(self) -> set[int]:
        """Return the cameras to render, for whatever reason."""
        streamed = (
            cameras - self._switched_off[reason] for reason, cameras in self._streamed.items()
        )
        return set().union(*streamed, self.of(Reason.REQUEST) if self._until else ())

    def put(self, reason: Reason, cameras: Iterable[int]) -> None:
        """
        Set the cameras of a reason.

        Those of `REQUEST` are added to the ones before, and each is kept for `REQUEST_SECONDS`.
        """
        if reason is Reason.REQUEST:
            until = dict.fromkeys(cameras, time.monotonic() + REQUEST_SECONDS)
            self._until = {**self._until, **until}
        else:
            self._streamed[reason] = frozenset(cameras)

    def drop_expired(self) -> None:
        """Forget requests that are too old."""
        if self._until:
            alive = self.of(Reason.REQUEST)
            self._until = {camera: end for camera, end in self._until.items() if camera in alive}

    def switch(self, reason: Reason, camera: int, on: bool) -> None:
        """Serve the stream of a camera, or stop serving it."""
        off = self._switched_off[reason]
        self._switched_off[reason] = off - {camera} if on else off | {camera}

    def is_on(self, reason: Reason, camera: int) -> bool:
        """Return whether the stream of a camera is served."""
        return camera not in self._switched_off[reason]
