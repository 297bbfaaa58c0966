# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""One row of the table of parameters."""

from __future__ import annotations

from dataclasses import field
from typing import Any


def parameter(
    default: Any,
    text: str,
    *,
    group: str,
    name: str = '',
    low: float | None = None,
    high: float | None = None,
    choices: tuple[str, ...] = (),
    live: bool = False,
    frame: str = '',
    length: int = 0,
    topic: bool = False,
) -> Any:
    """
    Return a row of the table.

    :param low: smallest and `high` largest value that is accepted.
    :param live: it may be changed while the node runs; all others are read-only.
    :param frame: ``'required'`` or ``'optional'`` for a frame name.
    :param length: an array must have this many elements, or one negative element.
    :param topic: it is a part of topic names, relative.
    """
    return field(
        default=default,
        metadata={
            'text': text,
            'group': group,
            'name': name,
            'low': low,
            'high': high,
            'choices': choices,
            'live': live,
            'frame': frame,
            'length': length,
            'topic': topic,
        },
    )
