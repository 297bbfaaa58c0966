# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Errors of the client; those of its connections are defined in `urlab_ros_bridge.transport.errors`.

An error reply becomes the exception class of its code (`remote_error`), so that a caller writes
``except UnknownKeyframe`` instead of comparing strings.  There is a class for each code of the
table `urlab_ros_bridge.wire.errors.ERROR_CODES`, named after it; a code that is not in the table
gives `RemoteError`.
"""

from __future__ import annotations

import re
from typing import Any

from urlab_ros_bridge.schema import SchemaError
from urlab_ros_bridge.transport.errors import ClientError as ClientError
from urlab_ros_bridge.transport.errors import ConnectionLost as ConnectionLost
from urlab_ros_bridge.transport.errors import KeysRejected as KeysRejected
from urlab_ros_bridge.transport.errors import NotConnected as NotConnected
from urlab_ros_bridge.transport.errors import ProtocolError as ProtocolError
from urlab_ros_bridge.transport.errors import RequestTimeout as RequestTimeout
from urlab_ros_bridge.transport.errors import ShmUnavailable as ShmUnavailable
from urlab_ros_bridge.transport.errors import StreamClosed as StreamClosed
from urlab_ros_bridge.transport.errors import StreamEnded as StreamEnded
from urlab_ros_bridge.wire.divergence import Divergence
from urlab_ros_bridge.wire.errors import ERROR_CODES


class CameraUnavailable(ClientError):
    """The server lists a camera but does not stream it: it has no OpenGL, or cameras are off."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f'the server does not stream the camera {name!r}; see its log (no OpenGL?)'
        )


class ExtensionMissing(ClientError):
    """A call needs an extension of the protocol that this server does not have."""

    def __init__(self, op: str, extension: str) -> None:
        super().__init__(f'{op}: the server does not have the extension {extension!r}')


class MalformedReply(ProtocolError, SchemaError):
    """A field of a reply cannot be used; the message names the reply, the field and the value."""


class UnreadableHandshake(ProtocolError):
    """
    A server answered hello, but not as any version of the protocol that is known here does.

    Asking again does not help, and each hello may end the session of another client.
    """

    def __init__(self, endpoint: str, version: str, reason: object) -> None:
        super().__init__(
            f'the server at {endpoint} ({version or "of an unknown version"}) responds, but its '
            f'handshake cannot be read: {reason}'
        )


class UnsendableValue(ClientError, TypeError):
    """A request field holds something that neither msgpack nor JSON can carry."""

    def __init__(self, op: str, reason: object) -> None:
        super().__init__(f'{op}: a field cannot be encoded: {reason}')


class SimulationDiverged(ClientError):
    """
    The simulation became unstable: results since then are not those of the experiment.

    The request was carried out; see `Session` for how to get replies without this error.

    :ivar divergence: when and where.
    :ivar result: the reply to the request, a `StepResult`.
    """

    def __init__(self, op: str, divergence: Divergence, result: Any) -> None:
        self.op = op
        self.divergence = divergence
        self.result = result
        super().__init__(f'{op}: {divergence}')

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.op, self.divergence, self.result)


class ModelUnavailable(ClientError):
    """The compiled model of the handshake cannot be loaded here; the message gives the reason."""


_BY_CODE: dict[str, type[RemoteError]] = {}


class RemoteError(ClientError):
    """
    The server answered with an error reply.

    :ivar code: the error code of the wire, for example ``'unknown_keyframe'``.
    :ivar message: the server's text (may be empty: some servers leave it out).
    :ivar op: the op that failed (an error reply does not name it).
    """

    code = ''

    def __init_subclass__(cls) -> None:
        """Register the class of a code, with the docstring of the table."""
        code = re.sub('(?<=.)(?=[A-Z])', '_', cls.__name__).lower()
        if code in ERROR_CODES:
            cls.code, cls.__doc__ = code, ERROR_CODES[code]
            _BY_CODE[code] = cls

    def __init__(self, code: str, message: str, op: str) -> None:
        self.code = code
        self.message = message
        self.op = op
        detail = message or ERROR_CODES.get(code, 'the server gave no message')
        super().__init__(f'{op}: {code}: {detail}')

    def __reduce__(self) -> tuple[Any, ...]:
        # An exception is pickled by its one text; this one is made from three.
        return type(self), (self.code, self.message, self.op)


def remote_error(code: str, message: str, op: str) -> RemoteError:
    """
    Return the exception of an error reply.

    >>> remote_error('unknown_body', 'hook', 'read_mocap_pose')
    UnknownBody('read_mocap_pose: unknown_body: hook')
    """
    return _BY_CODE.get(code, RemoteError)(code, message, op)


# fmt: off
class BadRequest(RemoteError): ...
class MissingOp(RemoteError): ...
class UnknownOp(RemoteError): ...
class NotInEditor(RemoteError): ...
class NoActiveManager(RemoteError): ...
class SessionExpired(RemoteError): ...
class MissingField(RemoteError): ...
class NotReady(RemoteError): ...
class BadMode(RemoteError): ...
class BadValue(RemoteError): ...
class UnknownArticulation(RemoteError): ...
class UnknownBody(RemoteError): ...
class NotMocapBody(RemoteError): ...
class UnknownKeyframe(RemoteError): ...
class DimMismatch(RemoteError): ...
class NoJoints(RemoteError): ...
class NoTwistController(RemoteError): ...
class NoController(RemoteError): ...
class ControllerSchemaViolation(RemoteError): ...
class ModeLockedByServer(RemoteError): ...
class RecordingAlreadyActive(RemoteError): ...
class RecordingNotActive(RemoteError): ...
class PathNotWritable(RemoteError): ...
class PathNotReadable(RemoteError): ...
class ReplaySessionNotFound(RemoteError): ...
class ReplayRequiresStepped(RemoteError): ...
class StepTimeout(RemoteError, TimeoutError): ...
class ShuttingDown(RemoteError): ...
class WrongTransport(RemoteError): ...
class ReplyTooLarge(RemoteError): ...
class ControlClaimed(RemoteError): ...
class NotControlOwner(RemoteError): ...
class UnknownActor(RemoteError): ...
class ImportFailed(RemoteError): ...
class CreateLevelFailed(RemoteError): ...
class LoadLevelFailed(RemoteError): ...
class SaveLevelFailed(RemoteError): ...
class DestroyAssetFailed(RemoteError): ...
class SpawnFailed(RemoteError): ...
class DuplicateFailed(RemoteError): ...
class DestroyFailed(RemoteError): ...
class SetActorTransformFailed(RemoteError): ...
class ActorHierarchyFailed(RemoteError): ...
class GetActorBoundsFailed(RemoteError): ...
class AddQuickConvertFailed(RemoteError): ...
class RemoveQuickConvertFailed(RemoteError): ...
class InvalidCount(RemoteError): ...
class TooManyCells(RemoteError): ...
class InvalidMode(RemoteError): ...
class NoBounds(RemoteError): ...
class NoViewport(RemoteError): ...
class NameTaken(RemoteError): ...
class NameInvalid(RemoteError): ...
class MissingAssets(RemoteError): ...
class InternalError(RemoteError): ...
class NotLive(RemoteError): ...
class StaleCommand(RemoteError): ...
class EStopEngaged(RemoteError): ...
# fmt: on
