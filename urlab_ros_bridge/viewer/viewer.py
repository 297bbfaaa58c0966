# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Show a simulation in a window, through changes of its world and restarts of its server."""

from __future__ import annotations

from collections.abc import Callable
import contextlib
import threading
import time

from urlab_ros_bridge.client.client import Client
from urlab_ros_bridge.client.errors import ConnectionLost
from urlab_ros_bridge.client.errors import ModelUnavailable
from urlab_ros_bridge.client.errors import NotConnected
from urlab_ros_bridge.client.errors import ProtocolError
from urlab_ros_bridge.client.errors import RemoteError
from urlab_ros_bridge.client.errors import RequestTimeout
from urlab_ros_bridge.client.model.kinematics import LocalModel
from urlab_ros_bridge.client.session import SHARED_SESSION
from urlab_ros_bridge.client.state.stream import open_state
from urlab_ros_bridge.client.state.stream import TickSource
from urlab_ros_bridge.transport.connection_events import ServerWatch
from urlab_ros_bridge.viewer.controls import Controls
from urlab_ros_bridge.viewer.window import Window
from urlab_ros_bridge.wire.errors import UnknownName
from urlab_ros_bridge.wire.errors import UrlabError
from urlab_ros_bridge.wire.ops import AUTO

_FRAME_SECONDS = 1 / 60
_STATUS_SECONDS = 0.5
_PROBLEM_SECONDS = 3.0
_TIMEOUT = 2.0


class Viewer:
    """
    A window on the simulation that a server runs.

    :param client: not connected yet.
    :param report: called with each event, such as the end of the server.
    :param show_status: called often with the state of the simulation.
    """

    def __init__(
        self, client: Client, report: Callable[[str], None], show_status: Callable[[str], None]
    ) -> None:
        self._client = client
        self._report = report
        self._show_status = show_status
        self._endpoint = f'tcp://{client.host}:{client.rpc_port}'
        self._window: Window | None = None
        self._mjb, self._world = b'', ''
        client.timeout = _TIMEOUT

    def run(self) -> None:
        """
        Show the simulation until the user closes the window.

        :raises ModelUnavailable: when the server offers no model, or one of another MuJoCo.
        :raises UrlabError: when the server cannot be understood, or refuses the keys.
        """
        try:
            while self._wait_for_world() and (reason := self._show_world()):
                self._report(reason)
                self._client.close()
        finally:
            self._client.close()
            if self._window is not None:
                self._window.close()

    def _wait_for_world(self) -> bool:
        """Connect to a server with a world; return False when the window was closed instead."""
        reported = ''
        while self._window is None or self._window.is_open:
            try:
                self._connect()
                if self._client.handshake.manager_present:
                    return True
                missing = f'a world: the server at {self._endpoint} runs none'
                time.sleep(_STATUS_SECONDS)
            except (RequestTimeout, ConnectionLost):
                missing = f'a simulation at {self._endpoint} (urlab up, urlab server or Unreal)'
            waiting = f'waiting for {missing}'
            if waiting != reported:
                self._report(waiting)
                reported = waiting
            self._show_status(waiting)
            if self._window is not None:
                self._window.refresh(waiting)
        return False

    def _connect(self) -> None:
        client = self._client
        client.shared = client.supports_shared_sessions()
        handshake = client.connect()
        if SHARED_SESSION not in handshake.extensions and handshake.manager_present:
            self._report('the server has one session only, which urlab view has taken')
            # Such a handshake makes a live world wait for steps.
            with contextlib.suppress(RemoteError):  # its mode cannot be changed
                client.set_mode(AUTO)

    def _show_world(self) -> str:
        """Show the world of the handshake; return why it ended, empty when the window did."""
        client, handshake = self._client, self._client.handshake
        if not handshake.mjb:
            raise ModelUnavailable(
                f'the server at {self._endpoint} sends no compiled model (mjb of hello_ok), so '
                'there is nothing to show'
            )
        if self._window is None or handshake.mjb != self._mjb:
            local, view = LocalModel(handshake), None
            if self._window is not None:
                if handshake.world == self._world:
                    view = self._window.view
                self._window.close()
            self._window = Window(local, view)
            self._mjb, self._world = handshake.mjb, handshake.world
        self._report(f'showing {handshake.world or "the world"} of {self._endpoint}')
        lost = threading.Event()
        port = handshake.ports.get('state') or client.state_port
        stream = open_state(
            handshake.shm_session_dir, client.host, port, keys=client.keys, stamped=False
        )
        watch = ServerWatch(self._endpoint, lost.set, client.keys)
        try:
            return self._show_frames(self._window, stream, lost)
        finally:
            watch.stop()
            stream.close()

    def _show_frames(self, window: Window, stream: TickSource, lost: threading.Event) -> str:
        client, controls = self._client, Controls(self._client)
        generation, world = client.generation, client.handshake.world
        problem, seconds, status_due = '', 0.0, 0.0
        while window.is_open:
            now = time.monotonic()
            if lost.is_set():
                return 'the simulation has ended'
            if client.generation != generation:
                return 'the world has changed'
            try:
                tick = stream.receive(0)
                if tick is not None and (seen := tick.state()) is not None:
                    window.show(seen)
                    seconds = seen.time
            except (ProtocolError, UnknownName) as error:
                time.sleep(_STATUS_SECONDS)
                return f'the state does not fit the model: {error}'
            try:
                controls.apply(window)
                if now >= status_due:
                    status, problem = controls.status(), ''
                    status_due = now + _STATUS_SECONDS
                    self._show_line(world, f'{seconds:.2f} s', status)
            except (ConnectionLost, NotConnected):
                return 'the simulation has ended'
            except UrlabError as error:
                is_silent = isinstance(error, RequestTimeout)
                problem = 'the server does not respond' if is_silent else str(error)
                status_due = now + _PROBLEM_SECONDS
                self._show_line(world, f'{seconds:.2f} s', problem)
            window.refresh(problem or ('paused' if controls.paused else ''))
            time.sleep(max(0.0, now + _FRAME_SECONDS - time.monotonic()))
        return ''

    def _show_line(self, *parts: str) -> None:
        self._show_status(' | '.join(part for part in parts if part))
