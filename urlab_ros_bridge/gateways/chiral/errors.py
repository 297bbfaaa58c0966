# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Errors of the Chiral gateway and client.

The protocol has no error message: what a peer did wrong reaches it as the reason of the close, so
a `PeerError` carries the close code too (RFC 6455, section 7.4.1).
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from contextlib import contextmanager

from urlab_ros_bridge.gateways.errors import GatewayError
from urlab_ros_bridge.gateways.errors import RobotError
from urlab_ros_bridge.gateways.serving import close_codes
from urlab_ros_bridge.schema import hint
from urlab_ros_bridge.schema import SchemaError
from urlab_ros_bridge.schema import shown
from urlab_ros_bridge.wire.errors import UnknownName

# Retrying does not help after these.
_OBJECTIONS = (
    close_codes.PROTOCOL_ERROR,
    close_codes.UNSUPPORTED_DATA,
    close_codes.INVALID_DATA,
    close_codes.POLICY_VIOLATION,
    close_codes.MESSAGE_TOO_BIG,
)
SHOWN = 48  # bytes to show of an invalid message


class ChiralError(GatewayError):
    """Base of everything that this gateway raises on purpose."""


class ProfileError(SchemaError, ChiralError):
    """A profile requires something that the robot or the gateway cannot do."""

    @classmethod
    def unfit(
        cls, path: str, value: object, problem: str, valid: Iterable[str] | None = None
    ) -> ProfileError:
        """
        Return the error of a value that is right alone but not for this robot.

        :param path: of the key, such as ``actions[0].site``.
        """
        more = '' if valid is None else f'; {hint(value, valid)}'
        return cls('profile', path, f'{shown(value)} {problem}{more}')


class CallableUnusable(ChiralError):
    """A task hook or a policy cannot be imported by its name."""

    def __init__(self, text: str, problem: str) -> None:
        super().__init__(f'{shown(text)} {problem}')


@contextmanager
def profile_key(path: str) -> Iterator[None]:
    """Turn errors about missing things, raised in the block, into errors of a profile key."""
    try:
        yield
    except (CallableUnusable, RobotError, UnknownName) as error:
        raise ProfileError('profile', path, str(error)) from error


class PeerError(ChiralError):
    """The other side broke the protocol or a rule; the connection is closed with this reason."""

    code = close_codes.POLICY_VIOLATION


class MalformedMessage(PeerError, ValueError):
    """Bytes that are not a message of the protocol."""

    code = close_codes.INVALID_DATA


class UnknownType(PeerError):
    """A request of a type that the server does not answer: waiting for it would never end."""

    def __init__(self, name: object, valid: Iterable[str]) -> None:
        super().__init__(f'unknown message type {name!r:.40}; valid: {", ".join(valid)}')


class BadAction(PeerError, ValueError):
    """An action of the wrong size, with values that are not finite, or with a jump."""


class NotAllowed(PeerError):
    """A viewer tried to drive."""

    def __init__(self, name: str) -> None:
        super().__init__(f'this connection is a viewer: only the driver may send {name}')


class GatewayBroken(PeerError):
    """The simulation failed while the gateway answered a request."""

    code = close_codes.INTERNAL_ERROR


class SimulationLost(PeerError):
    """The server of the simulation has ended, or another one has taken its place."""

    code = close_codes.TRY_AGAIN_LATER


class ChiralTimeout(ChiralError, TimeoutError):
    """A server did not answer in time."""

    def __init__(self, what: str, seconds: float, last: str = '') -> None:
        more = f'; the last attempt: {last}' if last else ''
        super().__init__(f'{what}: no answer within {seconds:g} s{more}')


class NotChiral(ChiralError, ConnectionError):
    """The peer at an address does not speak the protocol; the message shows what it sent."""

    def __init__(self, url: str, what: str, sent: bytes | str) -> None:
        shown = f'{sent[:SHOWN]!r}' + ('...' if len(sent) > SHOWN else '')
        super().__init__(
            f'{url} is not a Chiral server: it sent {what}, {shown}; check the port '
            '("urlab chiral" uses 8765 by default)'
        )


class ChiralClosed(ChiralError, ConnectionError):
    """
    The server closed or refused the connection; the message holds its reason.

    :ivar code: the close code, or the HTTP status of a refusal; None when there was neither.
    """

    def __init__(self, message: str, code: int | None = None) -> None:
        super().__init__(message)
        self.code = code

    @property
    def is_permanent(self) -> bool:
        """Return whether the server objected to what it was sent; retrying does not help."""
        return self.code in _OBJECTIONS


class StaleObservation(ChiralError):
    """The newest observation is older than allowed."""

    def __init__(self, age: float, limit: float) -> None:
        super().__init__(
            f'no new observation for {age:.2f} s (allowed: {limit:g} s): the simulation '
            'is frozen, or the server sends the same frame again'
        )
