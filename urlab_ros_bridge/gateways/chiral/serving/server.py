# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The gateway: one client drives, others watch; it reconnects to a restarted simulation."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
import logging
from typing import Any

from websockets.http11 import Request

from urlab_ros_bridge.client.errors import RequestTimeout
from urlab_ros_bridge.gateways.chiral.errors import SimulationLost
from urlab_ros_bridge.gateways.chiral.profile.profile import Profile
from urlab_ros_bridge.gateways.chiral.protocol.codec import CLIENT_ID
from urlab_ros_bridge.gateways.chiral.serving.driver_seat import Driver
from urlab_ros_bridge.gateways.chiral.serving.driver_seat import DriverSeat
from urlab_ros_bridge.gateways.chiral.serving.environment import RobotEnvironment
from urlab_ros_bridge.gateways.chiral.serving.session import ChiralSession
from urlab_ros_bridge.gateways.serving.access import Access
from urlab_ros_bridge.gateways.serving.access import HandshakeRefusal
from urlab_ros_bridge.gateways.serving.close_codes import INTERNAL_ERROR
from urlab_ros_bridge.gateways.serving.close_codes import TRY_AGAIN_LATER
from urlab_ros_bridge.gateways.serving.websocket_server import has_room
from urlab_ros_bridge.gateways.serving.websocket_server import KEEPALIVE
from urlab_ros_bridge.gateways.serving.websocket_server import MAX_CONNECTIONS
from urlab_ros_bridge.gateways.serving.websocket_server import WebSocketConnection
from urlab_ros_bridge.gateways.serving.websocket_server import WebSocketServer
from urlab_ros_bridge.gateways.simulation.connection import GONE
from urlab_ros_bridge.gateways.simulation.connection import SimulationConnection
from urlab_ros_bridge.gateways.simulation.link import SimulationLink
from urlab_ros_bridge.limited_log import LimitedLog
from urlab_ros_bridge.wire.errors import UrlabError

_LOG = logging.getLogger(__name__)

PORT = 8765
CLIENT_NAME = 'urlab_chiral'
VIEW_PATH = '/view'
# Leaves room for a driver, and for a previous one whose last request still runs.
MAX_VIEWERS = MAX_CONNECTIONS - 2
# How long a new driver waits for that request, and for a simulation to return (s).
TURN_SECONDS = 12.0
RETURN_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class ChiralConfig:
    """
    Settings of a gateway.

    :ivar host: of the URLab server.
    :ivar keys: folder of keys for that server, '' where it wants none.
    :ivar token: required of clients (``?token=`` or ``Authorization: Bearer``); '' requires none.
    :ivar insecure: whether any client may connect when `bind` is wider than loopback.
    :ivar allow_origins: sites whose pages may connect, beside those of this machine.
    :ivar viewers: whether clients may watch beside the driver, on the path ``/view``.
    :ivar legacy: whether the older dialect is answered.
    """

    profile: Profile
    host: str = '127.0.0.1'
    rpc_port: int = 5559
    keys: str = ''
    bind: str = '127.0.0.1'
    port: int = PORT
    token: str = ''
    insecure: bool = False
    allow_origins: tuple[str, ...] = ()
    viewers: bool = False
    legacy: bool = False
    keepalive: float = KEEPALIVE


class ChiralServer:
    """
    Serves one robot.

    `start` connects to the simulation and binds; each connection has its own thread.
    """

    def __init__(self, config: ChiralConfig) -> None:
        """
        Prepare; nothing is bound before `start`.

        :raises OpenWithoutToken: for a bind wider than loopback without a token.
        """
        self.config = config
        access = Access(config.bind, config.token, config.allow_origins, config.insecure)
        self._server = WebSocketServer(
            self,
            access,
            config.port,
            name='chiral',
            port_option='--port (launch: chiral_port)',
            keepalive=config.keepalive,
        )
        self._seat = DriverSeat()
        self._log = LimitedLog(_LOG)
        self._viewers: dict[WebSocketConnection, None] = {}  # oldest first
        self._simulation = SimulationConnection(
            lambda: SimulationLink(config.host, config.rpc_port, CLIENT_NAME, config.keys),
            lambda link: RobotEnvironment(link, config.profile),
            lambda: self._server.close_all(TRY_AGAIN_LATER, GONE),
        )

    def start(self, timeout: float = 10.0) -> None:
        """
        Connect to the simulation, take the robot and listen.

        :param timeout: seconds to wait for the simulation.
        :raises PortTaken: when another program has the port.
        :raises UrlabError: when the simulation is not there or the profile does not fit it.
        """
        self._server.bind()
        try:
            self._simulation.take(timeout)
        except BaseException:
            self._server.stop('')
            raise
        self._server.start()

    @property
    def port(self) -> int:
        """Return the bound port."""
        return self._server.port

    @property
    def url(self) -> str:
        """Return where clients connect to."""
        return self._server.url

    @property
    def connections(self) -> list[WebSocketConnection]:
        """Return the connections of all clients."""
        return self._server.connections

    def metadata(self) -> dict[str, Any]:
        """
        Return the metadata for clients.

        :raises SimulationLost: when there is none at the moment.
        """
        env = self._simulation.current
        if env is None:
            raise SimulationLost(GONE)
        return env.describe() | {'legacy': self.config.legacy}

    def stop(self) -> None:
        """Close all connections and release the robot; safe to call twice."""
        self._server.stop('the gateway is shutting down')
        self._simulation.release()

    def admit(self, connection: WebSocketConnection, request: Request) -> None:
        """
        Admit a client, as the driver or as a viewer.

        :raises HandshakeRefusal: when it may not.
        """
        if request.path.partition('?')[0].rstrip('/') == VIEW_PATH:
            if not self.config.viewers:
                raise HandshakeRefusal(
                    HTTPStatus.FORBIDDEN,
                    'this server does not accept viewers; start it with --viewers',
                )
            if not has_room(list(self._viewers), MAX_VIEWERS):
                raise HandshakeRefusal(
                    HTTPStatus.SERVICE_UNAVAILABLE, f'{MAX_VIEWERS} viewers are already connected'
                )
            self._viewers[connection] = None
        else:
            ids = request.headers.get_all(CLIENT_ID)
            self._seat.take(connection, ids[0] if len(ids) == 1 else '')

    def serve(self, connection: WebSocketConnection) -> None:
        """Serve a client until it disconnects."""
        driver = self._seat.of(connection)
        try:
            if driver is not None:
                self._prepare(driver)
            self._run_session(connection, is_driver=driver is not None)
        except UrlabError as error:
            self._log.warning('%s: %s', connection.peer, error)
            is_away = isinstance(error, (SimulationLost, RequestTimeout))
            connection.end(TRY_AGAIN_LATER if is_away else INTERNAL_ERROR, str(error))

    def left(self, connection: WebSocketConnection) -> None:
        """Forget a client that has disconnected."""
        self._viewers.pop(connection, None)
        self._seat.leave(connection)

    def _prepare(self, driver: Driver) -> None:
        """
        Wait until the robot is available and no other client moves it.

        :raises UrlabError: when it is not.
        """
        if not driver.wait_for_previous(TURN_SECONDS):
            raise SimulationLost('a request of the previous driver is still running: reconnect')
        self._simulation.renew(RETURN_SECONDS)

    def _run_session(self, connection: WebSocketConnection, is_driver: bool) -> None:
        env = self._simulation.wait()  # a viewer waits while a driver reconnects
        if env is None and not is_driver:
            # There may never be a driver, so after a restart a viewer reconnects.
            self._simulation.renew(RETURN_SECONDS)
            env = self._simulation.current
        if env is None:
            raise SimulationLost('no simulation is available')
        self._log.info('%s %s', connection.peer, 'drives' if is_driver else 'watches')

        def check() -> None:
            if env.link.is_lost:
                raise SimulationLost(GONE)
            if env.link.is_stale or env is not self._simulation.current:
                raise SimulationLost('the simulation was restarted: reconnect')

        try:
            ChiralSession(
                connection,
                env,
                self.metadata,
                check,
                is_driver=is_driver,
                legacy=self.config.legacy,
            ).run()
        finally:
            if is_driver:
                self._end_control(env)

    def _end_control(self, env: RobotEnvironment) -> None:
        """Apply the profile's `on_disconnect`."""
        latency = env.latency.report()
        if latency:
            self._log.info(
                'actions took effect %.1f ms after their image (at most %.1f ms, %d actions)',
                latency['mean'] * 1e3,
                latency['max'] * 1e3,
                latency['count'],
            )
        if env.link.is_stale:
            return
        try:
            env.on_driver_disconnect()
        except UrlabError as error:
            self._log.warning('cannot release the robot: %s', error)


__all__ = ['ChiralConfig', 'ChiralServer']
