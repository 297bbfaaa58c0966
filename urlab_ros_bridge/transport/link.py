# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Requests through shared memory where the server offers it, otherwise over ZeroMQ.

The handshake, editor ops and what is too large for a region go over ZeroMQ (Protocol Reference,
"Transports").  An op whose reply was too large has been carried out: the bundled server keeps the
reply, so the repetition over ZeroMQ does not carry it out twice.
"""

from __future__ import annotations

import logging
from pathlib import Path
import time

from urlab_ros_bridge.transport.errors import ConnectionLost
from urlab_ros_bridge.transport.errors import ProtocolError
from urlab_ros_bridge.transport.errors import RequestTimeout
from urlab_ros_bridge.transport.errors import ShmUnavailable
from urlab_ros_bridge.transport.keys import ClientKeys
from urlab_ros_bridge.transport.requester import Requester
from urlab_ros_bridge.transport.shm.client import ShmRequester
from urlab_ros_bridge.transport.sockets import is_local
from urlab_ros_bridge.wire.encoding.codec import unpack
from urlab_ros_bridge.wire.errors import MalformedRegion
from urlab_ros_bridge.wire.errors import RegionUnavailable
from urlab_ros_bridge.wire.errors import UnknownName
from urlab_ros_bridge.wire.errors import WireError
from urlab_ros_bridge.wire.ops import EDITOR_ONLY
from urlab_ros_bridge.wire.ops import OPS
from urlab_ros_bridge.wire.ops import PRE_SESSION_OPS

TRANSPORTS = ('zmq', 'shm', 'auto')
# Field of hello and of its reply, and the extension: a pair of regions for this client alone.
CHANNEL = 'shm_channel'
_ZMQ_ONLY = frozenset(PRE_SESSION_OPS) | {
    name for name, op in OPS.items() if op.category == EDITOR_ONLY
}
# Checking the server's lock costs a twentieth of a fast request: not within so many seconds of the
# last reply.  No server is restarted within this time.
_QUIET = 0.02
_ERROR_BYTES = 1024
_REFUSALS = ('reply_too_large', 'wrong_transport')
_LOG = logging.getLogger(__name__)


class _NotOffered(Exception):
    """Why a server's shared memory is not used."""


class RequestLink:
    """
    Both ways to one server; the interface is that of `Requester`.

    :ivar shm: the pair of regions in use, None while everything goes over ZeroMQ.
    """

    def __init__(
        self, endpoint: str, host: str, transport: str, keys: ClientKeys | None = None
    ) -> None:
        """
        Prepare; only ZeroMQ is used before `attach`.

        :param transport: ``zmq``; ``shm``; ``auto``: shared memory when the server is on this
            machine and offers a pair of regions for this client alone.
        :raises UnknownName: for another name.
        """
        if transport not in TRANSPORTS:
            raise UnknownName('transport', transport, TRANSPORTS)
        self.endpoint = endpoint
        self.shm: ShmRequester | None = None
        self._is_wanted = transport == 'shm' or (transport == 'auto' and is_local(host))
        self._is_required = transport == 'shm'
        self._requester = Requester(endpoint, keys)
        self._too_large: set[tuple[str, int]] = set()
        self._last_reply = 0.0
        self._is_reported = False

    @property
    def hello_fields(self) -> dict[str, bool]:
        """Fields that a hello needs in addition."""
        return {CHANNEL: True} if self._is_wanted else {}

    def attach(self, directory: str, channel: object, *, has_channels: bool) -> None:
        """
        Use the shared memory of a handshake.

        :param directory: its `shm_session_dir`.
        :param channel: name of the pair of regions for this client, None if there is none.
        :param has_channels: whether the server has the extension `CHANNEL`.
        :raises ShmUnavailable: when there is none, and it was requested by name.
        """
        if not self._is_wanted:
            return
        if channel is None and has_channels and self.shm is not None:
            return  # the handshake of a world that has begun; the pair outlives worlds
        self.detach()
        try:
            self.shm = self._open(directory, channel, has_channels)
        except (RegionUnavailable, MalformedRegion, _NotOffered) as error:
            if self._is_required:
                raise ShmUnavailable(str(error)) from error
            _LOG.log(
                logging.DEBUG if self._is_reported else logging.INFO,
                'requests go over ZeroMQ: %s', error,
            )  # fmt: skip
            self._is_reported = True
            return
        self._last_reply = time.monotonic()

    def detach(self) -> None:
        """Go back to ZeroMQ."""
        if self.shm is not None:
            self.shm.close()
            self.shm = None
        self._too_large.clear()

    def exchange(self, op: str, frame: bytes, timeout: float) -> bytes:
        """
        Send `frame` and return the reply, see `Requester.exchange`.

        :raises ProtocolError: when the server's shared memory is damaged.
        """
        shm = self._usable(op, frame)
        if shm is None:
            return self._requester.exchange(op, frame, timeout)
        began = time.monotonic()
        try:
            reply = shm.exchange(op, frame, timeout)
        except RequestTimeout as error:
            # A stock server drops what does not fit, and numbers no replies: a late one could be
            # taken for another request's.
            if isinstance(error, ConnectionLost) or not shm.is_numbered:
                self.detach()
            raise
        except MalformedRegion as error:
            self.detach()
            raise ProtocolError(f'{op}: the reply cannot be read: {error}') from error
        self._last_reply = time.monotonic()
        if len(reply) < _ERROR_BYTES and _is_refused(reply):
            self._too_large.add((op, len(frame)))
            left = max(timeout - (self._last_reply - began), 0.1)
            return self._requester.exchange(op, frame, left)
        return reply

    def cancel(self) -> None:
        """Make a running and every later exchange fail soon; may be called from any thread."""
        self._requester.cancel()
        shm = self.shm
        if shm is not None:
            shm.cancel()

    def close(self) -> None:
        """Drop both connections."""
        self.detach()
        self._requester.close()

    def _open(self, directory: str, channel: object, has_channels: bool) -> ShmRequester:
        """Open the pair of this client, or the only one of a stock server."""
        if not directory or not Path(directory).is_absolute():
            raise _NotOffered('the server offers no shared memory')
        if has_channels:
            if not isinstance(channel, str) or not channel.isalnum():
                raise _NotOffered('the server has no free channel')
            return ShmRequester(Path(directory), channel)
        if not self._is_required:
            raise _NotOffered('all clients of this server share one pair of regions')
        return ShmRequester(Path(directory))

    def _usable(self, op: str, frame: bytes) -> ShmRequester | None:
        """Return the pair of regions if this request can go through it."""
        shm = self.shm
        if shm is None or op in _ZMQ_ONLY or len(frame) > shm.capacity:
            return None
        if self._too_large and (op, len(frame)) in self._too_large:
            return None
        if time.monotonic() - self._last_reply > _QUIET and not shm.is_alive:
            self.detach()
            return None
        return shm


def _is_refused(reply: bytes) -> bool:
    """Return whether a small reply refuses the op over shared memory."""
    if not any(code.encode() in reply for code in _REFUSALS):
        return False
    try:
        message = unpack(reply)
    except WireError:
        return False
    return message.get('op') == 'error' and message.get('code') in _REFUSALS
