# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A thread that keeps the newest camera images ready while they are requested."""

from __future__ import annotations

from collections.abc import Callable
import logging
import threading
import time
from typing import Generic
from typing import TypeVar

from urlab_ros_bridge.gateways.errors import RobotError
from urlab_ros_bridge.wire.errors import UrlabError

_LOG = logging.getLogger(__name__)
T = TypeVar('T')

# Rendering stops after this time without a request (s).
IDLE_SECONDS = 2.0
FIRST_SECONDS = 15.0


class ImagePrefetcher(Generic[T]):
    """
    Repeats `fetch` at most every `period` seconds and keeps the result.

    :param fetch: blocks until images are there.
    """

    def __init__(self, fetch: Callable[[], T], period: float) -> None:
        self._fetch = fetch
        self._period = period
        self._changed = threading.Condition()
        self._newest: T | None = None
        self._failure: UrlabError | None = None
        self._requested_at = 0.0
        self._generation = 0
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name='gateway-images', daemon=True)
        self._thread.start()

    def latest(self) -> T:
        """
        Return the newest images; only the first ones are waited for.

        :raises UrlabError: what `fetch` raised last.
        """
        with self._changed:
            now = time.monotonic()
            if now - self._requested_at > IDLE_SECONDS:
                self._newest = None  # from before the pause
            self._requested_at = now
            self._changed.notify_all()
            ready = self._changed.wait_for(
                lambda: self._newest is not None or self._failure is not None or self._stopping,
                FIRST_SECONDS,
            )
            if self._failure is not None:
                failure, self._failure = self._failure, None
                raise failure
            if not ready or self._newest is None:
                raise RobotError(f'no images within {FIRST_SECONDS:g} s')
            return self._newest

    def discard(self) -> None:
        """Drop the images: the world has been reset."""
        with self._changed:
            self._newest = None
            self._generation += 1

    def stop(self) -> None:
        """End the thread."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        self._thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._stopping or self._is_requested())
                if self._stopping:
                    return
                generation, started = self._generation, time.monotonic()
            newest: T | None = None
            failure: UrlabError | None = None
            try:
                newest = self._fetch()
            except UrlabError as error:
                failure = error
            except Exception as error:  # the thread must survive it
                _LOG.exception('reading the simulation failed')
                failure = RobotError(f'{type(error).__name__} while reading the simulation')
            with self._changed:
                if generation == self._generation:
                    self._newest, self._failure = newest, failure
                    self._changed.notify_all()
                left = started + self._period - time.monotonic()
                if left > 0 and not self._stopping:
                    self._changed.wait_for(lambda: self._stopping, left)

    def _is_requested(self) -> bool:
        return time.monotonic() - self._requested_at < IDLE_SECONDS


__all__ = ['ImagePrefetcher']
