# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The gateway's session with its own page: a client whose messages are binary.

A client that lists ``binary`` in the `extensions` of its hello gets a `PageSession`.  Its binary
messages go there, and instead of scene_state it gets what the session sends.  Its text messages
are those of the protocol, as for every client.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from urlab_ros_bridge.gateways.virtual_field.scene.frame import SceneFrame
from urlab_ros_bridge.gateways.virtual_field.scene.served import ServedScene
from urlab_ros_bridge.gateways.virtual_field.serving.publications import Publications


@dataclass(frozen=True, slots=True)
class PageUser:
    """
    Who opened a page.

    :ivar name: of the session, as other pages see it.
    :ivar device: browser and system, as the page names them.
    :ivar view_only: whether it may only watch.
    """

    name: str
    device: str = ''
    view_only: bool = False


class PageLink(Protocol):
    """The connection to a page."""

    def send(self, message: bytes) -> None:
        """
        Send a binary message; waits for a page that does not read.

        :raises ConnectionClosed: when the page has disconnected.
        """

    def post(self, job: Callable[[], None], key: object) -> bool:
        """Run a job in the thread that sends to this page; the newest of each key counts."""


class PageSession(Protocol):
    """
    One page.

    `open`, `receive` and `close` are called by the thread that reads from it, `tick` by the one
    that sends to it.
    """

    def open(self, link: PageLink) -> None:
        """Begin; hello_ack has been sent.  Called before anything else."""

    def receive(self, message: bytes) -> None:
        """Take a binary message of the page."""

    def tick(self, scene: SceneFrame) -> None:
        """Show the newest state; called 72 times a second, with the same frame when time stops."""

    def close(self) -> None:
        """End: the page has disconnected, or its simulation has ended."""


class PageSessions(Protocol):
    """Our own page, for all who open it."""

    def prepare(self, scene: ServedScene) -> None:
        """Make what takes long for a simulation, before the first page asks for it."""

    def __call__(
        self, scene: ServedScene, publications: Publications, user: PageUser
    ) -> PageSession:
        """
        Make the session of a page that has said hello.

        :param scene: of the simulation that is served.
        :param publications: what publishers show in it.
        :param user: who opened it.
        """


__all__ = ['PageLink', 'PageSession', 'PageSessions', 'PageUser']
