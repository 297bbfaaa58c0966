# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The fields `wall_timeout` and `wall_seen` (extension) of requests that keep a robot moving."""

from __future__ import annotations

import time

from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.physics.wall_timeout import WallTimeout
from urlab_ros_bridge.sim.requests.fields import Fields
from urlab_ros_bridge.wire.stamp import NANOSECONDS

MAX_SECONDS = 1e6


def read_wall_timeout(fields: Fields, moves: bool) -> WallTimeout | None:
    """
    Return how long the command of a request may wait while time is frozen; None: forever.

    `wall_seen` is the wall time in the last `sim_time` row that the client saw.  It is this
    server's own clock, so it gives the age of a request that has waited in a queue, whatever the
    client's clock says.

    :param moves: the command keeps something moving; one that stops it is never too old.
    :raises OpError: stale_command when it is older than `wall_timeout` already.
    """
    limit = fields.number('wall_timeout', low=0.0, high=MAX_SECONDS)
    seen = fields.integer('wall_seen', 0)
    if not limit or not moves:
        return None
    age = (time.time_ns() - seen) / NANOSECONDS
    if seen and age > limit:
        raise OpError(
            'stale_command',
            f'the client last received the time {age:.3f} s ago, wall_timeout is {limit:g} s',
        )
    return WallTimeout(limit, time.monotonic())
