# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""How users choose the heights of a map; needs no MuJoCo, unlike the rest of this package."""

from __future__ import annotations

import math

AUTO, SCANNER, ROBOT = 'auto', 'scanner', 'robot'


def numbers(text: str, separator: str, counts: tuple[int, ...]) -> tuple[float, ...]:
    """
    Return the finite numbers of a text; empty when their count is wrong.

    >>> numbers('0.1:0.6', ':', (1, 2)), numbers('1,2', ',', (4,))
    ((0.1, 0.6), ())
    """
    try:
        found = tuple(float(word) for word in text.split(separator))
    except ValueError:
        return ()
    return found if len(found) in counts and all(map(math.isfinite, found)) else ()


def height_problem(text: str) -> str:
    """Return what is wrong with a choice of heights, empty when it is valid."""
    if text in (AUTO, SCANNER, ROBOT):
        return ''
    found = numbers(text, ':', (1, 2))
    if not found:
        return (
            f'must be {AUTO}, {SCANNER}, {ROBOT}, a number, or two numbers separated by ":", '
            f'not {text!r}'
        )
    return f'must go from a lower to a higher number, not {text!r}' if found[0] > found[-1] else ''
