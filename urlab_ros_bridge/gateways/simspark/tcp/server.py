# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Ports that take framed S-expressions; one thread for all clients.

What clients send comes out as events in order, for the one thread that calls `next_event`.  Each
client may send so much between two calls of `refill`; more waits in its own socket, and so does
everything as long as what it sent before is not carried out.  So no client gets more of the
threads, or more memory, than another.
"""

from __future__ import annotations

from collections.abc import Mapping
import contextlib
from dataclasses import dataclass
from dataclasses import field
from enum import Enum
import logging
import queue
import selectors
import socket
import threading
import time

from urlab_ros_bridge.gateways.simspark.errors import MalformedExpression
from urlab_ros_bridge.gateways.simspark.errors import MessageTooLong
from urlab_ros_bridge.gateways.simspark.errors import SimSparkError
from urlab_ros_bridge.gateways.simspark.tcp.connection import Connection
from urlab_ros_bridge.gateways.simspark.tcp.limited_log import LimitedLog
from urlab_ros_bridge.gateways.simspark.wire.expressions import Expression
from urlab_ros_bridge.gateways.simspark.wire.expressions import read

_LOG = logging.getLogger(__name__)

# Of one port; later ones are turned away.
MAX_CLIENTS = 64
# What one client may send between two refills; a 20 ms cycle of an agent has one message.
BYTES_A_TURN = 1 << 14
MESSAGES_A_TURN = 64
# In a message; that of an agent has thirty.
MAX_EXPRESSIONS = 256
# Events that wait for `next_event`, and the bytes that they were; beyond, nothing more is read.
# Read, a byte may take thirty in memory: "()" is a list.
MAX_WAITING = 512
MAX_WAITING_BYTES = 1 << 18
BACKLOG = 128
_PAUSE = 0.05  # s, when the process is out of file descriptors


class SimSparkPortTaken(SimSparkError):
    """A port cannot be bound."""

    def __init__(self, bind: str, port: int, cause: OSError, advice: str) -> None:
        super().__init__(
            f'cannot bind port {port} on {bind} ({cause.strerror}): stop the program that uses '
            f'it, or choose another port with {advice}'
        )


class Happening(Enum):
    """What an event is about."""

    CONNECTED = 1
    RECEIVED = 2
    DISCONNECTED = 3


@dataclass(frozen=True, slots=True)
class Event:
    """
    Something that a client did.

    :ivar expressions: of the message that was received, at least one; `size` its bytes.
    """

    happening: Happening
    connection: Connection
    expressions: list[Expression] = field(default_factory=list)
    size: int = 0


@dataclass(slots=True)
class _Client:
    connection: Connection
    bytes_left: int = BYTES_A_TURN
    messages_left: int = MESSAGES_A_TURN
    waiting: list[bytes] = field(default_factory=list)
    writes: bool = False

    @property
    def may_send(self) -> bool:
        return self.bytes_left > 0 and self.messages_left > 0

    @property
    def interest(self) -> int:
        reads = selectors.EVENT_READ if self.may_send else 0
        return reads | (selectors.EVENT_WRITE if self.writes else 0)


class TcpServer:
    """
    Listens on named ports.

    :param ports: name -> port, 0 for a free one; `advice` explains, by name, how a user chooses
        another.
    """

    def __init__(
        self, bind: str, ports: Mapping[str, int], advice: Mapping[str, str] | None = None
    ) -> None:
        self._bind = bind.strip('[]')
        self._wanted = dict(ports)
        self._advice = dict(advice or {})
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        # Bytes of all events so far: each number is changed by one thread.
        self._bytes_put = self._bytes_taken = 0
        self._selector = selectors.DefaultSelector()
        self._listeners: dict[str, socket.socket] = {}
        self._clients: dict[Connection, _Client] = {}
        self._wake_up, self._woken = socket.socketpair()
        self._lock = threading.Lock()
        self._blocked: set[Connection] = set()
        self._refill = False
        self._starved = False
        self._stopping = False
        self._thread: threading.Thread | None = None
        self._log = LimitedLog(_LOG)

    def bind(self) -> None:
        """
        Take the ports; clients wait until `start`.

        :raises SimSparkPortTaken: when one cannot be had; then none is kept.
        """
        family = socket.AF_INET6 if ':' in self._bind else socket.AF_INET
        for name, port in self._wanted.items():
            try:
                listener = socket.create_server((self._bind, port), family=family, backlog=BACKLOG)
            except OSError as error:
                self._close_listeners()
                advice = self._advice.get(name, 'another port')
                raise SimSparkPortTaken(self._bind, port, error, advice) from error
            listener.setblocking(False)
            self._listeners[name] = listener

    def start(self) -> None:
        """Let clients in."""
        for name, listener in self._listeners.items():
            self._selector.register(listener, selectors.EVENT_READ, name)
        self._woken.setblocking(False)
        self._selector.register(self._woken, selectors.EVENT_READ, None)
        self._thread = threading.Thread(target=self._run, name='simspark-tcp', daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End all connections and let the ports go; safe to call twice."""
        self._stopping = True
        if self._thread is not None:
            self._wake()
            self._thread.join()
            self._thread = None
        self._close_listeners()

    def port(self, name: str) -> int:
        """Return a bound port."""
        number: int = self._listeners[name].getsockname()[1]
        return number

    def next_event(self, timeout: float = 0.0) -> Event | None:
        """Return the next event, None when none came within so many seconds."""
        try:
            event = self._events.get(timeout=timeout) if timeout > 0 else self._events.get_nowait()
        except queue.Empty:
            return None
        self._bytes_taken += event.size
        return event

    def refill(self) -> None:
        """Let every client send as much as it may again."""
        self._refill = True
        if self._starved:
            self._wake()

    def _close_listeners(self) -> None:
        for listener in self._listeners.values():
            listener.close()
        self._listeners.clear()

    def _wake(self) -> None:
        with contextlib.suppress(OSError):  # it may be awake, or have ended
            self._wake_up.send(b'.')

    def _wants_write(self, connection: Connection) -> None:
        with self._lock:
            self._blocked.add(connection)
        self._wake()

    def _run(self) -> None:
        while not self._stopping:
            for key, mask in self._selector.select():
                if isinstance(key.data, _Client):
                    self._serve_client(key.data, mask)
                elif key.data is not None:
                    self._accept(key.data)
                else:
                    self._flush_blocked()
            if self._refill:
                self._fill_up()
        for client in list(self._clients.values()):
            self._drop(client)
        self._selector.close()
        self._woken.close()

    def _flush_blocked(self) -> None:
        try:
            self._woken.recv(4096)
        except BlockingIOError:
            return
        with self._lock:
            blocked, self._blocked = self._blocked, set()
        for connection in blocked:
            client = self._clients.get(connection)
            if client is not None:
                client.writes = True
                self._listen(client)

    def _accept(self, port: str) -> None:
        try:
            link, address = self._listeners[port].accept()
        except BlockingIOError:
            return
        except OSError as error:
            self._log.warning('a connection to %s was not accepted: %s', port, error)
            time.sleep(_PAUSE)
            return
        peer = f'{address[0]}:{address[1]}'
        if sum(c.port == port for c in self._clients) >= MAX_CLIENTS:
            self._log.warning(
                '%s: rejected, %d clients are already connected to %s', peer, MAX_CLIENTS, port
            )
            link.close()
            return
        try:
            connection = Connection(link, port, peer, self._wants_write)
        except OSError:  # it has left already
            link.close()
            return
        client = self._clients[connection] = _Client(connection)
        self._selector.register(link, client.interest, client)
        self._events.put(Event(Happening.CONNECTED, connection))

    def _serve_client(self, client: _Client, mask: int) -> None:
        if mask & selectors.EVENT_WRITE and client.connection.flush():
            client.writes = False
            self._listen(client)
        if mask & selectors.EVENT_READ:
            self._read(client)

    def _read(self, client: _Client) -> None:
        connection = client.connection
        if self._is_full:
            client.messages_left = 0  # until the next refill
            self._starved = True
            self._listen(client)
            return
        try:
            data = connection.link.recv(client.bytes_left)
        except BlockingIOError:
            return
        except OSError:
            data = b''
        if not data:
            self._drop(client)
            return
        client.bytes_left -= len(data)
        try:
            client.waiting += connection.reader.feed(data)
        except MessageTooLong as error:
            self._log.warning('%s on the %s port: %s; closing the connection',
                              connection.peer, connection.port, error)  # fmt: skip
            self._drop(client)
            return
        self._pass_on(client)
        if not client.may_send:
            self._starved = True
            self._listen(client)

    def _pass_on(self, client: _Client) -> None:
        """Read the messages that are due into events."""
        count = client.messages_left
        due, client.waiting = client.waiting[:count], client.waiting[count:]
        client.messages_left -= len(due)
        for payload in due:
            try:
                expressions = read(payload)
                if len(expressions) > MAX_EXPRESSIONS:
                    raise MalformedExpression(
                        f'{len(expressions)} expressions; at most {MAX_EXPRESSIONS} are accepted'
                    )
            except MalformedExpression as error:
                peer, port = client.connection.peer, client.connection.port
                self._log.warning('%s on the %s port: ignored a message: %s', peer, port, error)
                continue
            if expressions:
                size = len(payload)
                self._bytes_put += size
                self._events.put(Event(Happening.RECEIVED, client.connection, expressions, size))

    @property
    def _is_full(self) -> bool:
        waiting = self._bytes_put - self._bytes_taken
        return self._events.qsize() > MAX_WAITING or waiting > MAX_WAITING_BYTES

    def _fill_up(self) -> None:
        if self._is_full:
            return  # the next refill is soon
        self._refill = self._starved = False
        for client in self._clients.values():
            if client.connection.is_busy:
                self._starved |= not client.may_send
                continue
            if client.may_send and not client.waiting:
                client.bytes_left, client.messages_left = BYTES_A_TURN, MESSAGES_A_TURN
                continue
            client.messages_left = MESSAGES_A_TURN
            self._pass_on(client)
            client.bytes_left = BYTES_A_TURN
            if client.may_send:
                self._listen(client)
            else:
                self._starved = True

    def _listen(self, client: _Client) -> None:
        """Watch the socket for what the client may do now."""
        link, interest = client.connection.link, client.interest
        watched = link in self._selector.get_map()
        if interest and watched:
            self._selector.modify(link, interest, client)
        elif interest:
            self._selector.register(link, interest, client)
        elif watched:
            self._selector.unregister(link)

    def _drop(self, client: _Client) -> None:
        connection = client.connection
        connection.close()
        if connection.link in self._selector.get_map():
            self._selector.unregister(connection.link)
        connection.link.close()
        del self._clients[connection]
        self._events.put(Event(Happening.DISCONNECTED, connection))


__all__ = [
    'MAX_CLIENTS', 'MAX_EXPRESSIONS', 'Event', 'Happening', 'SimSparkPortTaken', 'TcpServer',
]  # fmt: skip
