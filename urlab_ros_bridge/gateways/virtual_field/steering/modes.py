# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The names by which a client asks for something to steer: `character_mode`."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping

from urlab_ros_bridge.gateways.virtual_field.errors import BadMessage
from urlab_ros_bridge.gateways.virtual_field.protocol.envelope import shown

# The published page knows no others; here they mean two arms of whatever world is there.
STOCK_MODES = ('two-cr', 'demo-spline')


def modes_of(world: str, robots: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    """
    Return each mode of a world and the robots it means.

    >>> modes_of('fleet', ['rover_1', 'rover_2'])['rover_2']
    ('rover_2',)
    """
    every = tuple(robots)
    return (
        {prefix: (prefix,) for prefix in every}
        | dict.fromkeys(STOCK_MODES, every)
        | {world: every}
    )


def robots_of(mode: str, modes: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """
    Return the robots of a mode.

    :raises BadMessage: for one that the world does not have.
    """
    if mode not in modes:
        raise BadMessage(
            'vr_client requires a backend-supported character_mode'
            + (f', not {shown(mode)}' if mode else '')
            + f'; valid here: {", ".join(modes)}'
        )
    return modes[mode]


__all__ = ['STOCK_MODES', 'modes_of', 'robots_of']
