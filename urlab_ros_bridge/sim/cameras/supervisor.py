# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The renderer process of a world, while it is needed.

The listening sockets belong to the server.  Nothing is started before a client connects to one, or
`CameraRig.demand` starts it: worlds whose cameras have no viewers cost nothing.  A renderer that
dies is started again in the same way, on the same ports.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
import json
import logging
import os
from pathlib import Path
import socket
import subprocess
import sys
import threading
import time

import urlab_ros_bridge
from urlab_ros_bridge.kept_memory import allocator_variables
from urlab_ros_bridge.sim.cameras import messages
from urlab_ros_bridge.sim.cameras.catalog import listener_of
from urlab_ros_bridge.sim.cameras.connection import RendererConnection
from urlab_ros_bridge.sim.cameras.demand import Reason
from urlab_ros_bridge.sim.cameras.jobs import JobMemory
from urlab_ros_bridge.sim.cameras.listeners import endpoint_of
from urlab_ros_bridge.sim.cameras.listeners import MAX_PORTS
from urlab_ros_bridge.sim.cameras.listeners import open_listeners
from urlab_ros_bridge.sim.cameras.messages import wait_readable
from urlab_ros_bridge.sim.cameras.renderer import environment
from urlab_ros_bridge.sim.cameras.rig import CameraRig
from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.wire.errors import UrlabError

START_SECONDS = 30.0  # a renderer that is not ready by then counts as broken
STOP_SECONDS = 2.0
SHORT_LIFE = 10.0  # s; a renderer that died sooner is started again only after a pause
MAX_PAUSE = 30.0  # s
STUCK_SECONDS = 60.0  # without an image although jobs wait; drivers do hang
CHECK_SECONDS = 5.0
_NOT_READY = 'the renderer was not ready after'
_WORKER = 'urlab_ros_bridge.sim.cameras.renderer.worker'
_LOG = logging.getLogger(__name__)


class RendererSupervisor(threading.Thread):
    """
    Starts, supervises and ends the renderer of one world.

    :ivar listeners: the listening sockets, which cameras may share.
    """

    def __init__(
        self,
        rig: CameraRig,
        listeners: Sequence[socket.socket],
        backends: Sequence[str],
        keys: Path | None = None,
    ) -> None:
        super().__init__(name='cameras', daemon=True)
        self._rig, self._backends = rig, tuple(backends)
        self._listeners = list(listeners)
        self._keys = keys
        self._wake_in, self._wake_out = socket.socketpair()
        self._stopping = False
        self._needed = False
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._renderer: RendererConnection | None = None
        self._pause_until, self._failures, self._born = 0.0, 0, 0.0
        self._has_run = False
        self._done, self._stuck_checks, self._next_check = -1, 0, 0.0

    def start_soon(self) -> None:
        """Start a renderer unless there is one; does not wait."""
        self._needed = True
        self._wake()

    def close(self) -> None:
        """End the renderer and this thread, close the listening sockets."""
        self._stopping = True
        self._wake()
        self.join(timeout=2 * STOP_SECONDS)
        for end in (*self._listeners, self._wake_in, self._wake_out):
            end.close()

    def run(self) -> None:
        """Supervise until `close`."""
        try:
            while not self._stopping:
                try:
                    if self._socket is None:
                        self._wait_for_need()
                    elif not self._handle_message(self._socket):
                        self._died()
                except Exception as error:
                    self._recover(error)
        finally:
            self._turn_off('cameras are off: the server is shutting down')
            self._end()

    def _recover(self, error: Exception) -> None:
        """End the renderer and try again later, for instance once there are processes again."""
        self._failures += 1
        self._needed = True
        self._end()
        is_a_fault = not isinstance(error, OSError)
        text = 'the camera renderer cannot be used: %s; %s'
        _LOG.error(text, error, self._pause(), exc_info=is_a_fault)

    def _wake(self) -> None:
        with suppress(OSError):
            self._wake_out.send(b'\0', socket.MSG_DONTWAIT)

    def _wait_for_need(self) -> None:
        pause = max(self._pause_until - time.monotonic(), 0.0)
        watched = [] if pause else self._listeners
        timeout = pause if pause or self._needed else None
        readable = wait_readable([self._wake_in, *watched], timeout)
        self._drain_wake(readable)
        if self._stopping or time.monotonic() < self._pause_until:
            return
        if self._needed or any(listener in readable for listener in watched):
            self._start()

    def _drain_wake(self, readable: Sequence[object]) -> None:
        if self._wake_in in readable:
            self._wake_in.recv(4096)

    def _start(self) -> None:
        self._needed = False
        reasons, slow = {}, {}
        for backend in self._backends:
            reason = environment.missing_library(backend) or self._start_on(backend)
            if not reason or self._stopping:
                return
            reasons[backend] = reason
            if reason.startswith(_NOT_READY):
                slow[backend] = reason
        if slow:
            self._start_again(environment.RendererSlow(slow))
        elif self._has_run:  # a card is being reset, or the machine is overloaded
            self._start_again(environment.NoGraphics(reasons))
        else:
            error = environment.NoGraphics(reasons)
            _LOG.error('%s', error)
            self._turn_off(str(error))

    def _start_again(self, error: UrlabError) -> None:
        """Start a renderer after a pause: it will work, or it did."""
        self._failures += 1
        verb = 'restart' if self._has_run else 'start'
        _LOG.error('the camera renderer did not %s: %s; %s', verb, error, self._pause())
        self._needed |= self._rig.has_readers

    def _start_on(self, backend: str) -> str:
        """
        Start a renderer; return why it does not work, '' when it does.

        :raises OSError: without a free process, descriptor or memory.
        """
        rig = self._rig
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._born, self._socket = time.monotonic(), ours
        with theirs:
            memory = JobMemory(rig.state.size)
            self._renderer = RendererConnection(ours, memory, [item.size for item in rig.items])
            self._process = subprocess.Popen(
                [sys.executable, '-m', _WORKER, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                env=_environment(backend),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )
        rig.outdated.clear()  # before the model and the overlays are read
        settings = {
            'cameras': [asdict(item) for item in rig.items],
            'prefixes': rig.prefixes,
            'rendering': asdict(rig.engine.world.spec.rendering),
            'overlays': list(rig.overlays),
            'keys': str(self._keys or ''),
            'ports': len(self._listeners),
            'regions': {index: str(region.path) for index, region in rig.regions.items()},
        }
        files: list[int] = []
        try:
            files.append(messages.to_file(rig.engine.world.compiled_model()))
            files.append(messages.to_file(json.dumps(settings).encode()))
            fds = [memory.fd, *files, *(listener.fileno() for listener in self._listeners)]
            fds += [region.fd for region in rig.regions.values()]
            messages.send(ours, messages.LOAD, fds)
        except ConnectionError as error:
            return self._broken(f'the renderer ended while starting: {error}')
        finally:
            for file in files:
                os.close(file)
        return self._await_ready(backend, ours)

    def _await_ready(self, backend: str, connection: socket.socket) -> str:
        deadline = self._born + START_SECONDS
        while not self._stopping:
            left = deadline - time.monotonic()
            readable = wait_readable([connection, self._wake_in], max(left, 0.0))
            self._drain_wake(readable)
            if connection in readable:
                message = messages.receive(connection)
                if message is None:
                    return self._broken('the renderer ended while starting')
                kind, body, _ = message
                if kind == messages.FAILED:
                    return self._broken(json.loads(body))
                self._running(backend, json.loads(body)['renderer'])
                return ''
            if left <= 0:
                return self._broken(f'{_NOT_READY} {START_SECONDS:g} s')
        return ''

    def _running(self, backend: str, renderer: str) -> None:
        _LOG.info('cameras: rendering with %s (%s)', backend.upper(), renderer)
        self._backends, self._has_run = (backend,), True
        self._rig.attach(self._renderer)

    def _handle_message(self, connection: socket.socket) -> bool:
        """Handle one message; False when the renderer has ended."""
        readable = wait_readable([connection, self._wake_in], CHECK_SECONDS)
        self._drain_wake(readable)
        self._end_when_stuck()
        if connection not in readable:
            return True
        message = messages.receive(connection)
        if message is None:
            return False
        kind, body, fds = message
        content = json.loads(body)
        if kind == messages.WATCHED:
            self._rig.demand(Reason.ZMQ, content['watched'], new=content['new'])
        elif kind == messages.FRAMES and self._renderer is not None:
            self._renderer.take_frames(content, fds[0])
        return True

    def _died(self) -> None:
        lived = time.monotonic() - self._born
        self._failures = self._failures + 1 if lived < SHORT_LIFE else 0
        self._end()
        _LOG.error('the camera renderer died (%s); %s', self._fate, self._pause())
        # Subscribers connect again by themselves; readers of shared memory only wait.
        self._needed |= self._rig.has_readers

    def _pause(self) -> str:
        """Delay the next start after failures; return when it is, in words."""
        # The exponent is capped: a float overflows after a night of failures.
        pause = min(0.5 * 2 ** min(self._failures, 10), MAX_PAUSE) if self._failures else 0.0
        self._pause_until = time.monotonic() + pause
        again = f'in {pause:g} s at the earliest' if pause else 'when it is needed'
        return f'it will restart {again}'

    def _end_when_stuck(self) -> None:
        """Kill a renderer that has jobs and has not finished any for long."""
        now, renderer, process = time.monotonic(), self._renderer, self._process
        if renderer is None or process is None or now < self._next_check:
            return
        self._next_check = now + CHECK_SECONDS
        done = int(renderer.memory.control[JobMemory.DONE])
        # Checks are counted, not seconds: a suspended machine makes none.
        waits = renderer.waiting and done == self._done
        self._stuck_checks = self._stuck_checks + 1 if waits else 0
        self._done = done
        if self._stuck_checks * CHECK_SECONDS >= STUCK_SECONDS:
            _LOG.error('the camera renderer drew nothing for %g s: terminating it', STUCK_SECONDS)
            self._stuck_checks = 0
            process.kill()

    def _broken(self, reason: str) -> str:
        self._end()
        return f'{reason} ({self._fate})' if 'ended' in reason else reason

    def _end(self) -> None:
        """Forget the renderer: the closed connection ends it if it is still running."""
        self._rig.attach(None)
        if self._renderer is not None:
            self._renderer.close()
            self._renderer.memory.close()
            self._renderer = None
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        process, self._process = self._process, None
        if process is not None:
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            code = process.returncode
            self._fate = f'signal {-code}' if code < 0 else f'exit code {code}'

    def _turn_off(self, reason: str) -> None:
        self._rig.turn_off(reason)
        for listener in self._listeners:
            listener.close()
        self._listeners = []


def _environment(backend: str) -> dict[str, str]:
    root = str(Path(urlab_ros_bridge.__file__).resolve().parents[1])
    paths = [root, *os.environ.get('PYTHONPATH', '').split(os.pathsep)]
    return {
        **os.environ,
        **environment.platform_variables(backend),
        **environment.thread_variables(),
        **allocator_variables(),
        'PYTHONPATH': os.pathsep.join(path for path in paths if path),
    }


class CameraService:
    """Runs the cameras of one world; see `simulation.WorldService`."""

    def __init__(self, config: ServerConfig, rig: CameraRig) -> None:
        """
        Listen for subscribers, unless there is nothing to show or no way to.

        :raises SocketInUse: when there are no free ports.
        """
        self._rig = rig
        self._supervisor: RendererSupervisor | None = None
        if not rig.items:
            return
        if config.cameras == 'off':
            rig.turn_off('cameras are off: the server was started with --cameras off')
            return
        backends = environment.candidates(config.gl)
        if all(environment.missing_library(name) for name in backends):
            error = environment.NoGraphics(
                {name: environment.missing_library(name) for name in backends}
            )
            _LOG.error('%s', error)
            rig.turn_off(str(error))
            return
        listeners = open_listeners(config, min(len(rig.items), MAX_PORTS))
        rig.endpoints = [
            endpoint_of(listeners[listener_of(item.index, len(listeners))]) for item in rig.items
        ]
        rig.off = ''
        self._supervisor = RendererSupervisor(rig, listeners, backends, config.keys)
        rig.start_renderer = self._supervisor.start_soon
        # After the other publishers: rows do not wait for images.
        rig.engine.hooks.publish.append(rig.publish)
        self._supervisor.start()
        if config.cameras == 'on':
            self._supervisor.start_soon()

    def close(self) -> None:
        """End the renderer and close the ports."""
        if self._supervisor is not None:
            self._supervisor.close()
            # They hold each other, and the rig holds the world.
            self._supervisor = self._rig.start_renderer = None
