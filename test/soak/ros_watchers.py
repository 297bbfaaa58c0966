# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes that listen to the bridge whatever happens, and ask it for bags."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from collections.abc import Iterator
import threading
import time
from typing import Any

from bridge_harness import LISTEN_BEST_EFFORT
from bridge_harness import Listener
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import LaserScan
from tf2_msgs.msg import TFMessage

_PATIENCE = 3.0  # s without a message after which a watcher says so
# By the name of the watcher: type, topic, and the header or the like that has the stamp.
TOPICS: dict[str, tuple[Any, str, Callable[[Any], Any]]] = {
    'ros clock': (Clock, '/clock', lambda message: message.clock),
    'ros odom': (Odometry, '/odom', lambda message: message.header.stamp),
    'ros scan': (LaserScan, '/scan', lambda message: message.header.stamp),
    'ros tf': (TFMessage, '/tf', lambda message: message.transforms[0].header.stamp),
}


class RosFace:
    """
    A node in the domain of the bridge.

    :ivar clocks: the latest times of /clock that were heard, as (monotonic s, ns).
    """

    def __init__(self, domain: int, life_at: Callable[[float], int]) -> None:
        """
        Join a domain.

        :param life_at: returns which life of the server it was at a unix time.
        """
        self._listener = Listener(domain)
        self._life_at = life_at
        self.clocks: deque[tuple[float, int]] = deque(maxlen=5000)

    def close(self) -> None:
        """Leave."""
        self._listener.close()

    def call(self, kind: Any, service: str, /, **fields: Any) -> Any:
        """Call a service and return its response."""
        return self._listener.call(kind, service, **fields)

    def sessions(self) -> dict[str, Callable[[], Iterator[tuple[int, float]]]]:
        """Subscribe to all topics; return the sessions of their watchers."""
        return {name: self._session(*row) for name, row in TOPICS.items()}

    def _session(
        self, kind: Any, topic: str, stamp_of: Callable[[Any], Any]
    ) -> Callable[[], Iterator[tuple[int, float]]]:
        heard: deque[tuple[int, int]] = deque(maxlen=10_000)
        news = threading.Event()
        life, newest = 1, 0

        def take(message: Any, info: Any) -> None:
            nonlocal life, newest
            stamp = stamp_of(message)
            ns = stamp.sec * 10**9 + stamp.nanosec
            # Time may go back once for each start of the server, whenever that is heard of: what
            # limits have held back of the old time comes until the new one speaks.
            started = self._life_at(info['source_timestamp'] / 1e9)
            if ns < newest and started > life:
                life = started
            newest = ns
            heard.append((life, ns))
            if topic == '/clock':
                self.clocks.append((time.monotonic(), ns))
            news.set()

        node = self._listener.node
        self._listener.run(lambda: node.create_subscription(kind, topic, take, LISTEN_BEST_EFFORT))

        def session() -> Iterator[tuple[int, float]]:
            while news.wait(_PATIENCE):
                news.clear()
                while heard:
                    life, ns = heard.popleft()
                    yield life, ns / 1e9
            raise TimeoutError(f'no message on {topic}')

        return session
