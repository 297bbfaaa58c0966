# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
What a mutant is, and the common ways to spoil a server.

A mutant is remade for every test, because some remember what they have seen.
"""

from collections.abc import Callable
from dataclasses import dataclass

from proxy import Fault


@dataclass(frozen=True)
class Mutant:
    """
    :ivar caught_by: the check that must fail.
    :ivar related: patterns of checks that may fail too, because they lean on the same rule.
    """

    name: str
    caught_by: str
    make: Callable[[], Fault]
    related: tuple[str, ...] = ()


def mutant(caught_by, *related):
    """Turn a function that makes a `Fault` into a `Mutant` of its name."""

    def add(make):
        return Mutant(make.__name__, caught_by, make, related)

    return add


def blocks(reply):
    return list((reply.get('per_articulation') or {}).values())


def on_reply(op, change):
    """Return a fault that changes the successful replies of an op in place."""

    def reply(request, answer):
        if answer.get('op') == f'{op}_ok':
            change(request, answer)
        return answer

    return Fault(reply=reply)


def on_states(change):
    """Return a fault that changes every articulation's block in place."""

    def reply(request, answer):
        for block in blocks(answer):
            change(block)
        return answer

    return Fault(reply=reply)


def other_code(code, instead):
    def reply(request, answer):
        return {**answer, 'code': instead} if answer.get('code') == code else answer

    return Fault(reply=reply)


def on_request(op, change):
    def request(message):
        if message.get('op') == op:
            change(message)
        return message

    return Fault(request=request)


def commands(message):
    return (message.get('per_articulation') or {}).values()
