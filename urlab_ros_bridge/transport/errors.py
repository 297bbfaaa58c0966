# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Errors of the client's end of a transport.

Their base is that of all errors of the client, which `urlab_ros_bridge.client.errors` lists.
"""

from __future__ import annotations

from urlab_ros_bridge.wire.errors import UrlabError


class ClientError(UrlabError):
    """Base of all errors that a client raises itself."""


class NotConnected(ClientError):
    """An op that needs a session was called before `connect`, or after `close`."""

    def __init__(self, op: str) -> None:
        super().__init__(f'{op}: no session; call connect() first (only meta works without one)')


class RequestTimeout(ClientError, TimeoutError):
    """
    No reply arrived in time.

    The server may still have carried out the request.  The client can be used at once, and a late
    reply is never taken for the answer to another request.
    """

    def __init__(self, op: str, endpoint: str, seconds: float) -> None:
        super().__init__(f'{op}: no reply from {endpoint} within {seconds:g} s')


class ConnectionLost(RequestTimeout):
    """The connection broke while a reply was awaited, so none can arrive."""

    def __init__(self, op: str, endpoint: str) -> None:
        ClientError.__init__(self, f'{op}: {endpoint} closed the connection before it replied')


class KeysRejected(ConnectionLost):
    """The keys of client and server do not match, or only one of them has keys."""

    def __init__(self, op: str, endpoint: str, reason: str) -> None:
        ClientError.__init__(self, f'{op}: {endpoint} {reason}')


class ShmUnavailable(ClientError):
    """Shared memory was requested by name, but cannot be used with this server."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"{reason}; transport='auto' falls back to ZeroMQ")


class ProtocolError(ClientError):
    """The server sent a reply that does not follow the protocol."""


class StreamClosed(ClientError):
    """A stream was used after it was closed."""

    def __init__(self, endpoint: str) -> None:
        super().__init__(f'the stream from {endpoint} is closed')


class StreamEnded(StreamClosed):
    """The server that wrote a stream into shared memory has exited; a new one writes elsewhere."""

    def __init__(self, endpoint: str) -> None:
        ClientError.__init__(
            self, f'the server of {endpoint} has exited; open the stream with a new handshake'
        )
