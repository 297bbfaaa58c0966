# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Topics of the wire that the bridge subscribes to: what its own subscribers need."""

from __future__ import annotations

from urlab_ros_bridge.wire.rows import POINTS
from urlab_ros_bridge.wire.rows import STATE_FULL_TOPIC

STATE_FULL = STATE_FULL_TOPIC.encode()
EVERYTHING = b''
# s without rows after which `auto` subscribes to snapshots: in direct mode there are no rows.
SILENCE = 1.0
_POINTS = POINTS.encode()


def needed_topics(
    dialect: str, rows: set[bytes], *, has_sim_time: bool, silent_for: float
) -> set[bytes]:
    """
    Return the prefixes to subscribe to; ``sim_time`` is always subscribed.

    :param dialect: ``auto``, ``rows`` or ``state_full``.
    :param rows: prefixes that the topics with subscribers are made of.
    :param has_sim_time: whether the server closes ticks with its sim_time row; if not, only
        state/full carries the time.
    :param silent_for: seconds without any row.

    >>> sorted(needed_topics('auto', {b'r/joint/'}, has_sim_time=True, silent_for=0.1))
    [b'r/joint/']
    """
    wanted = set() if has_sim_time else {STATE_FULL}
    # Points come beside snapshots too.
    wanted |= {row for row in rows if dialect != 'state_full' or row.startswith(_POINTS)}
    if rows and (dialect == 'state_full' or (dialect == 'auto' and silent_for > SILENCE)):
        wanted.add(STATE_FULL)
    return wanted
