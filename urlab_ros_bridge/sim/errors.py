# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Errors of the simulation."""

from __future__ import annotations

from collections.abc import Iterable

from urlab_ros_bridge.wire.errors import ERROR_CODES
from urlab_ros_bridge.wire.errors import list_names
from urlab_ros_bridge.wire.errors import UrlabError


class OpError(UrlabError):
    """An op cannot be done; `code` is the wire's error code."""

    def __init__(self, code: str, message: str = '') -> None:
        if code not in ERROR_CODES:
            raise ValueError(f'{code!r} is not an error code of the protocol')
        self.code = code
        super().__init__(message or ERROR_CODES[code])


class WorldError(UrlabError):
    """A world cannot be built: file missing, MJCF that does not compile, clashing names."""


def unknown(code: str, kind: str, name: object, valid: Iterable[str]) -> OpError:
    """Return the error of a name that does not resolve; the message lists the valid ones."""
    return OpError(code, f'{name} ({list_names(kind, valid)})')
