# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The renderer process: ``python -m urlab_ros_bridge.sim.cameras.renderer.worker FD``.

It waits for jobs and subscriptions, renders, sends, and ends when the server does.  Everything it
knows comes in messages of the server; it owns the sockets of the cameras, so no pixel for
subscribers passes through the server.
"""

from __future__ import annotations

from collections.abc import Sequence
import ctypes
import json
import logging
import os
from pathlib import Path
import signal
import socket
import sys
import time

from urlab_ros_bridge.sim.cameras import messages
from urlab_ros_bridge.sim.cameras.jobs import Job
from urlab_ros_bridge.sim.cameras.jobs import JobMemory
from urlab_ros_bridge.sim.cameras.jobs import unpack_job
from urlab_ros_bridge.sim.cameras.messages import wait_readable
from urlab_ros_bridge.sim.cameras.renderer import environment
from urlab_ros_bridge.transport.keys import read_server_keys
from urlab_ros_bridge.transport.shm import RegionWriter
from urlab_ros_bridge.transport.shm.region import Region

_LOG = logging.getLogger(__name__)
_PR_SET_PDEATHSIG = 1
_MOST_TIMES = 64
_MODEL_FILE = 'model.mjb'


class Worker:
    """One renderer and its connection to the server."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._took: dict[tuple[int, ...], int] = {}  # ns that the last job of these cameras took

    def load(self, fds: list[int]) -> str:
        """
        Load the world and make OpenGL ready; returns the name of its renderer.

        :raises NoGraphics: when OpenGL cannot be used.
        """
        # OpenGL's platform is chosen when these are imported.
        import mujoco

        from urlab_ros_bridge.sim.cameras.catalog import CameraItem
        from urlab_ros_bridge.sim.cameras.renderer import encoder
        from urlab_ros_bridge.sim.cameras.renderer.drawing import choose_quality
        from urlab_ros_bridge.sim.cameras.renderer.drawing import is_software
        from urlab_ros_bridge.sim.cameras.renderer.drawing import SceneRenderer
        from urlab_ros_bridge.sim.cameras.renderer.encoder import open_senders
        from urlab_ros_bridge.sim.cameras.visual_state import VisualState
        from urlab_ros_bridge.sim.model.sidecar.specs import RenderSpec
        from urlab_ros_bridge.transport.server_sockets import ServerSockets

        memory_fd, model_fd, settings_fd, *rest = fds
        settings = json.loads(messages.from_file(settings_fd))
        cameras = [CameraItem(**camera) for camera in settings['cameras']]
        listeners, region_fds = rest[: settings['ports']], rest[settings['ports'] :]
        self._gl, name = environment.open_context(64, 64)
        mjb = messages.from_file(model_fd)
        model = mujoco.MjModel.from_binary_path(_MODEL_FILE, {_MODEL_FILE: mjb})
        data, quality = mujoco.MjData(model), RenderSpec(**settings['rendering'])
        self._state = VisualState(model, data, cameras)
        self._renderer = SceneRenderer(
            model, data, cameras, settings['prefixes'], choose_quality(model, quality, name)
        )
        self._renderer.overlays = settings['overlays']
        self._memory = JobMemory(self._state.size, memory_fd)
        keys = read_server_keys(Path(settings['keys'])) if settings['keys'] else None
        self._sockets = ServerSockets(keys)
        senders = open_senders(self._sockets, cameras, listeners)
        regions = {
            int(camera): RegionWriter(Region.adopt(Path(path), fd))
            for (camera, path), fd in zip(settings['regions'].items(), region_fds, strict=True)
        }
        self._drawn = encoder.DrawnFrame
        # A graphics card draws while the processor does other work.
        self._encoder = encoder.FrameEncoder(
            self._memory,
            senders,
            regions,
            self._renderer.words_needed,
            self._send_to_server,
            threaded=not (environment.on_one_processor() and is_software(name)),
        )
        return name

    def run(self) -> None:
        """Serve until the server closes the connection."""
        self._encoder.start()
        while True:
            if self._encoder.threaded:
                wait_readable([self._socket])
            elif not self._encoder.wait_for_input(self._socket):
                continue
            if not self._receive():
                return

    def _receive(self) -> bool:
        """Handle one message; return False when the server has ended."""
        try:
            message = messages.receive(self._socket)
        except BlockingIOError:
            return True
        if message is None:
            return False
        kind, body, fds = message
        if kind == messages.JOB:
            self._draw(unpack_job(body))
        elif kind == messages.READERS:
            self._encoder.set_readers(json.loads(body))
        elif kind == messages.ARRAYS:
            self._renderer.apply_arrays(messages.from_file(fds[0]))
        elif kind == messages.OVERLAYS:
            self._renderer.overlays = json.loads(messages.from_file(fds[0]))
        return True

    def _draw(self, job: Job) -> None:
        memory, begin = self._memory, time.monotonic_ns()
        memory.control[memory.EXPECTED] = begin + self._took.get(job.cameras, 0)
        memory.control[memory.BEGUN] += 1
        self._state.put(memory.state(job.number))
        if self._state.free is not None:
            self._renderer.view_mode = self._state.free.view_mode
        left, buffers = len(job.cameras), self._encoder.buffers
        for raw, buffer, camera in self._renderer.draw_all(job.cameras, buffers.get):
            left -= 1
            self._encoder.submit(self._drawn(raw, buffer, camera, job, left == 0))
        if len(self._took) > _MOST_TIMES:
            self._took.clear()
        self._took[job.cameras] = time.monotonic_ns() - begin
        memory.control[memory.DONE] += 1

    def _send_to_server(self, message: bytes, fds: Sequence[int] = ()) -> None:
        try:
            messages.send(self._socket, message, fds)
        except BlockingIOError:
            # The server reads these immediately; a full queue means that it hangs.
            _LOG.warning('the server does not read messages of the renderer')
        except OSError:
            pass  # the server has ended: the next receive ends the loop


def main(argv: list[str]) -> int:
    """Run on the socket whose descriptor is given."""
    logging.basicConfig(format='%(levelname)s: cameras: %(message)s', level=logging.WARNING)
    # Ctrl-C goes to the whole terminal; the server decides when its renderer ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A hanging renderer does not notice that the connection closes, and would keep the ports of
    # the cameras.
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    connection = socket.socket(fileno=int(argv[0]))
    environment.lower_priority()
    message = messages.receive(connection)
    if message is None:
        return 0
    worker = Worker(connection)
    try:
        try:
            name = worker.load(message[2])
        except environment.NoGraphics as error:
            messages.send(connection, messages.pack(messages.FAILED, str(error)))
            return 3
        messages.send(connection, messages.pack(messages.READY, {'renderer': name}))
    except ConnectionError:
        return 0  # the world has ended
    connection.setblocking(False)
    try:
        worker.run()
    except environment.GraphicsLost as error:
        _LOG.error('%s', error)
        return 4
    except Exception:
        _LOG.exception('the renderer aborted')
        return 1
    return 0


if __name__ == '__main__':
    code = main(sys.argv[1:])
    sys.stderr.flush()
    # OpenGL and ZeroMQ may hang in their exit handlers when a driver is unhappy.
    os._exit(code)
