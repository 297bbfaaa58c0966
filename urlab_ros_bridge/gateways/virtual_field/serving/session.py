# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The session of one client, from its first message to its last."""

from __future__ import annotations

from collections.abc import Callable
import contextlib
import logging
import threading
import time

from websockets.exceptions import ConnectionClosed

from urlab_ros_bridge.gateways.virtual_field.errors import BadMessage
from urlab_ros_bridge.gateways.virtual_field.protocol.envelope import Envelope
from urlab_ros_bridge.gateways.virtual_field.protocol.envelope import read_envelope
from urlab_ros_bridge.gateways.virtual_field.protocol.hello import Hello
from urlab_ros_bridge.gateways.virtual_field.protocol.hello import PUBLISHER
from urlab_ros_bridge.gateways.virtual_field.protocol.hello import read_hello
from urlab_ros_bridge.gateways.virtual_field.protocol.hello import SPECTATOR
from urlab_ros_bridge.gateways.virtual_field.protocol.hello import VR_CLIENT
from urlab_ros_bridge.gateways.virtual_field.protocol.publishing import PUBLICATIONS
from urlab_ros_bridge.gateways.virtual_field.serving.client import WebXrClient
from urlab_ros_bridge.wire.errors import UrlabError

_LOG = logging.getLogger(__name__)

# Share of one processor for messages of clients; beyond it they are delayed.
CPU_SHARE = 0.2
# Of all clients but publishers (bytes); it bounds what decoding a message costs.
MAX_SMALL = 1 << 16
# Of publishers; larger messages are answered with an error, up to the second limit, beyond which
# the connection is closed.
MAX_LARGE, MAX_READ = 4 << 20, 12 << 20
_BURST = 0.1  # s of processor time that may be used at once


class ReadingShare:
    """
    Limits the processor time for messages to `CPU_SHARE`, shared equally by those who exceed it.

    Well-behaved clients need hardly any of it, and never wait.  Thread-safe.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting = 0

    def pay(self, spent: float) -> None:
        """Wait until this much processor time (s) is available."""
        with self._lock:
            self._waiting += 1
            part = CPU_SHARE / self._waiting
        try:
            time.sleep(spent / part)
        finally:
            with self._lock:
                self._waiting -= 1


class WebXrSession:
    """One client's messages, one after the other."""

    def __init__(
        self,
        client: WebXrClient,
        begin: Callable[[WebXrClient, Hello], None],
        handle: Callable[[WebXrClient, Envelope], None],
        share: ReadingShare,
    ) -> None:
        """
        Prepare.

        :param begin: starts the session of the client, after ending its previous one, and replies.
        :param handle: executes a message after the hello; its type is allowed for the role.  Both
            raise UrlabError with the reason for the client.
        """
        self._client = client
        self._begin = begin
        self._execute = handle
        self._share = share
        self._debt = 0.0
        self._paid_at = time.monotonic()

    def run(self) -> None:
        """Serve messages until the client disconnects."""
        with contextlib.suppress(ConnectionClosed):
            for message in self._client.connection.messages():
                began = time.thread_time()
                self._handle_message(message)
                self._slow_down(time.thread_time() - began)

    def _handle_message(self, message: str | bytes) -> None:
        client = self._client
        if client.page is not None and isinstance(message, bytes):
            try:
                client.page.receive(message)
            except ConnectionClosed:
                raise
            except Exception:
                _LOG.exception('%s: the page failed on a message', client.connection.peer)
            return
        data = message.encode() if isinstance(message, str) else message
        try:
            if len(data) > MAX_SMALL and client.role != PUBLISHER:
                raise BadMessage(
                    f'a message of {len(data)} bytes; only publishers may exceed {MAX_SMALL}'
                )
            if len(data) > MAX_LARGE:
                raise BadMessage(f'a message of {len(data)} bytes, more than {MAX_LARGE}')
            self._answer(read_envelope(data))
        except UrlabError as error:
            client.refuse(str(error))
        except ConnectionClosed:
            raise
        except Exception:
            _LOG.exception('%s: the gateway failed on a message', client.connection.peer)
            client.refuse('the gateway failed; see its log')

    def _answer(self, envelope: Envelope) -> None:
        client = self._client
        if envelope.type == 'hello':
            self._begin(client, read_hello(envelope.payload))
            return
        if client.hello is None:
            raise BadMessage('hello required first')
        if envelope.type not in REQUESTS[client.role]:
            raise BadMessage(_unsupported(client.role, envelope.type))
        self._execute(client, envelope)

    def _slow_down(self, spent: float) -> None:
        """Delay a client that exceeds its share; its socket applies back-pressure."""
        now = time.monotonic()
        self._debt = max(0.0, self._debt - (now - self._paid_at) * CPU_SHARE) + spent
        self._paid_at = now
        if self._debt > _BURST:
            self._share.pay(self._debt - _BURST)
            self._debt, self._paid_at = _BURST, time.monotonic()


# Role -> what it may send after its hello.
REQUESTS = {
    VR_CLIENT: ('xr_input', 'heartbeat', 'reset'),
    SPECTATOR: ('heartbeat',),
    PUBLISHER: (*PUBLICATIONS, 'heartbeat'),
}


def _unsupported(role: str, kind: str) -> str:
    name = kind if len(kind) <= 64 else f'{kind[:64]}...'
    if role == SPECTATOR:
        return f'{name} unsupported for spectator role'
    if role == PUBLISHER:
        return f'unsupported publisher message type: {name}'
    return f'unsupported type: {name}'


__all__ = ['MAX_READ', 'REQUESTS', 'ReadingShare', 'WebXrSession']
