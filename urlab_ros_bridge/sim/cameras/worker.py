# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The renderer process: ``python -m urlab_ros_bridge.sim.cameras.worker FD``.

It waits for jobs and subscriptions, renders, sends, and ends when the server does.  Everything it
knows comes through the link; it owns the sockets, so no pixel ever passes through the server.
"""

from __future__ import annotations

from collections import deque
import json
import logging
import os
import signal
import socket
import sys
from typing import Any

import zmq

from urlab_ros_bridge.sim.cameras import gl
from urlab_ros_bridge.sim.cameras import link
from urlab_ros_bridge.sim.cameras.memory import SharedMemory

NICENESS = 5  # physics goes first
_LOG = logging.getLogger(__name__)


class Worker:
    """
    One renderer behind a link.

    :ivar watched: cameras that somebody subscribes to, as they were last reported.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._link = connection
        self._jobs: deque[link.Job] = deque()
        self._zmq = zmq.Context()
        self._outlets: list[Any] = []
        self._frames: list[int] = []
        self._poller = zmq.Poller()
        self._poller.register(connection, zmq.POLLIN)
        self.watched: list[int] = []

    def load(self, body: bytes, fds: list[int]) -> str:
        """
        Take in the world and make OpenGL ready; returns the name of its renderer.

        :raises NoGraphics: when OpenGL cannot be used.
        """
        settings = json.loads(body)
        context, name = gl.open_context(64, 64)
        # Both need OpenGL's platform to be chosen.
        from urlab_ros_bridge.sim.cameras.outlet import Outlet
        from urlab_ros_bridge.sim.cameras.stagehand import Stagehand

        memory_fd, model_fd, *listeners = fds
        self._gl = context
        self._stagehand = Stagehand(settings, link.from_file(model_fd), name)
        cameras = self._stagehand.cameras
        self._memory = SharedMemory(
            self._stagehand.state_size, [camera.size for camera in cameras], memory_fd
        )
        self._frames = [0] * len(cameras)
        for camera, listener in zip(cameras, listeners, strict=True):
            outlet = Outlet(self._zmq, camera, listener)
            self._outlets.append(outlet)
            self._poller.register(outlet.socket, zmq.POLLIN)
        return name

    def run(self) -> None:
        """Serve until the link closes."""
        while True:
            self._poller.poll(0 if self._jobs else None)
            if not self._receive():
                return
            self._report_watched()
            if self._jobs:
                self._do(self._jobs.popleft())

    def _receive(self) -> bool:
        while True:
            try:
                message = link.receive(self._link)
            except BlockingIOError:
                return True
            if message is None:
                return False
            kind, body, fds = message
            if kind == link.JOB:
                self._jobs.append(link.unpack_job(body))
            elif kind == link.MODEL:
                self._stagehand.load_model(link.from_file(fds[0]))
            elif kind == link.ARRAYS:
                self._stagehand.change_arrays(link.from_file(fds[0]))
            elif kind == link.OVERLAYS:
                self._stagehand.set_overlays(json.loads(link.from_file(fds[0])))

    def _report_watched(self) -> None:
        changed = [outlet.read() for outlet in self._outlets]
        if any(changed):
            self.watched = [index for index, outlet in enumerate(self._outlets) if outlet.watched]
            self._tell(link.pack(link.WATCHED, self.watched))

    def _do(self, job: link.Job) -> None:
        memory, done = self._memory, {}
        try:
            self._stagehand.put(memory.state(job.slot))
            for camera in job.cameras:
                done[camera] = self._render(camera, job)
        finally:
            memory.control[memory.DONE] += 1
        if job.reply:
            slots = {str(camera): slot for camera, slot in done.items()}
            self._tell(link.pack(link.DONE, {'number': job.number, 'slots': slots}))

    def _render(self, camera: int, job: link.Job) -> int:
        memory = self._memory
        slot, pixels = memory.begin(camera)
        self._stagehand.render(camera, pixels)
        self._frames[camera] += 1
        memory.commit(camera, slot, self._frames[camera], job.capture)
        # A reset while this was drawn: nobody may see the old timeline any more.
        current = int(memory.control[memory.TIMELINE]) == job.capture.timeline
        if current and not job.reply:
            self._outlets[camera].send(pixels, self._frames[camera], job.capture)
        return slot

    def _tell(self, message: bytes) -> None:
        try:
            self._link.send(message)
        except BlockingIOError:
            # The server reads these at once; a full queue means that it hangs.
            _LOG.warning('the server does not read')
        except OSError:
            pass  # it is gone, the next receive ends the loop


def main(argv: list[str]) -> int:
    """Run on the socket whose descriptor is given."""
    logging.basicConfig(format='%(levelname)s: cameras: %(message)s', level=logging.WARNING)
    # Ctrl-C goes to the whole terminal; the server decides when its renderer ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    connection = socket.socket(fileno=int(argv[0]))
    os.nice(NICENESS)
    message = link.receive(connection)
    if message is None:
        return 0
    worker = Worker(connection)
    try:
        name = worker.load(message[1], message[2])
    except gl.NoGraphics as error:
        link.send(connection, link.pack(link.FAILED, str(error)))
        return 3
    link.send(connection, link.pack(link.READY, {'renderer': name}))
    connection.setblocking(False)
    worker.run()
    return 0


if __name__ == '__main__':
    code = main(sys.argv[1:])
    sys.stderr.flush()
    # OpenGL and ZeroMQ may hang in their exit handlers when a driver is unhappy.
    os._exit(code)
