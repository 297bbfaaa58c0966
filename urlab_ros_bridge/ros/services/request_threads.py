# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The threads that answer requests of services, so that the executor never waits for the server.

Requests of one kind (`Waits`) are answered one after the other: those that may change the world
in one thread, those that need no world in another, and the e-stop in its own.
"""

from __future__ import annotations

from collections.abc import Callable
import queue
import threading
import traceback

from urlab_ros_bridge.ros.features.declarations import Waits
from urlab_ros_bridge.ros.features.feature import Bridge
from urlab_ros_bridge.ros.features.feature import Part
from urlab_ros_bridge.ros.rclpy_tools.compat import load_interface
from urlab_ros_bridge.ros.rclpy_tools.deferred_service import create_deferred_service
from urlab_ros_bridge.ros.rclpy_tools.deferred_service import Reply

# A service: takes a request and its response, and returns the response filled in.
Answer = Callable[[object, object], object]
# The end of the bridge waits this long for a request that is being answered (s).
_STOP_SECONDS = 0.5


class RequestThreads(Part):
    """
    Offers services in the node of the bridge, and answers their requests in threads.

    :ivar stopping: is set when the bridge ends: waiting requests are rejected.
    """

    def __init__(self, bridge: Bridge) -> None:
        self.stopping = threading.Event()
        self._node = bridge.node
        self._log = bridge.log
        self._queues: dict[Waits, queue.SimpleQueue[Callable[[], None] | None]] = {
            kind: queue.SimpleQueue() for kind in Waits
        }
        self._threads = [
            threading.Thread(target=self._run, args=(kind,), name=f'services {kind.name}')
            for kind in Waits
        ]

    def offer(self, type_name: str, name: str, waits: Waits, answer: Answer) -> None:
        """
        Offer a service.

        :param answer: called in the thread of its kind; may wait.
        :raises InterfaceMissing: when its type is not installed.
        """

        def take(request: object, response: object, reply: Reply) -> None:
            self._queues[waits].put(lambda: reply(answer(request, response)))

        create_deferred_service(self._node, load_interface(type_name), name, take)

    def start(self) -> None:
        """Start the threads."""
        for thread in self._threads:
            thread.daemon = True
            thread.start()

    def stop(self) -> None:
        """Reject waiting requests and end the threads; one that waits for the server is left."""
        self.stopping.set()
        for tasks in self._queues.values():
            tasks.put(None)
        for thread in self._threads:
            if thread.is_alive():
                thread.join(_STOP_SECONDS)

    def _run(self, kind: Waits) -> None:
        while (task := self._queues[kind].get()) is not None:
            try:
                task()
            except Exception:
                # A response that cannot be sent must not end the services of all others.
                self._log('error', traceback.format_exc())


__all__ = ['RequestThreads']
