# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The gateway: one port for the page and the protocol, whatever simulation is there."""

from __future__ import annotations

from dataclasses import dataclass
import logging
import threading

from websockets.http11 import Request

from urlab_ros_bridge.gateways.common.serving.access import Access
from urlab_ros_bridge.gateways.common.serving.http_files import HttpFiles
from urlab_ros_bridge.gateways.common.serving.websocket_connection import KEEPALIVE
from urlab_ros_bridge.gateways.common.serving.websocket_connection import WebSocketConnection
from urlab_ros_bridge.gateways.common.serving.websocket_server import WebSocketServer
from urlab_ros_bridge.gateways.common.simulation.holder import SimulationHolder
from urlab_ros_bridge.gateways.common.simulation.link import SimulationLink
from urlab_ros_bridge.gateways.webxr.errors import BadMessage
from urlab_ros_bridge.gateways.webxr.errors import NoSimulation
from urlab_ros_bridge.gateways.webxr.protocol.envelope import Envelope
from urlab_ros_bridge.gateways.webxr.protocol.envelope import write_message
from urlab_ros_bridge.gateways.webxr.protocol.hello import acknowledge
from urlab_ros_bridge.gateways.webxr.protocol.hello import BINARY
from urlab_ros_bridge.gateways.webxr.protocol.hello import Hello
from urlab_ros_bridge.gateways.webxr.protocol.hello import PUBLISHER
from urlab_ros_bridge.gateways.webxr.scene.frame import SceneFrame
from urlab_ros_bridge.gateways.webxr.scene.served import ServedScene
from urlab_ros_bridge.gateways.webxr.serving.client import WebXrClient
from urlab_ros_bridge.gateways.webxr.serving.page_session import PageSessions
from urlab_ros_bridge.gateways.webxr.serving.session import Session
from urlab_ros_bridge.gateways.webxr.serving.ticker import framed
from urlab_ros_bridge.gateways.webxr.serving.ticker import Ticker
from urlab_ros_bridge.wire.errors import UrlabError
from urlab_ros_bridge.wire.ops import STATE_PORT

_LOG = logging.getLogger(__name__)

PORT = 8766
CLIENT_NAME = 'urlab_webxr'
TRY_AGAIN = 1013
GONE = 'the simulation has gone: connect again when it is back'
# How long a client that says hello waits for a simulation that has gone (s).
RETURN_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class WebXrConfig:
    """
    Settings of a gateway.

    :ivar host: of the URLab server; `state_port` where it does not tell its own.
    :ivar token: what a client must show (``?token=`` or ``Authorization: Bearer``); '' is nothing.
    :ivar insecure: whether everybody may connect when `bind` is wider than loopback.
    :ivar allow_origins: sites whose pages may connect, beside those of this machine.
    """

    host: str = '127.0.0.1'
    rpc_port: int = 5559
    state_port: int = STATE_PORT
    bind: str = '127.0.0.1'
    port: int = PORT
    token: str = ''
    insecure: bool = False
    allow_origins: tuple[str, ...] = ()
    keepalive: float = KEEPALIVE


class WebXrServer:
    """
    Serves one simulation to many clients.

    `start` connects to the simulation and binds; each connection has a thread of its own, and one
    thread sends the states of all.
    """

    def __init__(
        self,
        config: WebXrConfig,
        files: HttpFiles | None = None,
        pages: PageSessions | None = None,
    ) -> None:
        """
        Prepare; nothing is bound before `start`.

        :param files: the page; None: the port speaks the protocol alone.
        :param pages: makes the sessions of our own page; None: the extension is not offered.
        :raises OpenWithoutToken: for a bind wider than loopback without a token.
        """
        self.config = config
        access = Access(config.bind, config.token, config.allow_origins, config.insecure)
        self._server = WebSocketServer(
            self,
            access,
            config.port,
            name='webxr',
            port_option='--port (launch: webxr_port)',
            keepalive=config.keepalive,
            files=files,
        )
        self._pages = pages
        self._clients: dict[WebSocketConnection, WebXrClient] = {}
        self._lock = threading.Lock()
        self._users = 0
        self._publishers = 0
        self._simulation: SimulationHolder[ServedScene] = SimulationHolder(
            lambda: SimulationLink(config.host, config.rpc_port, CLIENT_NAME),
            lambda link: ServedScene(link, config.host, config.state_port),
            lambda: self._server.close_all(TRY_AGAIN, GONE),
        )
        self._ticker = Ticker(self._look, self._show, lambda: list(self._clients.values()))

    def start(self, timeout: float = 10.0) -> None:
        """
        Connect to the simulation and listen.

        :param timeout: seconds to wait for the simulation.
        :raises PortTaken: when another program has the port.
        :raises UrlabError: when the simulation is not there.
        """
        self._server.bind()
        try:
            self._simulation.take(timeout)
        except BaseException:
            self._server.stop('')
            raise
        self._ticker.start()
        self._server.start()

    @property
    def port(self) -> int:
        """Return the bound port."""
        return self._server.port

    @property
    def url(self) -> str:
        """Return where the page is."""
        return self._server.url.replace('ws', 'http', 1)

    @property
    def clients(self) -> list[WebXrClient]:
        """Return those that are connected."""
        return list(self._clients.values())

    @property
    def served(self) -> ServedScene | None:
        """Return what is served now, None when there is no simulation."""
        return self._simulation.current

    def stop(self) -> None:
        """Say goodbye to everybody and let the simulation go; safe to call twice."""
        self._server.stop('the gateway stops')
        self._ticker.stop()
        self._simulation.release()

    def admit(self, connection: WebSocketConnection, request: Request) -> None:
        """Let a client in: what it is, it says in its hello."""
        self._clients[connection] = WebXrClient(connection)

    def serve(self, connection: WebSocketConnection) -> None:
        """Talk to a client until it has gone."""
        Session(self._clients[connection], self).run()

    def left(self, connection: WebSocketConnection) -> None:
        """Forget a client that has gone."""
        client = self._clients.pop(connection)
        self._end(client)

    def begin(self, client: WebXrClient, hello: Hello) -> None:
        """Let a client in, in place of what it was before, and answer."""
        served = self._find()
        if BINARY in hello.extensions and self._pages is None:
            raise BadMessage('this gateway has no page: the extension binary is not offered')
        self._end(client)
        with self._lock:
            if hello.role == PUBLISHER:
                self._publishers += 1
                name = hello.owner_id or f'publisher_{self._publishers}'
            else:
                self._users += 1
                name = hello.user_id or f'{_stem(hello)}_{self._users}'
        client.hello, client.name = hello, name
        client.reply('hello_ack', acknowledge(hello, name, [], []))
        if hello.role != PUBLISHER:
            client.reply('asset_manifest', {'user_id': name, 'arms': {}, 'scenery': {}})
        if BINARY in hello.extensions and self._pages is not None:
            page = self._pages(served)
            page.open(client.send_page)
            client.page = page
        client.sees = True

    def handle(self, client: WebXrClient, envelope: Envelope) -> None:
        """Carry out a message of a client that has said hello."""
        raise BadMessage(f'{envelope.type} is not there yet')

    def _find(self) -> ServedScene:
        """
        Return the simulation, after it was restarted too.

        :raises NoSimulation: when there is none.
        """
        try:
            self._simulation.renew(RETURN_SECONDS)
        except UrlabError as error:
            raise NoSimulation(error) from error
        served = self._simulation.current
        if served is None:
            raise NoSimulation
        return served

    def _end(self, client: WebXrClient) -> None:
        """End the session of a client, if it has one."""
        with client.changing:
            client.sees, client.hello = False, None
            page, client.page = client.page, None
        if page is not None:
            try:
                page.close()
            except Exception:
                _LOG.exception('%s: its page did not end', client.connection.peer)

    def _look(self) -> SceneFrame | None:
        served = self._simulation.current
        return None if served is None else served.poll()

    def _show(self, client: WebXrClient, frame: SceneFrame) -> bool:
        message = frame.shared('scene_state', lambda: framed(_scene_state(frame)))
        return client.connection.offer(message)


def _stem(hello: Hello) -> str:
    return 'user' if hello.role == 'vr_client' else 'spectator'


def _scene_state(frame: SceneFrame) -> bytes:
    names = ('arms', 'scenery', 'user_arms', 'meshes', 'overlay_points', 'spheres')
    return write_message('scene_state', {'timestamp': frame.time} | {name: {} for name in names})


__all__ = ['PORT', 'WebXrConfig', 'WebXrServer']
