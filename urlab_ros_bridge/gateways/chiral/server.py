# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The gateway: accepts clients, lets one of them drive, and keeps the pace alive between them."""

from __future__ import annotations

from dataclasses import dataclass
import hmac
import logging
import socket
import threading
import time
from typing import Any
from urllib.parse import parse_qs
from urllib.parse import urlsplit

from websockets.http11 import Request

from urlab_ros_bridge.gateways.chiral.connection import Connection
from urlab_ros_bridge.gateways.chiral.connection import GOING_AWAY
from urlab_ros_bridge.gateways.chiral.connection import KEEPALIVE
from urlab_ros_bridge.gateways.chiral.connection import Refusal
from urlab_ros_bridge.gateways.chiral.errors import ChiralError
from urlab_ros_bridge.gateways.chiral.errors import INTERNAL
from urlab_ros_bridge.gateways.chiral.errors import RobotError
from urlab_ros_bridge.gateways.chiral.errors import TRY_AGAIN
from urlab_ros_bridge.gateways.chiral.lockstep import Lockstep
from urlab_ros_bridge.gateways.chiral.pace import Pace
from urlab_ros_bridge.gateways.chiral.profile import Profile
from urlab_ros_bridge.gateways.chiral.real_time import RealTime
from urlab_ros_bridge.gateways.chiral.session import Session
from urlab_ros_bridge.gateways.chiral.simulation import Simulation
from urlab_ros_bridge.wire.errors import UrlabError

_LOG = logging.getLogger(__name__)

PORT = 8765
VIEW_PATH = '/view'
MAX_CONNECTIONS = 32
# What is on its way to a client gets this long when the gateway stops (s).
STOP_PATIENCE = 0.2
PACES: dict[str, type[Pace]] = {'lockstep': Lockstep, 'real_time': RealTime}


class PortTaken(ChiralError):
    """The WebSocket port cannot be bound."""

    def __init__(self, address: str, port: int, cause: OSError) -> None:
        super().__init__(
            f'port {port} on {address} cannot be bound ({cause.strerror}): stop the program that '
            'has it, or choose another with --port (launch: chiral_port)'
        )


@dataclass(frozen=True, slots=True)
class GatewayConfig:
    """
    Settings of a gateway.

    :ivar host: of the URLab server.
    :ivar token: what a client must show (``?token=`` or ``Authorization: Bearer``); '' is nothing.
    :ivar viewers: whether clients may watch beside the driver, on the path ``/view``.
    :ivar legacy: whether the older dialect is answered.
    """

    profile: Profile
    host: str = '127.0.0.1'
    rpc_port: int = 5559
    bind: str = '127.0.0.1'
    port: int = PORT
    token: str = ''
    viewers: bool = False
    legacy: bool = False
    keepalive: float = KEEPALIVE


class ChiralServer:
    """
    Serves one robot.

    `start` connects to the simulation and binds; each connection has a thread of its own.
    """

    def __init__(self, config: GatewayConfig) -> None:
        self.config = config
        self._lock = threading.Lock()
        self._open: dict[Connection, threading.Thread] = {}
        self._driver: Connection | None = None
        self._driver_since = 0.0
        self._stopping = False
        self._simulation: Simulation | None = None
        self._pace: Pace | None = None

    def start(self, timeout: float = 10.0) -> None:
        """
        Connect to the simulation, take the robot and listen.

        :param timeout: seconds to wait for the simulation.
        :raises PortTaken: when another program has the port.
        :raises UrlabError: when the simulation is not there or the profile does not fit it.
        """
        family = socket.AF_INET6 if ':' in self.config.bind else socket.AF_INET
        address = (self.config.bind.strip('[]'), self.config.port)
        try:
            self._listener = socket.create_server(address, family=family, backlog=64)
        except OSError as error:
            raise PortTaken(*address, error) from error
        try:
            self._take_robot(timeout)
        except BaseException:
            self._listener.close()
            raise
        self._acceptor = threading.Thread(target=self._accept, name='chiral-accept', daemon=True)
        self._acceptor.start()

    @property
    def port(self) -> int:
        """Return the bound port."""
        return self._listener.getsockname()[1]

    @property
    def url(self) -> str:
        """Return where clients connect to."""
        host = f'[{self.config.bind}]' if ':' in self.config.bind else self.config.bind
        return f'ws://{host}:{self.port}'

    def metadata(self) -> dict[str, Any]:
        """Return what clients are told about the robot."""
        return self._simulation.describe() | {'legacy': self.config.legacy}

    def stop(self) -> None:
        """Say goodbye to everybody and let the robot go; safe to call twice."""
        with self._lock:
            if self._stopping:
                return
            self._stopping = True
            open_now = dict(self._open)
        self._listener.shutdown(socket.SHUT_RDWR)
        self._acceptor.join()
        self._listener.close()
        for connection in open_now:
            connection.close(GOING_AWAY, 'the gateway stops', STOP_PATIENCE)
        for connection, thread in open_now.items():
            thread.join(3.0)
            connection.abort()
        for thread in open_now.values():
            thread.join()
        self._release_robot()

    def _take_robot(self, timeout: float) -> None:
        simulation = Simulation(self.config.profile, self.config.host, self.config.rpc_port)
        try:
            simulation.connect(timeout)
            self._pace = PACES[simulation.profile.pace](simulation)
        except BaseException:
            simulation.close()
            raise
        self._simulation = simulation

    def _release_robot(self) -> None:
        simulation, self._simulation = self._simulation, None
        if simulation is None:
            return
        try:
            self._pace.close()
        except UrlabError as error:
            _LOG.warning('the simulation was left as it is: %s', error)
        simulation.close()

    def _accept(self) -> None:
        while not self._stopping:
            try:
                link, _ = self._listener.accept()
            except OSError:
                if self._stopping:
                    return
                time.sleep(0.05)  # out of file descriptors, or a client that has gone already
                continue
            with self._lock:
                if self._stopping or len(self._open) >= MAX_CONNECTIONS:
                    link.close()
                    continue
                try:
                    connection = Connection(link, self.config.keepalive)
                except OSError:
                    link.close()
                    continue
                thread = threading.Thread(
                    target=self._serve,
                    args=(connection,),
                    name=f'chiral-{connection.peer}',
                    daemon=True,
                )
                self._open[connection] = thread
            thread.start()

    def _serve(self, connection: Connection) -> None:
        try:
            if connection.shake_hands(lambda request: self._admit(connection, request)):
                self._talk(connection)
        except UrlabError as error:
            _LOG.warning('%s: %s', connection.peer, error)
            connection.close(INTERNAL, str(error))
            connection.drain()
        finally:
            if self._driver is connection:
                self._end_drive()
            with self._lock:
                del self._open[connection]
            connection.dispose()
            _LOG.info('%s: %s', connection.peer, connection.last_reason or 'the client has gone')

    def _talk(self, connection: Connection) -> None:
        drives = self._driver is connection
        _LOG.info('%s %s', connection.peer, 'drives' if drives else 'watches')
        if drives and (self._simulation is None or self._simulation.was_restarted()):
            self._release_robot()
            self._take_robot(5.0)
        pace, simulation = self._pace, self._simulation
        if simulation is None:
            connection.close(TRY_AGAIN, 'there is no simulation at the moment')
            connection.drain()
            return

        def check() -> None:
            if simulation.is_stale or simulation is not self._simulation:
                raise RobotError('the simulation was restarted: connect again')

        Session(
            connection, pace, self.metadata, check, drives=drives, legacy=self.config.legacy
        ).run()

    def _admit(self, connection: Connection, request: Request) -> None:
        """
        Let a client in, as the driver or as a viewer.

        :raises Refusal: when it may not.
        """
        url = urlsplit(request.path)
        if self.config.token:
            shown = parse_qs(url.query).get('token', [''])[0]
            scheme, _, value = (request.headers.get('Authorization') or '').partition(' ')
            if scheme.lower() == 'bearer':
                shown = value.strip()
            if not hmac.compare_digest(shown.encode(), self.config.token.encode()):
                raise Refusal(401, 'a token is wanted: ?token=... or Authorization: Bearer')
        if url.path.rstrip('/') == VIEW_PATH:
            if not self.config.viewers:
                raise Refusal(403, 'this server has no viewers; start it with --viewers')
            return
        with self._lock:
            if self._driver is not None:
                since = time.monotonic() - self._driver_since
                raise Refusal(
                    503,
                    f'the robot is driven by {self._driver.peer} (for {since:.0f} s); '
                    'one driver at a time',
                )
            self._driver, self._driver_since = connection, time.monotonic()

    def _end_drive(self) -> None:
        latency = self._pace.latency.report() if self._simulation is not None else {}
        if latency:
            _LOG.info(
                'actions took effect %.1f ms after their picture (at most %.1f ms, %d actions)',
                latency['mean'] * 1e3,
                latency['max'] * 1e3,
                latency['count'],
            )
        try:
            if self._simulation is not None and not self._simulation.is_stale:
                self._pace.driver_gone()
        except UrlabError as error:
            _LOG.warning('the robot was left as it is: %s', error)
        finally:
            with self._lock:
                self._driver = None
