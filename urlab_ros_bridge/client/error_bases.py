# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The two bases of the client's errors; `errors` has them all."""

from __future__ import annotations

from urlab_ros_bridge.wire.errors import ERROR_CODES
from urlab_ros_bridge.wire.errors import UrlabError


class ClientError(UrlabError):
    """Base of everything that a client raises by itself."""


class RemoteError(ClientError):
    """
    The server answered with an error reply.

    :ivar code: the error code of the wire, for example ``'unknown_keyframe'``.
    :ivar message: the server's text (may be empty: some servers leave it out).
    :ivar op: the op that failed (an error reply does not name it).
    """

    code = ''

    def __init__(self, code: str, message: str, op: str) -> None:
        self.code = code
        self.message = message
        self.op = op
        detail = message or ERROR_CODES.get(code, 'the server gave no message')
        super().__init__(f'{op}: {code}: {detail}')
