# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
TLS in front of a gateway: decrypts, and hands plain sockets over.

A gateway writes with `sendmsg` and lets the kernel time out, which encrypted sockets of Python
cannot.  So a thread relays each connection to one end of a pair of sockets, and the gateway has
the other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
import contextlib
import logging
import socket
import ssl
import threading

_LOG = logging.getLogger(__name__)

# Connections that are relayed at once; a gateway takes fewer.
MAX_RELAYS = 256
HANDSHAKE_SECONDS = 5.0
_CHUNK = 1 << 16

# Takes a socket, address and port of the peer, and the address at which it arrived.
HandOver = Callable[[socket.socket, tuple[str, int], str], None]


class TlsFront:
    """Accepts connections of a listener, in its own thread."""

    def __init__(
        self, listener: socket.socket, context: ssl.SSLContext, hand_over: HandOver, name: str
    ) -> None:
        self._listener = listener
        self._context = context
        self._hand_over = hand_over
        self._relays: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        self._stopping = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name=f'{name}-tls', daemon=True)

    def start(self) -> None:
        """Let peers in."""
        self._thread.start()

    def stop(self) -> None:
        """Disconnect all peers; safe to call twice."""
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join()

    def _run(self) -> None:
        with contextlib.closing(self._loop):
            self._loop.run_until_complete(self._serve())

    async def _serve(self) -> None:
        server = await asyncio.start_server(
            self._relay,
            sock=self._listener,
            ssl=self._context,
            ssl_handshake_timeout=HANDSHAKE_SECONDS,
            ssl_shutdown_timeout=1.0,
            limit=_CHUNK,
        )
        await self._stopping.wait()
        server.close()
        # The relays, and handshakes of TLS that have not ended.
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._relays) >= MAX_RELAYS:
            writer.transport.abort()
            return
        task = asyncio.current_task()
        if task is not None:
            self._relays.add(task)
            task.add_done_callback(self._relays.discard)
        theirs, ours = socket.socketpair()
        peer, here = writer.get_extra_info('peername'), writer.get_extra_info('sockname')
        inner: asyncio.StreamWriter | None = None
        try:
            plain, inner = await asyncio.open_connection(sock=ours, limit=_CHUNK)
            self._hand_over(theirs, (peer[0], peer[1]), here[0])
            await asyncio.gather(_pump(reader, inner), _pump(plain, writer))
        except (OSError, ssl.SSLError) as error:
            _LOG.debug('%s: %s', peer, error)
        finally:
            writer.transport.abort()
            if inner is not None:
                inner.transport.abort()


async def _pump(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    """Pass bytes on; a target that does not take them holds the source up."""
    while data := await source.read(_CHUNK):
        target.write(data)
        await target.drain()
    if target.can_write_eof():
        target.write_eof()
    else:  # TLS knows no half of an end
        target.close()
        await target.wait_closed()


__all__ = ['TlsFront']
