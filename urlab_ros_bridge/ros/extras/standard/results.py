# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Results of the standard, and the errors that become them."""

from __future__ import annotations

from urlab_ros_bridge.ros.link.connection import NOT_CONNECTED
from urlab_ros_bridge.ros.link.connection import OBSERVE_ONLY
from urlab_ros_bridge.ros.services.base import code_and_text
from urlab_ros_bridge.ros.services.base import E_STOP
from urlab_ros_bridge.ros.services.base import LOCKSTEP
from urlab_ros_bridge.wire.errors import UrlabError

# simulation_interfaces/msg/Result.
UNSUPPORTED = 0
OK = 1
NOT_FOUND = 2
INCORRECT_STATE = 3
FAILED = 4
_UNSUPPORTED = frozenset({'unknown_op', 'not_in_editor', 'wrong_transport'})
_NOT_FOUND = frozenset({'replay_session_not_found'})
_INCORRECT_STATE = frozenset(
    {
        'bad_mode',
        'mode_locked_by_server',
        'no_active_manager',
        'not_ready',
        'recording_already_active',
        'recording_not_active',
        'replay_requires_stepped',
        'session_expired',
        E_STOP,
        LOCKSTEP,
        NOT_CONNECTED,
        OBSERVE_ONLY,
    }
)


class StandardRejected(UrlabError):
    """A request that is turned down, with its result: one of the above, or of a service."""

    def __init__(self, result: int, message: str) -> None:
        super().__init__(message)
        self.result = result


def result_of(code: str) -> int:
    """
    Return what an error code of the wire, or of the bridge, is in the standard.

    >>> result_of('unknown_body'), result_of('unknown_op'), result_of('step_timeout')
    (2, 0, 4)
    """
    if code in _UNSUPPORTED:
        return UNSUPPORTED
    if code in _INCORRECT_STATE:
        return INCORRECT_STATE
    return NOT_FOUND if code in _NOT_FOUND or code.startswith('unknown_') else FAILED


def to_result(error: Exception) -> tuple[int, str]:
    """Return the result for an error, and its text, which begins with its code."""
    if isinstance(error, StandardRejected):
        return error.result, str(error)
    code, text = code_and_text(error)
    return result_of(code), with_code(code, text)


def with_code(code: str, text: str) -> str:
    """
    Put a code in front of a text that may hold it already.

    >>> with_code('bad_mode', 'set_mode: bad_mode: it is locked')
    'bad_mode: it is locked'
    """
    return f'{code}: {text.rpartition(f"{code}: ")[2]}'
