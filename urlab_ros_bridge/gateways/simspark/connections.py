# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Framed S-expressions over TCP: two ports, whose clients may be hostile.

Everything runs on the event loop of one thread, that of the cycle.  Sending never waits, and
reading stops while something that a client has sent is not carried out: no client costs more
memory than one message and one read, or more time than its turn.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator
from collections.abc import Mapping
import contextlib
import logging
import os
import socket
import time
from typing import Protocol

from urlab_ros_bridge.gateways.errors import PortTaken
from urlab_ros_bridge.gateways.simspark.errors import MalformedExpression
from urlab_ros_bridge.gateways.simspark.errors import MessageTooLong
from urlab_ros_bridge.gateways.simspark.wire.expressions import Expression
from urlab_ros_bridge.gateways.simspark.wire.expressions import read
from urlab_ros_bridge.gateways.simspark.wire.framing import frame
from urlab_ros_bridge.gateways.simspark.wire.framing import FrameReader
from urlab_ros_bridge.limited_log import LimitedLog

_LOG = logging.getLogger(__name__)

# Limit of one port; later clients are rejected.
MAX_CLIENTS = 64
# Limit of one message; an agent sends thirty.
MAX_EXPRESSIONS = 256
# Parsed, "()" takes thirty times its size.
MAX_LISTS = 4096
# An agent that has sent nothing for this time gives its place away once all are taken (s).
SILENT_SECONDS = 30.0
BACKLOG = 128
_READ = 1 << 14
_ACCEPTING_SECONDS = 1.0
# What the system buffers for a client that does not read.
_SEND_BUFFER = 1 << 19


class ClientHandler(Protocol):
    """
    Serves the clients of one port; all methods are called in the thread of the cycle.

    :cvar speaks_first: whether a client that sends nothing is of no use.
    """

    speaks_first: bool

    def connected(self, connection: Connection) -> None:
        """Register a new client."""

    def received(self, connection: Connection, expressions: list[Expression]) -> Iterator[None]:
        """Execute one message; yield between commands, where other clients have their turn."""

    def disconnected(self, connection: Connection) -> None:
        """Unregister a client, which has disconnected."""


class Connection(asyncio.BufferedProtocol):
    """
    A client of one of the ports.

    What the socket does not accept of one message is buffered; until it is sent, further messages
    to this client are dropped whole.  So the stream keeps its framing, and a client that never
    reads costs no more than its buffer.

    :ivar peer: address, for logs.
    :ivar dropped: number of messages that it did not get.
    """

    def __init__(self, port: Port) -> None:
        self._port = port
        self._reader = FrameReader()
        self._chunk = bytearray(_READ)
        self._messages: deque[bytes] = deque()
        self._work: Iterator[None] | None = None
        self._transport: asyncio.Transport | None = None
        self._flushed = True
        self._silent_since: float | None = time.monotonic()
        self.peer = '?'
        self.dropped = 0

    @property
    def is_open(self) -> bool:
        """Return whether messages can reach it."""
        return self._transport is not None and not self._transport.is_closing()

    @property
    def is_clear(self) -> bool:
        """Return whether a message would be sent now."""
        return self._flushed and self.is_open

    @property
    def is_silent(self) -> bool:
        """Return whether it has sent nothing since it came, `SILENT_SECONDS` ago."""
        since = self._silent_since
        return since is not None and time.monotonic() - since >= SILENT_SECONDS

    def send(self, payload: bytes) -> bool:
        """
        Send one message, its length in front, or drop it; return whether it is on its way.

        An empty payload is not sent: clients take it for the end of the stream.
        """
        if not payload or self._transport is None or self._transport.is_closing():
            return False
        if not self._flushed:
            self.dropped += 1
            return False
        self._transport.write(frame(payload))
        return True

    def close(self) -> None:
        """End the connection; safe to call twice."""
        if self._transport is not None:
            self._transport.abort()

    def turn(self) -> bool:
        """Execute the next command that this client has sent; return whether more are waiting."""
        if self._work is None and self._messages:
            payload = self._messages.popleft()
            self._work = self._port.handler.received(self, self._parse(payload))
        work, self._work = self._work, None
        if work is not None and next(work, self) is not self:
            self._work = work
        if self._work is not None or self._messages:
            return True
        if self._transport is not None:
            self._transport.resume_reading()
        else:
            self._leave()
        return False

    def _parse(self, payload: bytes) -> list[Expression]:
        """Return the expressions of a message; of one that is invalid none, and log it."""
        try:
            if payload.count(b'(') > MAX_LISTS:
                raise MalformedExpression(f'more than {MAX_LISTS} lists')
            expressions = read(payload)
            if len(expressions) > MAX_EXPRESSIONS:
                raise MalformedExpression(
                    f'{len(expressions)} expressions; at most {MAX_EXPRESSIONS} are accepted'
                )
        except MalformedExpression as error:
            self._port.log.warning('%s: ignored a message: %s', self.peer, error)
            return []
        return expressions

    # Called by asyncio.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Set the socket up, or reject the client when the port is full."""
        assert isinstance(transport, asyncio.Transport)
        link = transport.get_extra_info('socket')
        address = transport.get_extra_info('peername') or ('?', 0)
        self.peer = f'{address[0]}:{address[1]} on the {self._port.name} port'
        if not self._port.has_room():
            self._port.log.warning(
                '%s: rejected, %d clients are already connected', self.peer, MAX_CLIENTS
            )
            transport.abort()
            return
        transport.set_write_buffer_limits(high=0)
        link.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        link.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)
        self._transport = transport
        self._port.connections[self] = None
        self._port.handler.connected(self)

    def connection_lost(self, error: Exception | None) -> None:
        """Forget the client, after what it sent before a reset is executed."""
        if self._transport is None:
            return
        if error is None:
            self._messages.clear()
            self._work = None
        elif not self._messages:
            # Sending has failed before reading: a client that closes with messages unread.
            with contextlib.suppress(OSError):
                self._receive(os.read(self._transport.get_extra_info('socket').fileno(), _READ))
        self._transport = None
        if not self._messages and self._work is None:
            self._leave()

    def _leave(self) -> None:
        if self in self._port.connections:
            del self._port.connections[self]
            self._port.handler.disconnected(self)

    def get_buffer(self, sizehint: int) -> bytearray:
        """Return where the next bytes go."""
        return self._chunk

    def buffer_updated(self, nbytes: int) -> None:
        """Accept bytes; nothing more is read until what they complete is executed."""
        self._silent_since = None
        self._receive(self._chunk[:nbytes])
        if self._messages and self._transport is not None:
            self._transport.pause_reading()

    def _receive(self, data: bytes | bytearray) -> None:
        try:
            self._messages += filter(None, self._reader.feed(data))
        except MessageTooLong as error:
            self._port.log.warning('%s: %s; closing the connection', self.peer, error)
            self.close()
            return
        if self._messages:
            self._port.ready(self)

    def pause_writing(self) -> None:
        """Note that part of a message is not sent yet."""
        self._flushed = False

    def resume_writing(self) -> None:
        """Note that everything is sent."""
        self._flushed = True


class Port:
    """One listening port, its handler and its clients."""

    def __init__(self, name: str, handler: ClientHandler, ports: Ports) -> None:
        self.name = name
        self.handler = handler
        self.connections: dict[Connection, None] = {}  # oldest first
        self.log = LimitedLog(_LOG)
        self.ready = ports.ready

    def has_room(self) -> bool:
        """Return whether one more client is served; a silent one is disconnected for it."""
        present = [connection for connection in self.connections if connection.is_open]
        if len(present) < MAX_CLIENTS:
            return True
        silent = [each for each in present if self.handler.speaks_first and each.is_silent]
        for connection in silent[:1]:
            self.log.warning('%s: disconnected, it has sent nothing', connection.peer)
            connection.close()
        return bool(silent)


class Ports:
    """
    The listening ports, and the turns of their clients.

    :param ports: name -> port, 0 for a free one; `advice` explains, by name, how a user chooses
        another.
    """

    def __init__(self, bind: str, ports: Mapping[str, int], advice: Mapping[str, str]) -> None:
        self._bind = bind.strip('[]')
        self._wanted = dict(ports)
        self._advice = advice
        self._listeners: dict[str, socket.socket] = {}
        self._ready: deque[Connection] = deque()
        self._ports: list[Port] = []
        self._servers: list[asyncio.Server] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._interrupted = False

    def bind(self) -> None:
        """
        Bind the ports; clients wait until `start`.

        :raises PortTaken: when one is not available; then none is kept.
        """
        family = socket.AF_INET6 if ':' in self._bind else socket.AF_INET
        for name, port in self._wanted.items():
            try:
                self._listeners[name] = socket.create_server(
                    (self._bind, port), family=family, backlog=BACKLOG
                )
            except OSError as error:
                self.unbind()
                raise PortTaken(self._bind, port, error, self._advice[name]) from error

    def unbind(self) -> None:
        """Release the ports; safe to call twice."""
        for listener in self._listeners.values():
            listener.close()
        self._listeners.clear()

    def number(self, name: str) -> int:
        """Return a bound port."""
        number: int = self._listeners[name].getsockname()[1]
        return number

    async def start(self, handlers: Mapping[str, ClientHandler]) -> None:
        """Accept clients."""
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        for name, handler in handlers.items():
            port = Port(name, handler, self)
            self._ports.append(port)
            server = await self._loop.create_server(
                lambda port=port: Connection(port),  # type: ignore[misc]
                sock=self._listeners[name],
                backlog=BACKLOG,
            )
            self._servers.append(server)

    async def stop(self) -> None:
        """End all connections, those that are being accepted too."""
        # asyncio leaves a connection open whose server is closed before it is set up.
        this, latest = asyncio.current_task(), time.monotonic() + _ACCEPTING_SECONDS
        while (accepting := asyncio.all_tasks() - {this}) and time.monotonic() < latest:
            await asyncio.wait(accepting, timeout=_ACCEPTING_SECONDS)
        for server in self._servers:
            server.close()
        for port in self._ports:
            for connection in list(port.connections):
                connection.close()
        await asyncio.sleep(0)

    def interrupt(self) -> None:
        """Let `wait` and `serve` return at once from now on; from any thread."""
        self._interrupted = True
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._news.set)

    def ready(self, connection: Connection) -> None:
        """Queue a client that has sent something."""
        self._ready.append(connection)
        self._news.set()

    def turn(self) -> bool:
        """Execute the next command of the client whose turn it is; return whether one waited."""
        if not self._ready:
            return False
        connection = self._ready.popleft()
        more = True
        try:
            more = connection.turn()
        finally:  # what raises is done with, and what follows it is executed
            if more:
                self._ready.append(connection)
        return True

    async def wait(self, seconds: float) -> None:
        """Receive and send until a client has sent something, at most for `seconds`."""
        if self._ready or seconds <= 0 or self._loop is None or self._interrupted:
            await asyncio.sleep(0)
            return
        self._news.clear()
        timer = self._loop.call_later(seconds, self._news.set)
        await self._news.wait()
        timer.cancel()

    async def serve(self, until: float, at_most: float) -> None:
        """
        Execute what clients send until a moment, by `time.monotonic`.

        :param at_most: seconds beyond now that commands without end may take.
        """
        latest = max(until, time.monotonic() + at_most)
        await self.wait(0)
        while (now := time.monotonic()) < latest and not self._interrupted:
            if self.turn():
                continue
            if now >= until:
                return
            await self.wait(until - now)


__all__ = [
    'MAX_CLIENTS',
    'MAX_EXPRESSIONS',
    'ClientHandler',
    'Connection',
    'Ports',
]
