# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The page as the gateway knows it: files over HTTP, and a session for each that connects."""

from __future__ import annotations

import threading

from urlab_ros_bridge.gateways.serving.websocket_server import HttpAnswer
from urlab_ros_bridge.gateways.virtual_field.page.files import PageFiles
from urlab_ros_bridge.gateways.virtual_field.page.page_world import PageWorld
from urlab_ros_bridge.gateways.virtual_field.page.session import BinaryPage
from urlab_ros_bridge.gateways.virtual_field.scene.served import ServedScene
from urlab_ros_bridge.gateways.virtual_field.serving.page_session import PageUser
from urlab_ros_bridge.gateways.virtual_field.serving.publications import Publications


class Page:
    """
    Makes sessions (`PageSessions`) and answers GET (`HttpFiles`).

    The world of the newest simulation is kept; one that has gone is let go with the next.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._world: PageWorld | None = None
        self._bodies: dict[str, bytes] = {}
        self._files = PageFiles(self._bodies)

    @property
    def has_libraries(self) -> bool:
        """Whether `make web` was run; without it the page says so."""
        return self._files.has_libraries

    def respond(self, path: str) -> HttpAnswer:
        """Answer GET."""
        return self._files.respond(path)

    def __call__(
        self, scene: ServedScene, publications: Publications, user: PageUser
    ) -> BinaryPage:
        """
        Make the session of a page.

        :raises ModelUnavailable: see `Handshake.model`.
        """
        return BinaryPage(self._world_of(scene), publications, user)

    def prepare(self, scene: ServedScene) -> None:
        """
        Make the files of all bodies, so that the first page does not wait for them.

        :raises ModelUnavailable: see `Handshake.model`.
        """
        self._world_of(scene)

    def _world_of(self, served: ServedScene) -> PageWorld:
        with self._lock:
            old = self._world
            if old is None or old.served is not served:
                world = PageWorld(served)
                # In place: the files answer from this table.
                for digest in self._bodies.keys() - world.files.keys():
                    del self._bodies[digest]
                self._bodies.update(world.files)
                self._world = world
                if old is not None:
                    old.close()
            else:
                world = old
        return world


__all__ = ['Page']
