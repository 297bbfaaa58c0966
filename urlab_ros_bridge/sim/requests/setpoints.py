# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The numbers of a step request that change from one request to the next.

They are vectors: `ctrl` of an articulation, and `linear` and `angular` of its twist.  Their order
is that in which they stand in the request.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from typing import Any

CTRL, TWIST = 'ctrl', 'twist'
LINEAR, ANGULAR = 'linear', 'angular'
_OF_A_TWIST = (LINEAR, ANGULAR)


def setpoints(blocks: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """
    Return prefix, name and value of each vector.

    :param blocks: `per_articulation` of a request.
    """
    for prefix, block in blocks.items():
        for key, value in block.items():
            if key == CTRL:
                yield prefix, key, value
            elif key == TWIST:
                yield from ((prefix, name, value[name]) for name in value if name in _OF_A_TWIST)


def with_setpoints(
    blocks: dict[str, Any], vectors: Iterable[Sequence[float]]
) -> dict[str, dict[str, Any]]:
    """Return `per_articulation` with other vectors in place of those that `setpoints` returns."""
    left = iter(vectors)

    def twist(fields: dict[str, Any]) -> dict[str, Any]:
        return {
            name: list(next(left)) if name in _OF_A_TWIST else value
            for name, value in fields.items()
        }

    def changed(key: str, value: Any) -> Any:
        if key == TWIST:
            return twist(value)
        return list(next(left)) if key == CTRL else value

    return {
        prefix: {key: changed(key, value) for key, value in block.items()}
        for prefix, block in blocks.items()
    }


__all__ = ['ANGULAR', 'CTRL', 'LINEAR', 'TWIST', 'setpoints', 'with_setpoints']
