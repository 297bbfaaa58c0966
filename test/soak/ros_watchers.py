# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A node that listens to the bridge whatever happens, and asks it for bags."""

from __future__ import annotations

from collections import Counter
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
from watchers import PATIENCE
from watchers import Watcher

# By topic: type, and the header or the like that has the stamp.
TOPICS: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    '/clock': (Clock, lambda message: message.clock),
    '/odom': (Odometry, lambda message: message.header.stamp),
    '/scan': (LaserScan, lambda message: message.header.stamp),
    '/tf': (TFMessage, lambda message: message.transforms[0].header.stamp),
}


class RosFace(Listener):
    """
    A node in the domain of the bridge.

    :ivar watchers: of each of the topics.
    :ivar clocks: the latest times of /clock that were heard, as (monotonic s, ns).
    :ivar backs: how often time went back, by topic: once for each start of the server at most,
        whenever that is heard of.
    """

    def __init__(self, domain: int) -> None:
        super().__init__(domain)
        self.clocks: deque[tuple[float, int]] = deque(maxlen=5000)
        self.backs: Counter[str] = Counter()
        self.watchers = [
            Watcher(topic, self._session(topic, *row)) for topic, row in TOPICS.items()
        ]

    def _session(
        self, topic: str, kind: Any, stamp_of: Callable[[Any], Any]
    ) -> Callable[[], Iterator[tuple[int, float]]]:
        news = threading.Event()
        newest = 0

        def take(message: Any) -> None:
            nonlocal newest
            stamp = stamp_of(message)
            before, newest = newest, stamp.sec * 10**9 + stamp.nanosec
            self.backs[topic] += newest < before
            if topic == '/clock':
                self.clocks.append((time.monotonic(), newest))
            news.set()

        self.run(lambda: self.node.create_subscription(kind, topic, take, LISTEN_BEST_EFFORT))

        def session() -> Iterator[tuple[int, float]]:
            while news.wait(PATIENCE):
                news.clear()
                yield 0, time.monotonic()
            raise TimeoutError('no message')

        return session
