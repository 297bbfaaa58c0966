# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Checks of values that several features have: names of frames and topics, deviations."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
import re
from typing import Any

from urlab_ros_bridge.schema import key

# Together with a namespace and the topics of an action it stays below the 255 of DDS.
LONGEST_NAME = 100
_TOPIC = re.compile(r'[A-Za-z]\w*(/[A-Za-z]\w*)*', re.ASCII)
# Each part of a name begins with a letter or a digit, as ZeroMQ requires; else an IPv6 address.
_HOST = re.compile(r'(?=.{1,253}$)(\w[\w-]*(\.\w[\w-]*)*|\[?[0-9A-Fa-f:.]+(%\w+)?\]?)', re.ASCII)
_FRAME = re.compile(r'[A-Za-z_][A-Za-z0-9_./-]*')


def frame_name(value: str) -> str:
    """
    Return what is wrong with the name of a frame.

    >>> frame_name('/map')
    "must be a frame name without a leading slash, not '/map'"
    """
    wanted = 'must be a frame name without a leading slash'
    return '' if _FRAME.fullmatch(value) else f'{wanted}, not {value!r}'


def frame_name_or_empty(value: str) -> str:
    """Return what is wrong with the name of a frame that may be left open."""
    return frame_name(value) if value else ''


def host_name(value: str) -> str:
    """Return what is wrong with the name or the address of a machine."""
    return (
        '' if _HOST.fullmatch(value) else f'must be a host name or an address, not {value!r:.300}'
    )


def topic_name(value: str) -> str:
    """Return what is wrong with a relative topic name, or a part of one."""
    wanted = f'must be a topic name of at most {LONGEST_NAME} characters without a leading slash'
    fits = len(value) <= LONGEST_NAME and _TOPIC.fullmatch(value)
    return '' if fits else f'{wanted}, not {value!r:.200}'


# Lower rates (Hz) would mean periods that no counter of nanoseconds holds.
LOWEST_RATE = 1e-3
# Of a covariance: its square is a finite number.
LARGEST_STDDEV = 1e6


def rate(value: float) -> str:
    """
    Return what is wrong with a rate (Hz) that 0 switches off.

    >>> rate(1e-310)
    'must be 0 or at least 0.001, not 1e-310'
    """
    wrong = 0.0 < value < LOWEST_RATE
    return f'must be 0 or at least {LOWEST_RATE:g}, not {value!r}' if wrong else ''


def rate_key(default: float, what: str) -> Any:
    """Return the key of a parameter that limits how often something is published."""
    text = f'Maximum rate of {what} (Hz of simulation time), 0: every tick.'
    return key(default, text, low=0.0, check=rate, high=10000.0, live=True)


def numbers_or_unknown(length: int) -> Callable[[Sequence[float]], str]:
    """Return the check of a list of this length, or with one negative element."""

    def check(value: Sequence[float]) -> str:
        if len(value) == length or (len(value) == 1 and value[0] < 0):
            return ''
        return f'must have {length} elements, or one negative one, not {len(value)}'

    return check


def stddev_key(default: Any, name: str, text: str, size: int = 0) -> Any:
    """
    Return the key of a parameter that is a standard deviation.

    :param size: number of its elements; 0: it is one number.
    """
    text += ' A negative value: as reported by the server for the robot, else 0 (unknown).'
    check = numbers_or_unknown(size) if size else None
    name, group = f'covariance.{name}', 'Covariances'
    return key(default, text, high=LARGEST_STDDEV, name=name, check=check, group=group)
