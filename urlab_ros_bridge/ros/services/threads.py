# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Services whose handlers wait for the server, which the executor never does.

A `ServiceGroup` is what a mutually exclusive callback group is in an executor with several
threads: its requests are handled one after the other, beside those of other groups.  That executor
would take several times the CPU for every message, so each group has a thread here.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
import queue
import threading
import traceback
from typing import NamedTuple

from urlab_ros_bridge.ros.features.declarations import Service
from urlab_ros_bridge.ros.features.declarations import ServiceGroup
from urlab_ros_bridge.ros.features.feature import Bridge
from urlab_ros_bridge.ros.features.feature import Part
from urlab_ros_bridge.ros.rclpy_tools.compat import load_interface
from urlab_ros_bridge.ros.rclpy_tools.deferred_service import create_deferred_service
from urlab_ros_bridge.ros.rclpy_tools.deferred_service import Reply

# Takes a request and its response, and returns the response filled in.
Handler = Callable[[object, object], object]
# The end of the bridge waits this long for a request that is being handled (s).
_STOP_SECONDS = 0.5


class _Request(NamedTuple):
    """A request, its response to fill in, what does so, and what sends it."""

    handler: Handler
    request: object
    response: object
    reply: Reply


class ServiceThreads(Part):
    """
    Offers services in the node of the bridge, and handles their requests.

    :ivar stopping: is set when the bridge ends: waiting requests are rejected.
    :ivar world_turn: held by each request of the group WORLD, and by those of ENTITIES while they
        change the world.
    """

    def __init__(self, bridge: Bridge) -> None:
        self.stopping = threading.Event()
        self.world_turn = threading.Lock()
        self._node = bridge.node
        self._log = bridge.log
        groups = [group for group in ServiceGroup if group is not ServiceGroup.EXECUTOR]
        self._requests: dict[ServiceGroup, queue.SimpleQueue[_Request | None]] = {
            group: queue.SimpleQueue() for group in groups
        }
        self._threads = [
            threading.Thread(
                target=self._run, args=(group,), name=f'services {group.name}', daemon=True
            )
            for group in groups
        ]

    def offer(self, service: Service, name: str, handler: Handler) -> None:
        """
        Offer a service under a name.

        :raises InterfaceMissing: when its type is not installed.
        """
        kind = load_interface(service.type_name)
        if service.group is ServiceGroup.EXECUTOR:
            self._node.create_service(kind, name, handler)
            return

        def take(request: object, response: object, reply: Reply) -> None:
            requests = self._requests[service.group_of(request)]
            requests.put(_Request(handler, request, response, reply))

        create_deferred_service(self._node, kind, name, take)

    def start(self) -> None:
        """Start the threads."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Reject waiting requests and end the threads; one that waits for the server is left."""
        self.stopping.set()
        for requests in self._requests.values():
            requests.put(None)
        for thread in self._threads:
            if thread.is_alive():
                thread.join(_STOP_SECONDS)

    def _run(self, group: ServiceGroup) -> None:
        turn = self.world_turn if group is ServiceGroup.WORLD else nullcontext()
        while (waiting := self._requests[group].get()) is not None:
            try:
                with turn:
                    waiting.reply(waiting.handler(waiting.request, waiting.response))
            except Exception:
                # A response that cannot be sent must not end the services of all others.
                self._log('error', traceback.format_exc())
