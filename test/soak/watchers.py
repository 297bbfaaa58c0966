# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Clients that reconnect for ever and log what they receive: one row per event.

A row of the log is a dict: ``who``, ``at`` (monotonic s), and ``time`` (simulated s) with
``epoch`` (it changes when time may have jumped), or ``lost`` with a reason.
"""

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
from websockets.sync.client import connect

from urlab_ros_bridge.client import Client
from urlab_ros_bridge.client import StateStream
from urlab_ros_bridge.client.cameras.stream import CameraStream
from urlab_ros_bridge.gateways.simspark.client import MonitorClient
from urlab_ros_bridge.gateways.simspark.client.percepts import read_percepts
from urlab_ros_bridge.gateways.simspark.wire.framing import frame
from urlab_ros_bridge.gateways.simspark.wire.framing import FrameReader
from urlab_ros_bridge.gateways.simspark.wire.framing import MAX_SCENE
from urlab_ros_bridge.wire.stamp import block_to_ns

Row = dict[str, Any]
AGENT_SCENE = frame(b'(scene rsg/agent/nao/nao.rsg)')
_PAUSE = 0.1  # s before the next try
_PATIENCE = 3.0  # s without data that a client waits before it connects again
_THIN = 0.1  # s between rows of a client whose time goes on as it should


class Log:
    """All rows, in the order in which they came."""

    def __init__(self) -> None:
        self._rows: list[Row] = []
        self._lock = threading.Lock()

    def add(self, who: str, **fields: Any) -> None:
        """Add a row."""
        with self._lock:
            self._rows.append({'who': who, 'at': time.monotonic(), **fields})

    def rows(self, who: str = '', since: float = 0.0) -> list[Row]:
        """Return rows."""
        with self._lock:
            return [r for r in self._rows if r['at'] >= since and who in ('', r['who'])]


class Watcher(threading.Thread):
    """
    One client.

    :param session: connects, and yields (epoch, simulated time) until something fails.
    :param lasting: what it yields belongs together over all sessions.
    :ivar newest: monotonic s of the last data.
    :ivar count: how often there was data.
    """

    def __init__(
        self,
        name: str,
        log: Log,
        session: Callable[[], Iterator[tuple[Any, float]]],
        lasting: bool = False,
    ) -> None:
        super().__init__(name=name, daemon=True)
        self._log, self._session, self._lasting = log, session, lasting
        self._stop_it = threading.Event()
        self._connections = 0
        self._last: Any = None
        self._shown, self._pending = 0.0, False
        self.newest = 0.0
        self.count = 0
        self.trouble = ''

    def run(self) -> None:
        """Connect again and again."""
        while not self._stop_it.is_set():
            self._connections += 1
            try:
                for epoch, now in self._session():
                    # Nobody says that a new connection leads to the same life of a program.
                    connection = 0 if self._lasting else self._connections
                    self._note((connection, epoch), now)
                    if self._stop_it.is_set():
                        return
            except Exception as error:  # every failure is one of the connection, for a client
                self.trouble = f'{type(error).__name__}: {error}'[:120]
                self._log.add(self.name, lost=self.trouble)
            self._stop_it.wait(_PAUSE)

    def _note(self, epoch: Any, now: float) -> None:
        """Write a row, unless it only says once more that time goes on."""
        self.newest = time.monotonic()
        self.count += 1
        last, self._last = self._last, (epoch, now)
        goes_on = last is not None and last[0] == epoch and now >= last[1]
        if goes_on and self.newest < self._shown + _THIN:
            self._pending = True
            return
        if self._pending and last is not None and not goes_on:
            self._log.add(self.name, epoch=last[0], time=last[1])
        self._log.add(self.name, epoch=epoch, time=now)
        self._shown, self._pending = self.newest, False

    def stop(self) -> None:
        """End soon."""
        self._stop_it.set()


def urlab_requests(port: int, log: Log) -> Iterator[tuple[Any, float]]:
    """Ask, one request after the other; each reply must be that of its own request."""
    with Client(rpc_port=port, shared=True, timeout=_PATIENCE, name='soak') as client:
        while True:
            # Nothing that drives: a robot has one commander.
            for op in ('status', 'get_entities', 'get_contacts'):
                generation = client.generation
                reply = client.request(op)
                if reply['op'] != f'{op}_ok':
                    log.add('requests', wrong=f'{op} answered by {reply["op"]}')
                # A server that was started again is noticed within the request.
                if op == 'status' and generation == client.generation:
                    now = block_to_ns(reply['sim_time']) / 1e9
                    yield (generation, reply.get('world_revision')), now
            time.sleep(0.02)


def urlab_states(port: int, life: Callable[[], int]) -> Iterator[tuple[Any, float]]:
    """
    Read the state stream, row by row closed into ticks.

    :param life: returns which life of the server this is: the stream connects again by itself,
        and its rows do not tell.
    """
    with StateStream(state_port=port, closing='sim_time') as stream:
        while True:
            tick = stream.receive(_PATIENCE)
            if tick is None:
                raise TimeoutError('no state')
            yield life(), tick.stamp_ns / 1e9


def camera_images(
    port: int, life: Callable[[], int], through: FaultProxy | None = None
) -> Iterator[tuple[Any, float]]:
    """
    Watch the overview camera, that of the scene.

    :param port: for requests; the handshake names the camera's.
    :param through: a proxy between, which is pointed at the camera.
    """
    with Client(rpc_port=port, shared=True, timeout=_PATIENCE, name='camera') as client:
        camera = client.handshake.global_cameras['overview']
    if camera.port is None:
        raise TimeoutError('no camera')
    if through is not None:
        through.target = camera.port
    here = through.port if through is not None else camera.port
    with CameraStream(f'tcp://127.0.0.1:{here}', camera) as stream:
        while True:
            frame = stream.receive(_PATIENCE)
            if frame is None or frame.stamp_ns is None:
                raise TimeoutError('no image')
            yield life(), frame.stamp_ns / 1e9


def chiral_viewer(port: int) -> Iterator[tuple[Any, float]]:
    """Watch as a viewer of the Chiral gateway does."""
    url = f'ws://127.0.0.1:{port}/view'
    with connect(url, compression=None, max_size=None, open_timeout=_PATIENCE) as link:
        while True:
            packed = msgpack.packb({'type': 'obs_request'})
            link.send(struct.pack('<I', len(packed)) + packed)
            data = link.recv(timeout=_PATIENCE)
            (size,) = struct.unpack_from('<I', data, 0)
            yield 0, msgpack.unpackb(data[4 : 4 + size])['timestamp']
            time.sleep(0.02)


def webxr_spectator(port: int) -> Iterator[tuple[Any, float]]:
    """Watch as a spectator of Virtual Field does; it tells no time of the simulation."""
    url = f'ws://127.0.0.1:{port}'
    with connect(url, compression=None, max_size=None, open_timeout=_PATIENCE) as link:
        hello = {'version': 1, 'type': 'hello', 'payload': {'role': 'spectator'}}
        link.send(json.dumps(hello))
        while True:
            message = json.loads(link.recv(timeout=_PATIENCE))
            if message['type'] == 'scene_state':
                yield 0, time.monotonic()


def simspark_monitor(port: int) -> Iterator[tuple[Any, float]]:
    """Watch as RoboViz does."""
    with MonitorClient(port=port, timeout=_PATIENCE) as monitor:
        while True:
            if monitor.receive() is None:
                raise TimeoutError('no message')
            yield 0, time.monotonic()  # a game that has not begun stands still


def simspark_agent(port: int) -> Iterator[tuple[Any, float]]:
    """Perceive as an agent without a robot does, which takes none from others."""
    with socket.create_connection(('127.0.0.1', port), _PATIENCE) as link:
        link.sendall(AGENT_SCENE)
        reader = FrameReader(MAX_SCENE)
        while data := link.recv(1 << 16):
            for message in reader.feed(data):
                read_percepts(message)
                yield 0, time.monotonic()
    raise ConnectionError('the gateway has closed the connection')


def stall(port: int, first: bytes, repeat: bytes = b'', count: int = 4) -> list[socket.socket]:
    """Return connections that have asked for much, and never read."""
    links = []
    for _ in range(count):
        link = socket.socket()
        link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        link.settimeout(0.5)
        try:
            link.connect(('127.0.0.1', port))
            link.sendall(first)
            for _ in range(2000 if repeat else 0):
                link.sendall(repeat)
        except OSError:
            pass  # it is full, which is what was wanted
        links.append(link)
    return links
