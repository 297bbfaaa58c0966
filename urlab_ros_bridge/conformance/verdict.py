# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
How a check ends: it returns when the rule holds, and raises what this module has when not.

`Failed` has what was expected and what arrived, `Skipped` why this server cannot be asked.
"""

from __future__ import annotations

from urlab_ros_bridge.wire.errors import UrlabError


class Failed(UrlabError):
    """A rule does not hold."""

    def __init__(self, expected: object, got: object) -> None:
        self.expected, self.got = str(expected), got if isinstance(got, str) else repr(got)
        super().__init__(f'expected {self.expected}, got {self.got}')


class Skipped(UrlabError):
    """A rule cannot be tried on this server; the message gives the reason."""


def expect(condition: object, expected: object, got: object) -> None:
    """
    Demand a condition.

    :raises Failed: when it does not hold.
    """
    if not condition:
        raise Failed(expected, got)


def equal(what: str, got: object, expected: object) -> None:
    """
    Demand that two values are equal.

    :raises Failed: when they are not; `what` names the value.
    """
    if got != expected:
        raise Failed(f'{what} == {expected!r}', got)


def skip(reason: str) -> Skipped:
    """Return the exception of a rule that cannot be tried."""
    return Skipped(reason)
