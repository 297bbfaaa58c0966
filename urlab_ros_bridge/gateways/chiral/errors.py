# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Errors of the Chiral gateway and client.

The protocol has no error message: what a peer did wrong reaches it as the reason of the close, so
a `PeerError` carries the close code too (RFC 6455, section 7.4.1).
"""

from __future__ import annotations

from collections.abc import Iterable

from urlab_ros_bridge.wire.errors import list_names
from urlab_ros_bridge.wire.errors import UrlabError

UNREADABLE = 1002
UNSUITABLE = 1003
INVALID_DATA = 1007
POLICY = 1008
TOO_BIG = 1009
INTERNAL = 1011
TRY_AGAIN = 1013


class ChiralError(UrlabError):
    """Base of everything that this gateway raises on purpose."""


class ProfileError(ChiralError, ValueError):
    """A profile says something that the robot or the gateway cannot do."""

    def __init__(
        self, where: str, value: object, problem: str, valid: Iterable[str] | None = None
    ) -> None:
        more = '' if valid is None else '; ' + list_names('value', valid)
        super().__init__(f'{where}: {value!r:.80} {problem}{more}')


class PeerError(ChiralError):
    """The other side broke the protocol or a rule; the connection is closed with this reason."""

    code = POLICY


class MalformedMessage(PeerError, ValueError):
    """Bytes that are no message of the protocol."""

    code = INVALID_DATA


class UnknownType(PeerError):
    """A request of a type that the server does not answer: waiting for it would never end."""

    def __init__(self, name: object, valid: Iterable[str]) -> None:
        super().__init__(f'unknown message type {name!r:.40}; valid: {", ".join(valid)}')


class BadAction(PeerError, ValueError):
    """An action of the wrong size, with values that are not finite, or with a jump."""


class NotAllowed(PeerError):
    """A viewer tried to drive."""

    def __init__(self, name: str) -> None:
        super().__init__(f'this connection may only watch: {name} is for the driver')


class GatewayBroken(PeerError):
    """The simulation failed while the gateway answered a request."""

    code = INTERNAL


class RobotError(ChiralError):
    """The simulation cannot do what the gateway needs; the message says what is missing."""


class ChiralTimeout(ChiralError, TimeoutError):
    """A server did not answer in time."""

    def __init__(self, what: str, seconds: float) -> None:
        super().__init__(f'{what}: no answer within {seconds:g} s')


class ChiralClosed(ChiralError, ConnectionError):
    """
    The server closed or refused the connection; the message holds its reason.

    :ivar code: the close code, or the HTTP status of a refusal; None when there was neither.
    """

    def __init__(self, message: str, code: int | None = None) -> None:
        super().__init__(message)
        self.code = code

    @property
    def is_verdict(self) -> bool:
        """Return whether the server objected to what it was sent; asking again is no answer."""
        return self.code in (UNREADABLE, UNSUITABLE, INVALID_DATA, POLICY, TOO_BIG)


class StaleObservation(ChiralError):
    """The newest observation is older than allowed."""

    def __init__(self, age: float, limit: float) -> None:
        super().__init__(
            f'no new observation for {age:.2f} s (allowed: {limit:g} s): the simulation '
            'stands still, or the server sends the same frame again'
        )
