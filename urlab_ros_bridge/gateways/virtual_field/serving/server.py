# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The gateway: one port for the page and the protocol."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
import logging
import ssl
import threading
import time
from urllib.parse import quote

from websockets.http11 import Request

from urlab_ros_bridge.gateways.serving.access import Access
from urlab_ros_bridge.gateways.serving.close_codes import TRY_AGAIN_LATER
from urlab_ros_bridge.gateways.serving.latest import PeriodicThread
from urlab_ros_bridge.gateways.serving.websocket_server import HttpAnswer
from urlab_ros_bridge.gateways.serving.websocket_server import KEEPALIVE
from urlab_ros_bridge.gateways.serving.websocket_server import WebSocketConnection
from urlab_ros_bridge.gateways.serving.websocket_server import WebSocketServer
from urlab_ros_bridge.gateways.simulation.connection import GONE
from urlab_ros_bridge.gateways.simulation.connection import SimulationConnection
from urlab_ros_bridge.gateways.simulation.link import SimulationLink
from urlab_ros_bridge.gateways.virtual_field.errors import BadMessage
from urlab_ros_bridge.gateways.virtual_field.errors import NoSimulation
from urlab_ros_bridge.gateways.virtual_field.page.files import PageFiles
from urlab_ros_bridge.gateways.virtual_field.page.page_world import PageUser
from urlab_ros_bridge.gateways.virtual_field.page.session import PageSession
from urlab_ros_bridge.gateways.virtual_field.protocol.envelope import Envelope
from urlab_ros_bridge.gateways.virtual_field.protocol.hello import acknowledge
from urlab_ros_bridge.gateways.virtual_field.protocol.hello import BINARY
from urlab_ros_bridge.gateways.virtual_field.protocol.hello import Hello
from urlab_ros_bridge.gateways.virtual_field.protocol.hello import PUBLISHER
from urlab_ros_bridge.gateways.virtual_field.protocol.hello import SPECTATOR
from urlab_ros_bridge.gateways.virtual_field.protocol.hello import VR_CLIENT
from urlab_ros_bridge.gateways.virtual_field.protocol.publishing import read_publication
from urlab_ros_bridge.gateways.virtual_field.protocol.xr_input import read_xr_input
from urlab_ros_bridge.gateways.virtual_field.scene.publications import Publications
from urlab_ros_bridge.gateways.virtual_field.serving.certificate import own_addresses
from urlab_ros_bridge.gateways.virtual_field.serving.client import ClientNames
from urlab_ros_bridge.gateways.virtual_field.serving.client import WebXrClient
from urlab_ros_bridge.gateways.virtual_field.serving.field_world import FieldWorld
from urlab_ros_bridge.gateways.virtual_field.serving.session import MAX_READ
from urlab_ros_bridge.gateways.virtual_field.serving.session import ReadingShare
from urlab_ros_bridge.gateways.virtual_field.serving.session import WebXrSession
from urlab_ros_bridge.gateways.virtual_field.steering.arm_pool import Assignment
from urlab_ros_bridge.gateways.virtual_field.steering.arm_pool import robots_of
from urlab_ros_bridge.limited_log import LimitedLog
from urlab_ros_bridge.wire.errors import UrlabError
from urlab_ros_bridge.wire.ops import STATE_PORT

_LOG = logging.getLogger(__name__)

PORT = 8766
CLIENT_NAME = 'urlab_webxr'
# Limit of queued messages: those of publishers are large.
MAX_QUEUE = 2
RATE = 72.0  # states a second, of the protocol
CHANGED = 'the world has changed: reconnect'
# How long a client that says hello waits for a lost simulation to return (s).
RETURN_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class WebXrConfig:
    """
    Settings of a gateway.

    :ivar host: of the URLab server; `state_port` where it does not report its own.
    :ivar keys: folder of keys for that server, '' where it wants none.
    :ivar token: required of clients (``?token=`` or ``Authorization: Bearer``); '' requires none.
    :ivar view_token: for clients that may only watch; needs `token`.
    :ivar arms_per_user: most arms of one user, 0: as many as it asks for.
    :ivar insecure: whether any client may connect when `bind` is wider than loopback.
    :ivar allow_origins: sites whose pages may connect, beside those of this machine.
    :ivar tls: certificate and key; then the page is https and the WebSocket wss.
    """

    host: str = '127.0.0.1'
    rpc_port: int = 5559
    state_port: int = STATE_PORT
    keys: str = ''
    bind: str = '127.0.0.1'
    port: int = PORT
    token: str = ''
    insecure: bool = False
    view_token: str = ''
    arms_per_user: int = 0
    allow_origins: tuple[str, ...] = ()
    tls: ssl.SSLContext | None = None
    keepalive: float = KEEPALIVE


class WebXrServer:
    """
    Serves one simulation to many clients.

    `start` connects to the simulation and binds.  One thread makes the states of all clients; each
    client has a thread that reads and one that sends, so that none waits for another.
    """

    def __init__(self, config: WebXrConfig, files: PageFiles | None = None) -> None:
        """
        Prepare; nothing is bound before `start`.

        :param files: our own page; None: the port speaks the protocol alone.
        :raises OpenWithoutToken: for a bind wider than loopback without a token.
        """
        self.config = config
        access = Access(
            config.bind, config.token, config.allow_origins, config.insecure, config.view_token
        )
        self._server = WebSocketServer(
            self,
            access,
            config.port,
            name='webxr',
            port_option='--port (launch: webxr_port)',
            keepalive=config.keepalive,
            max_message=MAX_READ,
            max_queue=MAX_QUEUE,
            answer_get=None if files is None else self._answer_get,
            tls=config.tls,
        )
        self._files = files
        self._clients: dict[WebSocketConnection, WebXrClient] = {}
        self._names = ClientNames()
        self._reading = ReadingShare()
        self._log = LimitedLog(_LOG)
        self._publications = Publications()
        self._simulation: SimulationConnection[FieldWorld] = SimulationConnection(
            lambda: SimulationLink(config.host, config.rpc_port, CLIENT_NAME, config.keys),
            lambda link: FieldWorld(link, config.host, config.state_port, self._publications),
            lambda: self._server.close_all(TRY_AGAIN_LATER, GONE),
        )
        self._ticker = PeriodicThread('webxr-ticker', self._tick, RATE)

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
        if self._files is not None:
            threading.Thread(target=self._prepare, name='webxr-prepare', daemon=True).start()
        self._ticker.start()
        self._server.start()

    @property
    def port(self) -> int:
        """Return the bound port."""
        return self._server.port

    @property
    def url(self) -> str:
        """Return where the page is, with the token that opens it."""
        shown = f'/?token={quote(self.config.token, safe="")}' if self.config.token else ''
        where = self._server.url.replace('ws', 'http', 1)
        for anywhere in ('0.0.0.0', '[::]'):
            where = where.replace(f'//{anywhere}:', f'//{_reachable(anywhere)}:')
        return where + shown

    def describe(self) -> str:
        """Return a description of the simulation for the log."""
        world = self._simulation.current
        if world is None:
            return 'world=none'
        scene, steerable = world.scene, world.pool.steerable
        return f'world={scene.name} robots={",".join(scene.robots) or "none"} arms={steerable}'

    @property
    def clients(self) -> list[WebXrClient]:
        """Return the connected clients."""
        return list(self._clients.values())

    @property
    def world(self) -> FieldWorld | None:
        """Return the world that is served now, None when there is no simulation."""
        return self._simulation.current

    def stop(self) -> None:
        """Close all connections and release the simulation; safe to call twice."""
        self._server.stop('the gateway is shutting down')
        self._ticker.stop()
        self._simulation.release()

    def admit(self, connection: WebSocketConnection, request: Request) -> None:
        """Register a client; its hello tells its role."""
        client = self._clients[connection] = WebXrClient(connection)
        client.view_only = self._server.access.may_only_watch(request)

    def serve(self, connection: WebSocketConnection) -> None:
        """Serve a client until it disconnects."""
        client = self._clients[connection]
        WebXrSession(client, self._begin, self._execute, self._reading).run()

    def left(self, connection: WebSocketConnection) -> None:
        """Remove a client that has disconnected."""
        client = self._clients.pop(connection)
        self._end(client)
        client.close()

    def _begin(self, client: WebXrClient, hello: Hello) -> None:
        """Start the session of a client, after ending its previous one, and reply."""
        if BINARY in hello.extensions and self._files is None:
            raise BadMessage('this gateway has no page: the extension binary is not offered')
        if client.view_only and hello.role != SPECTATOR:
            raise BadMessage(f'this session may only watch: role {hello.role} is refused')
        world = self._find_world()
        if hello.role == VR_CLIENT:
            robots_of(hello.character_mode, world.pool.modes)  # before anything changes
        self._end(client)
        if BINARY not in hello.extensions:
            world.scene.bodies.meshes()  # not in the thread of all clients
        name = self._names.take(client, hello)
        own = Assignment(name, hello.character_mode)
        try:
            if hello.role == VR_CLIENT:
                own = world.take(name, hello.character_mode, self._arms(hello))
        except BaseException:
            self._names.release(client, name)
            raise
        client.hello, client.name, client.world = hello, name, world
        if hello.role == PUBLISHER:
            client.reply('hello_ack', acknowledge(hello, name, [], []))
        else:
            ack = acknowledge(hello, name, own.arm_ids, own.controlled_arm_ids)
            client.reply('hello_ack', ack)
            client.reply('asset_manifest', own.manifest())
        if BINARY in hello.extensions:
            user = PageUser(name, hello.client, client.view_only)
            page = PageSession(world.page(), self._publications, user, client.outbox)
            page.open()
            client.page = page
        client.gets_scene = True
        self._log.info('%s is the %s %s', client.connection.peer, hello.role, name)

    def _execute(self, client: WebXrClient, envelope: Envelope) -> None:
        """Execute a message of a client after its hello."""
        if client.role == PUBLISHER:
            if envelope.type != 'heartbeat':
                ack = self._publications.apply(client.name, read_publication(envelope))
                client.reply(*ack)
            return
        if client.role == VR_CLIENT:
            self._handle_user(client, envelope)

    def _handle_user(self, client: WebXrClient, envelope: Envelope) -> None:
        world, hello = client.world, client.hello
        if world is None or hello is None:
            raise NoSimulation
        if envelope.type == 'reset':
            # Its own arms count as free, so it gets the same ones and starts over.
            assignment = world.take(client.name, hello.character_mode, self._arms(hello))
            client.reply(
                'hello_ack',
                {
                    'reset': True,
                    'user_id': client.name,
                    'arm_ids': assignment.arm_ids,
                    'controlled_arm_ids': assignment.controlled_arm_ids,
                },
            )
            return
        operator = world.operator(client.name)
        if operator is None:
            raise NoSimulation
        if envelope.type == 'xr_input':
            operator.add_sample(read_xr_input(envelope.payload), time.monotonic())
        else:
            operator.note_heartbeat(time.monotonic())

    def _arms(self, hello: Hello) -> int:
        """Return how many arms a user may have at most."""
        return min(hello.arm_count, self.config.arms_per_user or hello.arm_count)

    def _find_world(self) -> FieldWorld:
        """
        Return the world of the simulation, after it was restarted too.

        :raises NoSimulation: when there is none.
        """
        try:
            self._simulation.renew(RETURN_SECONDS)
        except UrlabError as error:
            raise NoSimulation(error) from error
        world = self._simulation.current
        if world is None:
            raise NoSimulation
        return world

    def _end(self, client: WebXrClient) -> None:
        """End the session of a client, if it has one."""
        role, page, world = client.role, client.page, client.world
        client.end_session()
        if world is not None and role == VR_CLIENT:
            world.release(client.name)
        if role == PUBLISHER:
            self._publications.forget(client.name)
        self._names.release(client, client.name)
        if page is not None:
            try:
                page.close()
            except Exception:
                _LOG.exception('%s: failed to close its page', client.connection.peer)

    def _answer_get(self, path: str) -> HttpAnswer:
        assert self._files is not None
        world = self._simulation.current
        return self._files.respond(path, {} if world is None else world.page_files)

    def _prepare(self) -> None:
        """Make the files of all bodies, so that the first page does not wait for them."""
        world = self._simulation.current
        if world is None:
            return
        try:
            world.page()
        except Exception:  # the first page that is opened reports why
            _LOG.debug('cannot prepare the page', exc_info=True)

    def _tick(self) -> None:
        """Send the newest state to the clients of the world; those of another reconnect."""
        world = self._simulation.current
        clients = []
        for client in list(self._clients.values()):
            own = client.world
            if own is None or not client.gets_scene:
                continue
            if own is world and not own.link.is_stale:
                clients.append(client)
            elif not own.link.is_lost:
                # Whoever has lost the simulation tells its clients that it has gone.
                client.connection.end_soon(TRY_AGAIN_LATER, CHANGED)
        frame = world.scene.poll() if clients and world is not None else None
        if world is None or frame is None:
            return
        for client in clients:
            page = client.page
            if page is not None:
                client.outbox.post(partial(page.tick, frame), 'state')
            else:
                client.show(world.message(frame))


def _reachable(anywhere: str) -> str:
    """Return an address at which other machines reach a socket that is bound to all."""
    wants_v6 = ':' in anywhere
    found = next((a for a in own_addresses() if (':' in a) == wants_v6), '127.0.0.1')
    return f'[{found}]' if ':' in found else found


__all__ = ['PORT', 'WebXrConfig', 'WebXrServer']
