# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What the user does in the window, as requests to the server."""

from __future__ import annotations

import queue

from urlab_ros_bridge.client.client import Client
from urlab_ros_bridge.client.model import read_world
from urlab_ros_bridge.client.session import SHARED_SESSION
from urlab_ros_bridge.viewer.window import Drag
from urlab_ros_bridge.viewer.window import Window

# Codes of GLFW.
SPACE, BACKSPACE, RIGHT = 32, 259, 262
# A drag that is not repeated ends after this much simulated time (s).
_DRAG_SECONDS = 0.2
_DRAG_NAME = 'urlab view'


class Controls:
    """
    Keys and drags of one world.

    :ivar paused: whether the user, or another client, has paused the world.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._bodies = read_world(client.handshake).bodies
        self._dragged = ''
        self.paused = False

    def apply(self, window: Window) -> None:
        """
        Send what the user has done since the last call.

        :raises UrlabError: when the server refuses it or does not answer.
        """
        try:
            while True:
                self._press(window.keys.get_nowait())
        except queue.Empty:
            pass
        drag = window.drag()
        if drag is not None:
            self._drag(drag)
        elif self._dragged:
            name, self._dragged = self._dragged, ''
            if self._knows('apply_wrench'):
                self._client.apply_wrench(name, name=_DRAG_NAME)  # zeros end it

    def status(self) -> str:
        """
        Return mode and speed of the simulation; empty on a stock server, which reports none.

        :raises UrlabError: when the server does not answer.
        """
        if not self._knows(SHARED_SESSION):
            return 'paused' if self.paused else ''
        status = self._client.status()
        self.paused = status.paused
        mode = f'{status.mode}{", paused" * status.paused}'
        unstable = ' | unstable since the last reset' if status.divergence else ''
        return f'{mode} | {status.real_time_factor:.2f}x real time{unstable}'

    def _press(self, key: int) -> None:
        if key == SPACE:
            self.paused = self._client.set_paused(not self.paused)
        elif key == RIGHT:
            self._client.step(1, while_paused=self.paused, observations='minimal')
        elif key == BACKSPACE:
            self._client.reset()

    def _drag(self, drag: Drag) -> None:
        """Pull or turn a body; on a stock server by the force that MuJoCo's viewer would apply."""
        body, client = self._bodies[drag.body], self._client
        if self._knows('pull_body') and not drag.turns:
            client.pull_body(
                body.compiled, drag.point, drag.target, _DRAG_SECONDS, name=_DRAG_NAME
            )
        elif self._knows('apply_wrench'):
            client.apply_wrench(
                body.compiled, drag.wrench[:3], drag.wrench[3:], _DRAG_SECONDS, name=_DRAG_NAME
            )
        else:
            client.step(xfrc_applied={body.prefix: {body.name: drag.wrench}})
        self._dragged = body.compiled

    def _knows(self, extension: str) -> bool:
        return extension in self._client.handshake.extensions
