# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The gateway's session with its own page: a client whose messages are binary.

A client that lists ``binary`` in the `extensions` of its hello gets a `PageSession`.  Its binary
messages go there, and instead of scene_state it gets what the session sends.  Its text messages
are those of the protocol, as for every client.
"""

from __future__ import annotations

from typing import Protocol

from urlab_ros_bridge.gateways.virtual_field.scene.frame import SceneFrame
from urlab_ros_bridge.gateways.virtual_field.scene.served import ServedScene
from urlab_ros_bridge.gateways.virtual_field.serving.publications import Publications


class PageSend(Protocol):
    """Sends one binary message to the page."""

    def __call__(self, message: bytes, *, droppable: bool) -> bool:
        """
        Send.

        :param droppable: never waits: the message is dropped while an earlier one is still on
            its way.  Otherwise waits until the kernel has it, so this is not for `tick`.
        :returns: whether the page will get it.
        :raises PeerGone: when the page has gone; only of a message that is not droppable.
        """


class PageSession(Protocol):
    """
    One page.

    `open`, `receive` and `close` are called by the thread of this client, `tick` by the thread of
    all clients: there it must be short, and what it makes is shared by `SceneFrame.shared`.
    """

    def open(self, send: PageSend) -> None:
        """Begin; hello_ack has been sent.  Called before anything else."""

    def receive(self, message: bytes) -> None:
        """Take a binary message of the page."""

    def tick(self, scene: SceneFrame) -> None:
        """Show the newest state; called 72 times a second, with the same frame when time stops."""

    def close(self) -> None:
        """End: the page has gone, or its simulation has."""


class PageSessions(Protocol):
    """Our own page, for all who open it."""

    def prepare(self, scene: ServedScene) -> None:
        """Make what takes long for a simulation, before the first page asks for it."""

    def __call__(self, scene: ServedScene, publications: Publications) -> PageSession:
        """
        Make the session of a page that has said hello.

        :param scene: of the simulation that is served.
        :param publications: what publishers show in it.
        """


__all__ = ['PageSend', 'PageSession', 'PageSessions']
