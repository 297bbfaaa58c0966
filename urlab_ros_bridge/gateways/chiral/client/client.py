# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The Chiral client without asyncio: it runs the asynchronous client in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from collections.abc import Mapping
import threading
from typing import Any
from typing import TypeVar

import numpy as np

from urlab_ros_bridge.gateways.chiral.client.async_client import AsyncChiralClient
from urlab_ros_bridge.gateways.chiral.client.async_client import DEFAULT_URL
from urlab_ros_bridge.gateways.chiral.protocol.codec import Observation

T = TypeVar('T')


class ChiralClient:
    """
    Drives a robot; see `AsyncChiralClient` for arguments and errors.

    Pings are answered between the calls too.

    >>> with ChiralClient() as robot:  # doctest: +SKIP
    ...     seen = robot.reset()
    ...     seen = robot.step(policy(seen))
    """

    def __init__(self, url: str = DEFAULT_URL, **options: Any) -> None:
        self._client = AsyncChiralClient(url, **options)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> ChiralClient:
        self.connect()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def url(self) -> str:
        """Return where the server is."""
        return self._client.url

    @property
    def latest(self) -> Observation | None:
        """Return the newest observation, None before the first."""
        return self._client.latest

    @property
    def dropped(self) -> int:
        """Return how many answers arrived that no call was waiting for."""
        return self._client.dropped

    def connect(self) -> None:
        """Connect; wait for a server that is not up yet."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(
                target=self._loop.run_forever, name='chiral-client', daemon=True
            )
            self._thread.start()
        try:
            self._wait(self._client.connect())
        except BaseException:
            self._end_loop()
            raise

    def close(self) -> None:
        """Disconnect."""
        if self._loop is not None:
            self._wait(self._client.close())
            self._end_loop()

    def metadata(self) -> dict[str, Any]:
        """Return the metadata of the server."""
        return self._wait(self._client.metadata())

    def reset(self, *, seed: int | None = None, keyframe: str | None = None) -> Observation:
        """Begin an episode."""
        return self._wait(self._client.reset(seed=seed, keyframe=keyframe))

    def observe(self) -> Observation:
        """Return the current observation."""
        return self._wait(self._client.observe())

    def act(self, values: np.ndarray, timestamps: Mapping[str, float] | None = None) -> None:
        """Send an action, shape (D,) or (N, D); there is no answer."""
        self._wait(self._client.act(values, timestamps))

    def step(self, values: np.ndarray) -> Observation:
        """Act, then observe."""
        return self._wait(self._client.step(values))

    def _wait(self, job: Coroutine[Any, Any, T]) -> T:
        if self._loop is None:
            job.close()
            raise RuntimeError('the client is closed; call connect() first')
        future = asyncio.run_coroutine_threadsafe(job, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def _end_loop(self) -> None:
        loop, self._loop = self._loop, None
        thread, self._thread = self._thread, None
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()
