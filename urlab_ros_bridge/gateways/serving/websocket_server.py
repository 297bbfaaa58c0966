# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
A WebSocket server for a handful of clients, of which any may be hostile.

One thread accepts, reads all opening requests and turns clients away, so that a connection which
never asks for anything costs a socket and a few kB.  How many of these there may be is bounded,
for each address and in all; the oldest makes way for a new one, so that a peer that sends a
request at once is let in however many others hang.  A client that is let in gets a thread of its
own.
"""

from __future__ import annotations

from collections import Counter
from collections import deque
import contextlib
from dataclasses import dataclass
from dataclasses import field
from http import HTTPStatus
import logging
import selectors
import socket
import ssl
import threading
import time
from typing import Protocol

from websockets.http11 import Request

from urlab_ros_bridge.gateways.serving.access import Access
from urlab_ros_bridge.gateways.serving.access import HandshakeRefusal
from urlab_ros_bridge.gateways.serving.http_files import HttpAnswer
from urlab_ros_bridge.gateways.serving.http_files import HttpFiles
from urlab_ros_bridge.gateways.serving.http_files import wants_websocket
from urlab_ros_bridge.gateways.serving.tls_front import TlsFront
from urlab_ros_bridge.gateways.serving.websocket_connection import CLOSE_SECONDS
from urlab_ros_bridge.gateways.serving.websocket_connection import GOING_AWAY
from urlab_ros_bridge.gateways.serving.websocket_connection import KEEPALIVE
from urlab_ros_bridge.gateways.serving.websocket_connection import MAX_MESSAGE
from urlab_ros_bridge.gateways.serving.websocket_connection import READ_SIZE
from urlab_ros_bridge.gateways.serving.websocket_connection import WebSocketConnection
from urlab_ros_bridge.wire.errors import UrlabError

_LOG = logging.getLogger(__name__)

MAX_CONNECTIONS = 32
MAX_DOWNLOADS = 32
# Handshakes that have not ended yet: requests that have not come, answers that were not taken.
MAX_HANDSHAKES = 128
MAX_HANDSHAKES_PER_PEER = 64
OPENING_SECONDS = 5.0
MAX_AFTER_REFUSAL = 1 << 18  # bytes
# Accepted in one go, before others are served; fewer than a peer may have in flight.
ACCEPTED_AT_ONCE = 32
# What is on its way to a client gets this long when the server stops (s).
STOP_PATIENCE = 0.2
BACKLOG = 1024
_TICK = 0.25
_REFUSALS_LOGGED = 1.0  # s between two of them


class PortTaken(UrlabError):
    """The port cannot be bound."""

    def __init__(self, address: str, port: int, cause: OSError, advice: str) -> None:
        super().__init__(
            f'cannot bind port {port} on {address} ({cause.strerror}): stop the program that uses '
            f'it, or choose another port with {advice}'
        )


class Handler(Protocol):
    """What a gateway does with its clients."""

    def admit(self, connection: WebSocketConnection, request: Request) -> None:
        """
        Let a client in that has passed the rules of `Access`; called in the accepting thread.

        :raises HandshakeRefusal: to turn it down.
        """

    def serve(self, connection: WebSocketConnection) -> None:
        """Talk to a client that was let in, in its own thread."""

    def left(self, connection: WebSocketConnection) -> None:
        """Forget a client; called once after each `admit` that did not raise."""


@dataclass(slots=True, eq=False)
class _Handshake:
    """
    A connection that is not open yet.

    :ivar deadline: of the request, and after a refusal of the end.
    """

    connection: WebSocketConnection
    deadline: float
    is_refused: bool = False
    received: int = field(default=0)


class WebSocketServer:
    """
    Listens on one port and hands clients to a `Handler`.

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
        files: HttpFiles | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """
        Prepare; nothing is bound before `bind`.

        :param name: of the gateway, for the names of threads.
        :param port_option: how a user chooses another port, for the error.
        :param files: answers requests that ask for no WebSocket; None refuses them.
        :param tls: certificate and key, with which peers have to speak TLS; None: they must not.
        """
        self.access = access
        self._handler = handler
        self._wanted_port = port
        self._name = name
        self._port_option = port_option
        self._keepalive = keepalive
        self._max_message = max_message
        self._lock = threading.Lock()
        self._files = files
        self._tls = tls
        self._front: TlsFront | None = None
        self._adopted: deque[tuple[socket.socket, tuple[str, int], str]] = deque()
        self._open: dict[WebSocketConnection, threading.Thread] = {}
        self._downloads: dict[WebSocketConnection, threading.Thread] = {}
        self._handshakes: dict[_Handshake, None] = {}  # oldest first
        self._stopping = False
        self._listener: socket.socket | None = None
        self._acceptor: threading.Thread | None = None
        self._logged_at = 0.0
        self._unlogged = 0

    def bind(self) -> None:
        """
        Take the port; clients wait until `start`.

        :raises PortTaken: when another program has it.
        """
        bind = self.access.bind
        family = socket.AF_INET6 if ':' in bind else socket.AF_INET
        address = (bind.strip('[]'), self._wanted_port)
        try:
            listener = socket.create_server(address, family=family, backlog=BACKLOG)
        except OSError as error:
            raise PortTaken(*address, error, self._port_option) from error
        listener.setblocking(False)
        self._listener = listener

    def start(self) -> None:
        """Let clients in."""
        self._selector = selectors.DefaultSelector()
        self._wake, self._waker = socket.socketpair()
        self._wake.setblocking(False)
        self._selector.register(self._wake, selectors.EVENT_READ)
        if self._tls is None:
            self._selector.register(self._bound(), selectors.EVENT_READ)
        else:
            self._front = TlsFront(self._bound(), self._tls, self._adopt, self._name)
            self._front.start()
        self._acceptor = threading.Thread(
            target=self._run, name=f'{self._name}-accept', daemon=True
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
        """Return those that are open or closing."""
        with self._lock:
            return list(self._open)

    @property
    def handshakes(self) -> int:
        """Return how many connections are not open yet."""
        return len(self._handshakes)

    def close_all(self, code: int, reason: str, patience: float = STOP_PATIENCE) -> None:
        """Close every connection; `patience` as for `WebSocketConnection.close`."""
        for connection in self.connections:
            connection.close(code, reason, patience)

    def stop(self, reason: str) -> None:
        """Close all connections and release the port; safe to call twice."""
        with self._lock:
            if self._stopping:
                return
            self._stopping = True
            open_now = dict(self._open)
            downloads = dict(self._downloads)
        if self._acceptor is not None:
            self._waker.send(b'.')
            self._acceptor.join()
            self._selector.close()
            self._wake.close()
            self._waker.close()
        if self._listener is not None and self._front is None:
            self._listener.close()
        for connection in open_now:
            connection.close(GOING_AWAY, reason, STOP_PATIENCE)
        deadline = time.monotonic() + CLOSE_SECONDS
        for connection, thread in open_now.items():
            thread.join(max(0.0, deadline - time.monotonic()))
            connection.abort()
        for connection in downloads:
            connection.abort()
        for thread in (*open_now.values(), *downloads.values()):
            thread.join()
        if self._front is not None:
            self._front.stop()

    def _bound(self) -> socket.socket:
        if self._listener is None:
            raise RuntimeError('bind() comes first')
        return self._listener

    def _run(self) -> None:
        while not self._stopping:
            waiting = self._handshakes or self._open
            ready = [key.data for key, _ in self._selector.select(_TICK if waiting else None)]
            # Peers that have sent a request go before those that have not.
            for handshake in ready:
                if handshake is not None and handshake in self._handshakes:
                    self._read(handshake)
            if None in ready:
                if self._front is None:
                    self._accept()
                else:
                    self._accept_adopted()
            self._cut_off(time.monotonic())
        for handshake in list(self._handshakes):
            self._drop(handshake)

    def _accept(self) -> None:
        for _ in range(ACCEPTED_AT_ONCE):
            try:
                link, _ = self._bound().accept()
            except BlockingIOError:
                return
            except OSError as error:
                if not self._stopping:
                    _LOG.debug('a connection was not accepted: %s', error)
                    self._drop_oldest()  # the process may be out of file descriptors
                    time.sleep(0.01)
                return
            self._shake_hands(link, None)

    def _adopt(self, link: socket.socket, peer: tuple[str, int], local_address: str) -> None:
        """Take a connection that came by TLS; called by the thread of that."""
        self._adopted.append((link, peer, local_address))
        with contextlib.suppress(OSError):  # the server stops
            self._waker.send(b'.')

    def _accept_adopted(self) -> None:
        with contextlib.suppress(BlockingIOError):
            self._wake.recv(READ_SIZE)
        while self._adopted:
            link, peer, local_address = self._adopted.popleft()
            self._shake_hands(link, (peer, local_address))

    def _shake_hands(
        self, link: socket.socket, relayed: tuple[tuple[str, int], str] | None
    ) -> None:
        try:
            link.setblocking(False)
            connection = WebSocketConnection(link, self._keepalive, self._max_message, relayed)
        except OSError:  # it has left already
            link.close()
            return
        self._make_room(connection.host)
        handshake = _Handshake(connection, time.monotonic() + OPENING_SECONDS)
        self._handshakes[handshake] = None
        self._selector.register(link, selectors.EVENT_READ, handshake)

    def _make_room(self, host: str) -> None:
        """Drop the oldest of an address that has too many, or of the one that has most."""
        hosts = Counter(handshake.connection.host for handshake in self._handshakes)
        if hosts[host] >= MAX_HANDSHAKES_PER_PEER:
            self._drop_oldest(host)
        elif len(self._handshakes) >= MAX_HANDSHAKES:
            self._drop_oldest(hosts.most_common(1)[0][0])

    def _drop_oldest(self, host: str = '') -> None:
        for handshake in self._handshakes:
            if handshake.connection.host == host or not host:
                self._drop(handshake)
                return

    def _read(self, handshake: _Handshake) -> None:
        connection = handshake.connection
        try:
            data = connection.link.recv(READ_SIZE)
        except BlockingIOError:
            return
        except OSError:
            self._drop(handshake)
            return
        if handshake.is_refused:
            handshake.received += len(data)
            if not data or handshake.received > MAX_AFTER_REFUSAL:
                self._drop(handshake)
            return
        try:
            request = connection.read_opening(data)
            if request is None:
                if not data:
                    self._drop(handshake)
                return
            download = self._files is not None and not wants_websocket(request)
            if download:
                self._admit_download(connection, request)
            else:
                self._admit(connection, request)
        except HandshakeRefusal as refusal:
            self._refuse(handshake, refusal)
            return
        except Exception:
            _LOG.exception('%s: the opening request raised an error', connection.peer)
            self._refuse(
                handshake,
                HandshakeRefusal(
                    HTTPStatus.INTERNAL_SERVER_ERROR, 'internal error; see the log of the gateway'
                ),
            )
            return
        self._forget(handshake)
        if download:
            self._begin_download(connection, request)
        else:
            self._begin(connection)

    def _admit(self, connection: WebSocketConnection, request: Request) -> None:
        self.access.check(request, connection.local_address)
        connection.agree(request)
        if len(self._open) >= MAX_CONNECTIONS:
            raise HandshakeRefusal(
                HTTPStatus.SERVICE_UNAVAILABLE,
                f'{MAX_CONNECTIONS} clients are already connected; no more are accepted',
            )
        self._handler.admit(connection, request)

    def _admit_download(self, connection: WebSocketConnection, request: Request) -> None:
        self.access.check_download(request, connection.local_address)
        if len(self._downloads) >= MAX_DOWNLOADS:
            raise HandshakeRefusal(
                HTTPStatus.SERVICE_UNAVAILABLE,
                f'{MAX_DOWNLOADS} downloads are already in progress; try again',
            )

    def _begin_download(self, connection: WebSocketConnection, request: Request) -> None:
        thread = threading.Thread(
            target=self._download,
            args=(connection, request),
            name=f'{self._name}-get-{connection.peer}',
            daemon=True,
        )
        with self._lock:
            self._downloads[connection] = thread
        try:
            thread.start()
        except RuntimeError as error:  # the system has no thread left
            _LOG.warning('%s: not answered: %s', connection.peer, error)
            self._end_download(connection)

    def _download(self, connection: WebSocketConnection, request: Request) -> None:
        try:
            answer = self._answer(request)
            connection.answer(answer)
            _LOG.debug('%s: GET %.200s: %d', connection.peer, request.path, answer.status)
        finally:
            self._end_download(connection)

    def _answer(self, request: Request) -> HttpAnswer:
        path = request.path.partition('?')[0]
        try:
            if self._files is None:
                raise RuntimeError('there are no files')
            answer = self._files.respond(path)
        except Exception:
            _LOG.exception('GET %.200s raised an error', path)
            return HttpAnswer(500, 'text/plain; charset=utf-8', b'see the log\n')
        cookie = self.access.cookie_for(request)
        return answer._replace(headers=(*answer.headers, *cookie))

    def _end_download(self, connection: WebSocketConnection) -> None:
        with self._lock:
            del self._downloads[connection]
        connection.dispose()

    def _refuse(self, handshake: _Handshake, refusal: HandshakeRefusal) -> None:
        """Answer, and read on for a moment: a socket closed with unread bytes loses the answer."""
        connection = handshake.connection
        connection.refuse(refusal)
        handshake.is_refused = True
        handshake.deadline = time.monotonic() + CLOSE_SECONDS
        now = time.monotonic()
        about_access = refusal.status in (401, 403, 503)
        if about_access and now - self._logged_at > _REFUSALS_LOGGED:
            more = f' (and {self._unlogged} more)' if self._unlogged else ''
            _LOG.info('%s: %s%s', connection.peer, connection.last_reason, more)
            self._logged_at, self._unlogged = now, 0
        else:
            self._unlogged += about_access
            _LOG.debug('%s: %s', connection.peer, connection.last_reason)

    def _begin(self, connection: WebSocketConnection) -> None:
        thread = threading.Thread(
            target=self._run_handler,
            args=(connection,),
            name=f'{self._name}-{connection.peer}',
            daemon=True,
        )
        with self._lock:
            self._open[connection] = thread
        try:
            thread.start()
        except RuntimeError as error:  # the system has no thread left
            _LOG.warning('%s: not served: %s', connection.peer, error)
            self._end(connection)

    def _run_handler(self, connection: WebSocketConnection) -> None:
        try:
            connection.open()
            self._handler.serve(connection)
        except Exception:
            _LOG.exception('%s: the connection raised an error', connection.peer)
        finally:
            self._end(connection)
            _LOG.info(
                '%s: %s', connection.peer, connection.last_reason or 'the client disconnected'
            )

    def _end(self, connection: WebSocketConnection) -> None:
        self._handler.left(connection)
        with self._lock:
            del self._open[connection]
        connection.dispose()

    def _cut_off(self, now: float) -> None:
        """End the handshakes and the connections whose time is over."""
        for handshake in [h for h in self._handshakes if now > h.deadline]:
            if handshake.is_refused:
                self._drop(handshake)
            else:
                seconds = f'{OPENING_SECONDS:g} s'
                self._refuse(
                    handshake,
                    HandshakeRefusal(HTTPStatus.REQUEST_TIMEOUT, f'no request within {seconds}'),
                )
        for connection in self.connections:
            if connection.is_overdue(now):
                connection.abort()

    def _forget(self, handshake: _Handshake) -> None:
        self._handshakes.pop(handshake, None)
        self._selector.unregister(handshake.connection.link)

    def _drop(self, handshake: _Handshake) -> None:
        self._forget(handshake)
        handshake.connection.dispose()


__all__ = [
    'MAX_CONNECTIONS', 'MAX_HANDSHAKES', 'MAX_HANDSHAKES_PER_PEER', 'OPENING_SECONDS', 'Handler',
    'PortTaken', 'WebSocketServer',
]  # fmt: skip
