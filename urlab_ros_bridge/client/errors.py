# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Errors of the client room.

An error reply becomes the exception class of its code (`remote_error`), so that a caller writes
``except UnknownKeyframe`` instead of comparing strings.  There is one class for each code of
`urlab_ros_bridge.wire.errors.ERROR_CODES`; a code that is not in that table gives `RemoteError`.
"""

from __future__ import annotations

from urlab_ros_bridge.client.editor_errors import *  # noqa: F403  (part of this module)
from urlab_ros_bridge.client.error_bases import ClientError
from urlab_ros_bridge.client.error_bases import RemoteError


class NotConnected(ClientError):
    """An op that needs a session was called before `connect`, or after `close`."""

    def __init__(self, op: str) -> None:
        super().__init__(f'{op}: no session; call connect() first (only meta works without one)')


class RequestTimeout(ClientError, TimeoutError):
    """
    No reply came in time.

    The server may still have carried out the request.  The client can be used at once, and a late
    reply is never taken for the answer to another request.
    """

    def __init__(self, op: str, endpoint: str, seconds: float) -> None:
        super().__init__(f'{op}: no reply from {endpoint} within {seconds:g} s')


class ConnectionLost(RequestTimeout):
    """The connection broke while a reply was awaited: it cannot come any more."""

    def __init__(self, op: str, endpoint: str) -> None:
        ClientError.__init__(self, f'{op}: {endpoint} closed the connection before it replied')


class StreamClosed(ClientError):
    """A stream was used after it was closed."""

    def __init__(self, endpoint: str) -> None:
        super().__init__(f'the stream from {endpoint} is closed')


class StreamEnded(StreamClosed):
    """The server that wrote a stream into shared memory has ended; a new one writes elsewhere."""

    def __init__(self, endpoint: str) -> None:
        ClientError.__init__(
            self, f'the server of {endpoint} has ended; open the stream with a new handshake'
        )


class CameraUnavailable(ClientError):
    """The server lists a camera but does not stream it: it has no OpenGL, or cameras are off."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f'the server does not stream the camera {name!r}; its log says why (no OpenGL?)'
        )


class ShmUnavailable(ClientError):
    """Shared memory was asked for by name, but cannot be used with this server."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"{reason}; transport='auto' goes on without")


class ProtocolError(ClientError):
    """The server sent a reply that does not follow the protocol."""


class UnsendableValue(ClientError, TypeError):
    """A request field holds something that neither msgpack nor JSON can carry."""

    def __init__(self, op: str, reason: object) -> None:
        super().__init__(f'{op}: a field cannot be encoded: {reason}')


class ModelUnavailable(ClientError):
    """The compiled model of the handshake cannot be loaded here; the message says why."""


class BadRequest(RemoteError):
    code = 'bad_request'


class MissingOp(RemoteError):
    code = 'missing_op'


class UnknownOp(RemoteError):
    code = 'unknown_op'


class NotInEditor(RemoteError):
    code = 'not_in_editor'


class NoActiveManager(RemoteError):
    code = 'no_active_manager'


class SessionExpired(RemoteError):
    code = 'session_expired'


class MissingField(RemoteError):
    code = 'missing_field'


class NotReady(RemoteError):
    code = 'not_ready'


class BadMode(RemoteError):
    code = 'bad_mode'


class BadValue(RemoteError):
    code = 'bad_value'


class UnknownArticulation(RemoteError):
    code = 'unknown_articulation'


class UnknownBody(RemoteError):
    code = 'unknown_body'


class NotMocapBody(RemoteError):
    code = 'not_mocap_body'


class UnknownKeyframe(RemoteError):
    code = 'unknown_keyframe'


class DimMismatch(RemoteError):
    code = 'dim_mismatch'


class NoJoints(RemoteError):
    code = 'no_joints'


class NoTwistController(RemoteError):
    code = 'no_twist_controller'


class NoController(RemoteError):
    code = 'no_controller'


class ControllerSchemaViolation(RemoteError):
    code = 'controller_schema_violation'


class ModeLockedByServer(RemoteError):
    code = 'mode_locked_by_server'


class RecordingAlreadyActive(RemoteError):
    code = 'recording_already_active'


class RecordingNotActive(RemoteError):
    code = 'recording_not_active'


class PathNotWritable(RemoteError):
    code = 'path_not_writable'


class PathNotReadable(RemoteError):
    code = 'path_not_readable'


class ReplaySessionNotFound(RemoteError):
    code = 'replay_session_not_found'


class ReplayRequiresStepped(RemoteError):
    code = 'replay_requires_stepped'


class StepTimeout(RemoteError, TimeoutError):
    code = 'step_timeout'


class ShuttingDown(RemoteError):
    code = 'shutting_down'


class WrongTransport(RemoteError):
    code = 'wrong_transport'


class ReplyTooLarge(RemoteError):
    code = 'reply_too_large'


class NameTaken(RemoteError):
    code = 'name_taken'


class NameInvalid(RemoteError):
    code = 'name_invalid'


class MissingAssets(RemoteError):
    code = 'missing_assets'


class InternalError(RemoteError):
    code = 'internal_error'


def remote_error(code: str, message: str, op: str) -> RemoteError:
    """
    Return the exception of an error reply.

    >>> remote_error('unknown_body', 'hook', 'read_mocap_pose')
    UnknownBody('read_mocap_pose: unknown_body: hook')
    """
    for kind in RemoteError.__subclasses__():
        if kind.code == code:
            return kind(code, message, op)
    return RemoteError(code, message, op)
