# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
A WebSocket server for a few clients, any of which may be hostile.

The threaded server of `websockets` does HTTP, TLS, framing, pings and timeouts.  It does not limit
what this module does: open connections (when all places are taken, the oldest client that has
never sent a message gives its own away), connections with an unfinished handshake (the oldest is
dropped for a new one, so a peer that sends its request at once is always admitted), and the time
of a peer that neither reads nor closes.

For this it uses some members of the library that are not documented: `UNDOCUMENTED` lists them,
and a test fails when they change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
import contextlib
from dataclasses import dataclass
from http import HTTPStatus
import logging
import selectors
import socket
import ssl
import struct
import threading
import time
from typing import Any
from typing import NamedTuple
from typing import Protocol
from typing import TypeAlias

from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request
from websockets.http11 import Response
from websockets.protocol import CLOSED
from websockets.protocol import CLOSING
from websockets.sync.server import serve
from websockets.sync.server import Server
from websockets.sync.server import ServerConnection

from urlab_ros_bridge.gateways.errors import PortTaken
from urlab_ros_bridge.gateways.serving.access import Access
from urlab_ros_bridge.gateways.serving.access import HandshakeRefusal
from urlab_ros_bridge.gateways.serving.close_codes import GOING_AWAY
from urlab_ros_bridge.gateways.serving.close_codes import INTERNAL_ERROR
from urlab_ros_bridge.gateways.serving.close_codes import TRY_AGAIN_LATER
from urlab_ros_bridge.limited_log import LimitedLog

_LOG = logging.getLogger(__name__)
# The library logs each failed handshake with a traceback.
_LIBRARY_LOG = logging.getLogger(f'{__name__}.protocol')
_LIBRARY_LOG.setLevel(logging.CRITICAL)

# What this module uses of `websockets` (17.4) beyond its documentation, and for what.
UNDOCUMENTED = {
    Server: {
        'handler': 'runs one accepted connection; here other threads accept',
        'socket': 'the socket that listens, with TLS if there is TLS',
    },
    ServerConnection: {
        'socket': 'sends large messages without copies; unblocks a thread that sends',
        'send_context': 'holds the lock of a connection, so that no other message is in between',
        'close_socket': 'ends a connection at once',
    },
}

MAX_CONNECTIONS = 32
MAX_DOWNLOADS = 32
# Connections that have not sent their request yet, of one address and of all.
MAX_HANDSHAKES_PER_PEER = 64
MAX_HANDSHAKES = 128
OPENING_SECONDS = 5.0
# A client that has sent nothing for this time gives its place away once all are taken (s).
SILENT_SECONDS = 30.0
MAX_MESSAGE = 1 << 22
# Messages that wait for the gateway before a peer is no longer read.
MAX_QUEUE = 16
# Silence after which a peer is pinged, and the time that it has to answer or to read (s).
KEEPALIVE = 20.0
CLOSE_SECONDS = 2.0
MAX_REASON = 123  # bytes; RFC 6455, section 5.5
BACKLOG = 1024
_TICK = 0.25
_INSIDE = ('admitting', 'admitted')
_ENDED = (CLOSING, CLOSED)  # and not CONNECTING: a client that is being admitted stays
Buffer: TypeAlias = bytes | bytearray | memoryview  # of bytes
# The header of a binary frame of one fragment, and from where its length has 8 bytes
# (RFC 6455, section 5.2).
_BINARY_FRAME, _LENGTH_IN_8_BYTES, _MIN_PARTS = 0x82, 127, 1 << 16


class HttpAnswer(NamedTuple):
    """
    An answer to GET.

    :ivar status: HTTP status.
    :ivar headers: in addition to Connection, Content-Type and Content-Length.
    """

    status: int
    content_type: str
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()


# Answers GET; called by several threads, for peers that have passed the rules of `Access`.  It is
# given the path of the request's target, percent-encoded, without its query: it begins with a
# slash and is otherwise as the peer wrote it, with ``..`` too.
AnswerGet: TypeAlias = Callable[[str], HttpAnswer]


class WebSocketConnection(ServerConnection):
    """
    One client.  `send`, `end` and `abort` may be called from any thread.

    :ivar peer: address and port of the client, for messages; `host` its address alone.
    :ivar local_host: address of this machine at which the client arrived.
    :ivar end_reason: why this side ended the connection, for the log.
    """

    def __init__(self, sock: socket.socket, *args: Any, **options: Any) -> None:
        self.host, port = sock.getpeername()[:2]
        self.peer = f'{self.host}:{port}'
        self.local_host: str = sock.getsockname()[0]
        self.end_reason = ''
        self.end_by: float | None = None  # time.monotonic, once it is closing
        self._silent_since: float | None = time.monotonic()
        super().__init__(sock, *args, **options)

    def messages(self) -> Iterator[str | bytes]:
        """
        Yield messages until the connection ends, text messages as `str`.

        What arrives after `end` is dropped: a command after a refused one must not move anything.
        """
        with contextlib.suppress(ConnectionClosed):
            while self.end_by is None:
                message = self.recv()
                self._silent_since = None
                if self.end_by is None:
                    yield message

    def send_parts(self, parts: Sequence[Buffer]) -> None:
        """
        Send one binary message that consists of several buffers.

        The library would copy a large message twice: joined, and again behind the header of its
        frame.  Here the kernel collects the buffers; TLS has no call for that.

        :raises ConnectionClosed: when the connection has ended.
        """
        size = sum(len(part) for part in parts)
        if size < _MIN_PARTS or isinstance(self.socket, ssl.SSLSocket):
            self.send(b''.join(parts))
            return
        header = struct.pack('!BBQ', _BINARY_FRAME, _LENGTH_IN_8_BYTES, size)
        with self.send_context():
            send_buffers(self.socket, [header, *parts])

    def end(self, code: int, reason: str = '') -> None:
        """Close the connection; it is reset if the client does not cooperate."""
        self.end_by = self.end_by or time.monotonic() + CLOSE_SECONDS
        self.end_reason = self.end_reason or f'{code} {reason}'.strip()
        self.close(code, truncate_utf8(reason, MAX_REASON))

    def end_soon(self, code: int, reason: str) -> None:
        """Close the connection without waiting for it; does nothing while it is ending."""
        if not self.is_closing:
            self.end_reason = f'{code} {reason}'
            threading.Thread(target=self.end, args=(code, reason), daemon=True).start()

    def abort(self, reason: str = '') -> None:
        """Reset the connection; unblocks threads that read or write it."""
        self.end_by = self.end_by or time.monotonic()
        self.end_reason = self.end_reason or reason
        shut_down(self.socket)  # unblocks a sending thread
        self.close_socket()

    @property
    def is_closing(self) -> bool:
        """Return whether it was closed by either side, or the client has disconnected."""
        return bool(self.end_reason) or self.end_by is not None or self.state in _ENDED

    @property
    def is_silent(self) -> bool:
        """Return whether the client has sent no message since it came, `SILENT_SECONDS` ago."""
        since = self._silent_since
        return since is not None and time.monotonic() - since >= SILENT_SECONDS


class Handler(Protocol):
    """The callbacks of a gateway."""

    def admit(self, connection: WebSocketConnection, request: Request) -> None:
        """
        Admit a client that has passed the rules of `Access`.

        :raises HandshakeRefusal: to refuse it.
        """

    def serve(self, connection: WebSocketConnection) -> None:
        """Serve an admitted client, in its own thread."""

    def left(self, connection: WebSocketConnection) -> None:
        """Forget a client; called once after each `admit` that did not raise."""


@dataclass(eq=False, slots=True)
class _Peer:
    """
    One accepted socket, from the first byte to the last.

    :ivar phase: ``opening`` until its request was read, then ``download``, or ``admitting`` and
        ``admitted``.
    """

    sock: socket.socket
    host: str
    connection: WebSocketConnection | None = None
    phase: str = 'opening'
    is_dropped: bool = False


class WebSocketServer:
    """
    Listens on one port and passes clients to a `Handler`.

    :ivar access: the access rules.
    """

    def __init__(
        self,
        handler: Handler,
        access: Access,
        port: int,
        *,
        name: str,
        port_option: str = '--port',
        keepalive: float = KEEPALIVE,
        max_message: int = MAX_MESSAGE,
        max_queue: int = MAX_QUEUE,
        answer_get: AnswerGet | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """
        Prepare; nothing is bound before `bind`.

        :param name: of the gateway, for the names of threads.
        :param port_option: how a user chooses another port, for the error.
        :param max_message: bytes; of a larger one the connection is closed.
        :param max_queue: messages that wait for the gateway before a peer is no longer read.
        :param answer_get: answers plain HTTP requests; None refuses them.
        :param tls: certificate and key; None serves without TLS.
        """
        self.access = access
        self._handler = handler
        self._wanted_port = port
        self._name = name
        self._port_option = port_option
        self._keepalive = keepalive
        self._max_message = max_message
        self._max_queue = max_queue
        self._answer_get = answer_get
        self._tls = tls
        self._changed = threading.Condition()
        self._peers: dict[socket.socket, _Peer] = {}  # oldest first
        self._stopping = False
        self._listener: socket.socket | None = None
        self._acceptor: threading.Thread | None = None
        self._log = LimitedLog(_LOG)  # for lines that a peer can repeat

    def bind(self) -> None:
        """
        Bind the port; clients wait until `start`.

        :raises PortTaken: when another program has it.
        """
        bind = self.access.bind
        family = socket.AF_INET6 if ':' in bind else socket.AF_INET
        address = (bind.strip('[]'), self._wanted_port)
        try:
            listener = socket.create_server(address, family=family, backlog=BACKLOG)
        except OSError as error:
            raise PortTaken(*address, error, self._port_option) from error
        self._listener = listener

    def start(self) -> None:
        """Accept clients."""
        self._server = serve(
            self._run_handler,
            sock=self._bound(),
            ssl=self._tls,
            process_request=self._answer_request,
            process_response=self._admit,
            create_connection=self._connect,  # type: ignore[arg-type]  # or a function
            compression=None,
            server_header=None,
            open_timeout=OPENING_SECONDS,
            ping_interval=self._keepalive,
            ping_timeout=self._keepalive,
            close_timeout=CLOSE_SECONDS,
            max_size=self._max_message,
            max_queue=self._max_queue,
            logger=_LIBRARY_LOG,
        )
        self._listener = self._server.socket
        self._wake, self._waker = socket.socketpair()
        self._acceptor = threading.Thread(
            target=self._accept, name=f'{self._name}-accept', daemon=True
        )
        self._acceptor.start()

    @property
    def port(self) -> int:
        """Return the bound port."""
        port: int = self._bound().getsockname()[1]
        return port

    @property
    def url(self) -> str:
        """Return where clients connect to."""
        bind, scheme = self.access.bind.strip('[]'), 'ws' if self._tls is None else 'wss'
        return f'{scheme}://{f"[{bind}]" if ":" in bind else bind}:{self.port}'

    @property
    def connections(self) -> list[WebSocketConnection]:
        """Return the admitted clients."""
        with self._changed:
            admitted = [peer for peer in self._peers.values() if peer.phase == 'admitted']
        return [peer.connection for peer in admitted if peer.connection is not None]

    @property
    def handshakes(self) -> int:
        """Return how many connections have not sent their request yet."""
        return self._count('opening')

    def close_all(self, code: int, reason: str) -> None:
        """Close every connection without waiting for it."""
        for connection in self.connections:
            connection.end_soon(code, reason)

    def stop(self, reason: str) -> None:
        """Close all connections and release the port; safe to call twice."""
        with self._changed:
            if self._stopping:
                return
            self._stopping = True
            for peer in self._peers.values():
                if peer.phase != 'admitted':
                    self._drop(peer)
        if self._acceptor is None:
            if self._listener is not None:
                self._listener.close()
            return
        self.close_all(GOING_AWAY, reason)
        with self._changed:
            self._changed.wait_for(lambda: not self._peers)
        self._waker.send(b'.')
        self._acceptor.join()
        self._server.socket.close()
        self._server.serve_forever()  # returns, and releases what waits for the end
        self._server.shutdown()
        self._wake.close()
        self._waker.close()

    def _bound(self) -> socket.socket:
        if self._listener is None:
            raise RuntimeError('call bind() first')
        return self._listener

    def _count(self, phase: str) -> int:
        with self._changed:
            return sum(peer.phase == phase for peer in self._peers.values())

    def _accept(self) -> None:
        """Accept connections, and reset those that do not close in time."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._server.socket, selectors.EVENT_READ)
            selector.register(self._wake, selectors.EVENT_READ)
            while True:
                ready = selector.select(_TICK if self._peers else None)
                if any(key.fileobj is self._wake for key, _ in ready):
                    return
                if ready:
                    self._accept_one()
                now = time.monotonic()
                for connection in self.connections:
                    if connection.end_by is None and connection.state in _ENDED:
                        connection.end_by = now + CLOSE_SECONDS
                    if connection.end_by is not None and now > connection.end_by:
                        connection.abort()

    def _accept_one(self) -> None:
        try:
            sock, address = self._server.socket.accept()
        except OSError as error:
            _LOG.debug('a connection was not accepted: %s', error)
            with self._changed:
                self._drop_oldest()  # the process may have run out of file descriptors
                self._changed.wait(0.05)
            return
        peer = _Peer(sock, address[0])
        thread = threading.Thread(
            target=self._run_peer, args=(peer, address), name=f'{self._name}-{address[0]}',
            daemon=True,
        )  # fmt: skip
        with self._changed:
            self._make_room(peer.host)
            if self._stopping:
                sock.close()
                return
            self._peers[sock] = peer
        try:
            # A connection ends when the kernel cannot deliver data for this time: a peer that
            # never reads would block the threads that send to it.
            timeout_ms = int(self._keepalive * 1000)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, timeout_ms)
            thread.start()
        except (
            OSError,
            RuntimeError,
        ) as error:  # it has disconnected, or no thread can be started
            self._log.warning('%s: not served: %s', peer.host, error)
            sock.close()
            self._forget(peer)

    def _make_room(self, host: str) -> None:
        """Drop the oldest handshake of an address with too many, or of the one with most."""
        opening = [p for p in self._peers.values() if p.phase == 'opening' and not p.is_dropped]
        hosts = Counter(peer.host for peer in opening)
        if hosts[host] >= MAX_HANDSHAKES_PER_PEER:
            self._drop_oldest(host)
        elif len(opening) >= MAX_HANDSHAKES:
            self._drop_oldest(hosts.most_common(1)[0][0])
        self._changed.wait_for(
            lambda: sum(peer.is_dropped for peer in self._peers.values()) < MAX_CONNECTIONS, 1.0
        )

    def _drop_oldest(self, host: str = '') -> None:
        for peer in self._peers.values():
            if peer.phase == 'opening' and not peer.is_dropped and host in ('', peer.host):
                self._drop(peer)
                return

    @staticmethod
    def _drop(peer: _Peer) -> None:
        peer.is_dropped = True
        shut_down(peer.sock)

    def _forget(self, peer: _Peer) -> None:
        with self._changed:
            self._peers.pop(peer.sock, None)
            self._changed.notify_all()

    def _run_peer(self, peer: _Peer, address: Any) -> None:
        """Run the library's connection; runs in a thread of its own."""
        try:
            self._server.handler(peer.sock, address)
        finally:
            connection = peer.connection
            if connection is not None and peer.phase == 'admitted':
                self._handler.left(connection)
                reason = connection.end_reason or f'the client ended it ({connection.close_code})'
                self._log.info('%s: %s', connection.peer, reason)
            self._forget(peer)

    def _connect(self, sock: socket.socket, *args: Any, **options: Any) -> WebSocketConnection:
        connection = WebSocketConnection(sock, *args, **options)
        self._peers[sock].connection = connection
        return connection

    def _answer_request(self, connection: ServerConnection, request: Request) -> Response | None:
        """Check a request; answer one for a file."""
        assert isinstance(connection, WebSocketConnection)
        try:
            if self._answer_get is None or wants_websocket(request):
                self.access.check(request, connection.local_host)
                return None
            return self._answer_file(self._answer_get, connection, request)
        except HandshakeRefusal as refusal:
            return self._refuse(connection, refusal)

    def _answer_file(
        self, answer_get: AnswerGet, connection: WebSocketConnection, request: Request
    ) -> Response:
        if request.method != 'GET':
            raise HandshakeRefusal(
                HTTPStatus.METHOD_NOT_ALLOWED, f'{request.method!r:.20} is not GET'
            )
        self.access.check_download(request, connection.local_host)
        with self._changed:
            if sum(peer.phase == 'download' for peer in self._peers.values()) >= MAX_DOWNLOADS:
                raise HandshakeRefusal(
                    HTTPStatus.SERVICE_UNAVAILABLE,
                    f'{MAX_DOWNLOADS} downloads are already in progress; try again',
                )
            self._peers[connection.socket].phase = 'download'
        path = request.path.partition('?')[0]  # what follows may be a token, which no log contains
        answer = answer_get(path)
        _LOG.debug('%s: GET %.200s: %d', connection.peer, path, answer.status)
        headers = Headers(
            [
                ('Connection', 'close'),
                ('Content-Type', answer.content_type),
                ('Content-Length', str(len(answer.body))),
                *answer.headers,
                *self.access.cookie_for(request),
            ]
        )
        status = HTTPStatus(answer.status)
        return Response(status.value, status.phrase, headers, answer.body)

    def _admit(
        self, connection: ServerConnection, request: Request, response: Response
    ) -> Response | None:
        """Let the handler admit or refuse a client with a valid handshake."""
        assert isinstance(connection, WebSocketConnection)
        if response.status_code != HTTPStatus.SWITCHING_PROTOCOLS:
            return None
        try:
            with self._changed:
                peer = self._peers[connection.socket]
                inside = [each for each in self._peers.values() if each.phase in _INSIDE]
                clients = [each.connection for each in inside if each.connection is not None]
                if not has_room(clients, MAX_CONNECTIONS):
                    raise HandshakeRefusal(
                        HTTPStatus.SERVICE_UNAVAILABLE,
                        f'{MAX_CONNECTIONS} clients are already connected; no more are accepted',
                    )
                peer.phase = 'admitting'
            self._handler.admit(connection, request)
            with self._changed:
                peer.phase = 'admitted'
        except HandshakeRefusal as refusal:
            return self._refuse(connection, refusal)
        return None

    def _refuse(self, connection: WebSocketConnection, refusal: HandshakeRefusal) -> Response:
        response = connection.respond(refusal.status, f'{refusal}\n')
        for name, value in refusal.headers:
            response.headers[name] = value
        self._log.warning('%s: refused with HTTP %d: %s', connection.peer, refusal.status, refusal)
        return response

    def _run_handler(self, connection: ServerConnection) -> None:
        assert isinstance(connection, WebSocketConnection)
        try:
            self._handler.serve(connection)
        except ConnectionClosed:
            pass
        except Exception:
            _LOG.exception('%s: the connection raised an error', connection.peer)
            connection.end(INTERNAL_ERROR, 'the gateway failed; see its log')


def has_room(clients: Sequence[WebSocketConnection], limit: int) -> bool:
    """
    Return whether one more client is admitted.

    :param clients: that are there, oldest first.  Beyond `limit`, a silent one is closed for it.
    """
    present = [client for client in clients if not client.is_closing]
    if len(present) < limit:
        return True
    silent = next((client for client in present if client.is_silent), None)
    if silent is not None:
        silent.end_soon(
            TRY_AGAIN_LATER, f'nothing sent for {SILENT_SECONDS:g} s: the place was needed'
        )
    return silent is not None


def wants_websocket(request: Request) -> bool:
    """Return whether a request is for a WebSocket (RFC 6455, section 4.1)."""
    return any(value.strip() for value in request.headers.get_all('Upgrade'))


def send_buffers(sock: socket.socket, buffers: Sequence[Buffer]) -> None:
    """Send all bytes of some buffers over a blocking TCP connection."""
    waiting = [memoryview(buffer) for buffer in buffers]
    while waiting:
        sent = sock.sendmsg(waiting)
        while waiting and sent >= len(waiting[0]):
            sent -= len(waiting.pop(0))
        if sent:
            waiting[0] = waiting[0][sent:]


def shut_down(sock: socket.socket) -> None:
    """End a connection in both directions, under TLS too, for every thread that waits for it."""
    with contextlib.suppress(OSError):
        socket.socket.shutdown(sock, socket.SHUT_RDWR)


def truncate_utf8(text: str, limit: int) -> str:
    """
    Return the longest beginning of `text` that fits `limit` bytes of UTF-8.

    >>> truncate_utf8('naïve', 3)
    'na'
    """
    return text.encode(errors='replace')[:limit].decode(errors='ignore')


__all__ = [
    'MAX_CONNECTIONS', 'MAX_HANDSHAKES', 'MAX_HANDSHAKES_PER_PEER', 'OPENING_SECONDS', 'AnswerGet',
    'Handler', 'HttpAnswer', 'WebSocketConnection', 'WebSocketServer',
    'has_room', 'truncate_utf8',
]  # fmt: skip
