# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Requests over shared memory where the server offers it, otherwise over ZMQ.

The handshake, editor ops and what is too large for a region go over ZMQ (Protocol Reference,
"Transports").  An op whose reply was too large has been carried out: the bundled server keeps the
reply, so the repetition over ZMQ does not carry it out twice.
"""

from __future__ import annotations

import logging
from pathlib import Path
import time

from urlab_ros_bridge.client.errors import ConnectionLost
from urlab_ros_bridge.client.errors import ProtocolError
from urlab_ros_bridge.client.errors import RequestTimeout
from urlab_ros_bridge.client.errors import ShmUnavailable
from urlab_ros_bridge.client.replies.handshake import Handshake
from urlab_ros_bridge.client.transports.request_socket import RequestSocket
from urlab_ros_bridge.client.transports.shm_rpc import ShmRpc
from urlab_ros_bridge.client.transports.zmq_rpc import RpcSocket
from urlab_ros_bridge.client.transports.zmtp_rpc import ZmtpRpcSocket
from urlab_ros_bridge.transport.keys import ClientKeys
from urlab_ros_bridge.wire.encoding.codec import unpack
from urlab_ros_bridge.wire.errors import MalformedRegion
from urlab_ros_bridge.wire.errors import RegionUnavailable
from urlab_ros_bridge.wire.errors import UnknownName
from urlab_ros_bridge.wire.errors import WireError
from urlab_ros_bridge.wire.ops import EDITOR_ONLY
from urlab_ros_bridge.wire.ops import OPS
from urlab_ros_bridge.wire.ops import PRE_SESSION_OPS

TRANSPORTS = ('zmq', 'shm', 'auto')
CHANNEL = 'shm_channel'
_ZMQ_ONLY = frozenset(PRE_SESSION_OPS) | {
    name for name, op in OPS.items() if op.category == EDITOR_ONLY
}
_LOCAL = ('localhost', '::1', '[::1]')
_CHECK_AFTER = 0.5  # s without a reply after which the server's life is checked first
_ERROR_BYTES = 1024
_LOG = logging.getLogger(__name__)


class RpcLink:
    """
    The two ways to one server; the interface is that of `RequestSocket`.

    :ivar shm: the pair in use, None while everything goes over ZMQ.
    """

    def __init__(
        self, endpoint: str, host: str, transport: str, keys: ClientKeys | None = None
    ) -> None:
        """
        Prepare; only ZMQ is used before `attach`.

        :param transport: ``zmq``, ``shm``, or ``auto``: shared memory when the server is here.
        :raises UnknownName: for another name.
        """
        if transport not in TRANSPORTS:
            raise UnknownName('transport', transport, TRANSPORTS)
        self.endpoint = endpoint
        self.shm: ShmRpc | None = None
        self._wanted = transport == 'shm' or (transport == 'auto' and is_local(host))
        self._needed = transport == 'shm'
        self._socket: RequestSocket = (
            ZmtpRpcSocket(endpoint) if keys is None else RpcSocket(endpoint, keys)
        )
        self._too_large: set[tuple[str, int]] = set()
        self._last_reply = 0.0

    @property
    def hello_fields(self) -> dict[str, bool]:
        """Fields that a hello needs in addition."""
        return {CHANNEL: True} if self._wanted else {}

    def attach(self, handshake: Handshake) -> None:
        """
        Use the shared memory that a handshake names.

        :raises ShmUnavailable: when there is none, and it was asked for by name.
        """
        if not self._wanted:
            return
        name = handshake.raw.get(CHANNEL)
        if name is None and CHANNEL in handshake.extensions and self.shm is not None:
            return  # the handshake of a world that has begun; the pair outlives worlds
        self.detach()
        try:
            self.shm = _open(handshake, name)
        except (RegionUnavailable, MalformedRegion, ShmUnavailable) as error:
            if self._needed:
                raise ShmUnavailable(str(error)) from error
            _LOG.info('requests go over ZMQ: %s', error)
            return
        self._last_reply = time.monotonic()

    def detach(self) -> None:
        """Go back to ZMQ."""
        if self.shm is not None:
            self.shm.close()
            self.shm = None
        self._too_large.clear()

    def exchange(self, op: str, frame: bytes, timeout: float) -> bytes:
        """
        Send `frame` and return the reply, see `RequestSocket.exchange`.

        :raises ProtocolError: when the server's shared memory is damaged.
        """
        shm = self._usable(op, frame)
        if shm is None:
            return self._socket.exchange(op, frame, timeout)
        began = time.monotonic()
        try:
            reply = shm.exchange(op, frame, timeout)
        except ConnectionLost:
            self.detach()
            raise
        except RequestTimeout:
            if not shm.numbered:  # stock servers drop what does not fit
                self._too_large.add((op, len(frame)))
            raise
        except MalformedRegion as error:
            self.detach()
            raise ProtocolError(f'{op}: the reply cannot be read: {error}') from error
        self._last_reply = time.monotonic()
        if len(reply) < _ERROR_BYTES and _is_refused(reply):
            self._too_large.add((op, len(frame)))
            left = max(timeout - (self._last_reply - began), 0.1)
            return self._socket.exchange(op, frame, left)
        return reply

    def cancel(self) -> None:
        """Make a running and every later exchange fail soon; may be called from any thread."""
        self._socket.cancel()
        if self.shm is not None:
            self.shm.cancel()

    def close(self) -> None:
        """Drop both connections."""
        self.detach()
        self._socket.close()

    def _usable(self, op: str, frame: bytes) -> ShmRpc | None:
        """Return the pair if this request can go through it."""
        shm = self.shm
        if shm is None or op in _ZMQ_ONLY or len(frame) > shm.capacity or not shm.ready:
            return None
        if self._too_large and (op, len(frame)) in self._too_large:
            return None
        if time.monotonic() - self._last_reply > _CHECK_AFTER and not shm.alive:
            self.detach()
            return None
        return shm


def is_local(host: str) -> bool:
    """
    Return whether a host name certainly means this machine.

    >>> is_local('127.0.0.1'), is_local('localhost'), is_local('robot.local')
    (True, True, False)
    """
    return host in _LOCAL or host.startswith('127.')


def _open(handshake: Handshake, name: object) -> ShmRpc:
    """Open the pair of this client, or the only one of a stock server."""
    directory = handshake.shm_session_dir
    if not directory or not Path(directory).is_absolute():
        raise ShmUnavailable('the server offers no shared memory')
    if CHANNEL in handshake.extensions and not (isinstance(name, str) and name.isalnum()):
        raise ShmUnavailable('the server has no free channel')
    return ShmRpc(Path(directory), name if isinstance(name, str) else '')


def _is_refused(reply: bytes) -> bool:
    """Return whether a small reply says that the op has to go over ZMQ."""
    if b'reply_too_large' not in reply and b'wrong_transport' not in reply:
        return False
    try:
        message = unpack(reply)
    except WireError:
        return False
    return message.get('op') == 'error' and message.get('code') in (
        'reply_too_large',
        'wrong_transport',
    )


__all__ = ['RpcLink', 'is_local']
