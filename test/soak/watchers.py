# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Clients that reconnect for ever, and note what must not be."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
import json
import socket
import struct
import threading
import time
from typing import Any

from fault_proxy import FaultProxy
import msgpack
from simspark_client import MonitorClient
from simspark_client.percepts import read_percepts
from websockets.sync.client import connect

from urlab_ros_bridge.client import Client
from urlab_ros_bridge.client import StateStream
from urlab_ros_bridge.client.cameras.stream import CameraStream
from urlab_ros_bridge.gateways.simspark.wire.framing import frame
from urlab_ros_bridge.gateways.simspark.wire.framing import FrameReader
from urlab_ros_bridge.gateways.simspark.wire.framing import MAX_SCENE
from urlab_ros_bridge.wire.stamp import block_to_ns

PATIENCE = 3.0  # s without data that a client waits before it connects again
_PAUSE = 0.1  # s before the next try


class WrongReply(Exception):
    """A reply is not that of its request."""


class Watcher(threading.Thread):
    """
    One client.

    :param session: connects, and yields (epoch, simulated time) until something fails; time may
        go back when the epoch changes.
    :param proxy: that it connects through.
    :ivar newest: monotonic s of the last data.
    :ivar broken: what it saw against the invariants; `trouble`: why it last had to connect again.
    """

    def __init__(
        self,
        name: str,
        session: Callable[[], Iterator[tuple[Any, float]]],
        proxy: FaultProxy | None = None,
    ) -> None:
        super().__init__(name=name, daemon=True)
        self._session, self._proxy = session, proxy
        self.newest, self.is_over = 0.0, False
        self.broken: list[str] = []
        self.trouble = ''

    def run(self) -> None:
        """Connect again and again."""
        while not self.is_over:
            # Nobody says that a new connection leads to the same life of a program.
            last: tuple[Any, float] | None = None
            try:
                for epoch, now in self._session():
                    self.newest = time.monotonic()
                    harmed = self._proxy is not None and self.newest < self._proxy.harmed_until
                    if last is not None and epoch == last[0] and now < last[1] and not harmed:
                        self.broken.append(f'time went back from {last[1]} to {now}')
                    last = epoch, now
                    if self.is_over:
                        return
            except WrongReply as error:
                self.broken.append(str(error))
            except Exception as error:  # every failure is one of the connection, for a client
                self.trouble = f'{type(error).__name__}: {error}'[:120]
            time.sleep(_PAUSE)


def urlab_requests(port: int) -> Iterator[tuple[Any, float]]:
    """Ask, one request after the other; each reply must be that of its own request."""
    with Client(rpc_port=port, shared=True, timeout=PATIENCE, name='soak') as client:
        while True:
            # Nothing that drives: a robot has one commander.
            for op in ('status', 'get_entities', 'get_contacts'):
                generation = client.generation
                reply = client.request(op)
                if reply['op'] != f'{op}_ok':
                    raise WrongReply(f'{op} answered by {reply["op"]}')
                # A server that was started again is noticed within the request.
                if op == 'status' and generation == client.generation:
                    now = block_to_ns(reply['sim_time']) / 1e9
                    yield (generation, reply.get('world_revision')), now
            time.sleep(0.05)


def urlab_states(port: int, life: Callable[[], int]) -> Iterator[tuple[Any, float]]:
    """
    Read the state stream, row by row closed into ticks.

    :param life: returns which life of the server this is: the stream connects again by itself,
        and its rows do not tell.
    """
    with StateStream(state_port=port, closing='sim_time') as stream:
        while True:
            tick = stream.receive(PATIENCE)
            if tick is None:
                raise TimeoutError('no state')
            yield life(), tick.stamp_ns / 1e9


def camera_images(
    rpc: int, life: Callable[[], int], proxy: FaultProxy, port: int
) -> Iterator[tuple[Any, float]]:
    """Watch the overview camera, that of the scene, whose port the handshake names."""
    with Client(rpc_port=rpc, shared=True, timeout=PATIENCE, name='camera') as client:
        camera = client.handshake.global_cameras['overview']
    if camera.port is None:
        raise TimeoutError('no camera')
    proxy.target = camera.port
    here = port if port == proxy.port else camera.port
    with CameraStream(f'tcp://127.0.0.1:{here}', camera) as stream:
        while True:
            image = stream.receive(PATIENCE)
            if image is None or image.stamp_ns is None:
                raise TimeoutError('no image')
            yield life(), image.stamp_ns / 1e9


def chiral_viewer(port: int) -> Iterator[tuple[Any, float]]:
    """Watch as a viewer of the Chiral gateway does."""
    url = f'ws://127.0.0.1:{port}/view'
    with connect(url, compression=None, max_size=None, open_timeout=PATIENCE) as link:
        while True:
            packed = msgpack.packb({'type': 'obs_request'})
            link.send(struct.pack('<I', len(packed)) + packed)
            data = link.recv(timeout=PATIENCE)
            (size,) = struct.unpack_from('<I', data, 0)
            yield 0, msgpack.unpackb(data[4 : 4 + size])['timestamp']
            time.sleep(0.05)


def webxr_spectator(port: int) -> Iterator[tuple[Any, float]]:
    """Watch as a spectator of Virtual Field does; it tells no time of the simulation."""
    url = f'ws://127.0.0.1:{port}'
    with connect(url, compression=None, max_size=None, open_timeout=PATIENCE) as link:
        hello = {'version': 1, 'type': 'hello', 'payload': {'role': 'spectator'}}
        link.send(json.dumps(hello))
        while True:
            message = json.loads(link.recv(timeout=PATIENCE))
            if message['type'] == 'scene_state':
                yield 0, time.monotonic()


def simspark_monitor(port: int) -> Iterator[tuple[Any, float]]:
    """Watch as RoboViz does."""
    with MonitorClient(port=port, timeout=PATIENCE) as monitor:
        while True:
            if monitor.receive() is None:
                raise TimeoutError('no message')
            yield 0, time.monotonic()  # a game that has not begun stands still


def simspark_agent(port: int) -> Iterator[tuple[Any, float]]:
    """Perceive as an agent without a robot does, which takes none from others."""
    with socket.create_connection(('127.0.0.1', port), PATIENCE) as link:
        link.sendall(frame(b'(scene rsg/agent/nao/nao.rsg)'))
        reader = FrameReader(MAX_SCENE)
        while data := link.recv(1 << 16):
            for message in reader.feed(data):
                read_percepts(message)
                yield 0, time.monotonic()
    raise ConnectionError('the gateway has closed the connection')
