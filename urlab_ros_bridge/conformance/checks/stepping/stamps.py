# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""time, sim_time and wall_time."""

from __future__ import annotations

import time
from typing import Any

from urlab_ros_bridge.conformance.check import check
from urlab_ros_bridge.conformance.check import EVERY
from urlab_ros_bridge.conformance.check import PROTOCOL
from urlab_ros_bridge.conformance.check import PUPPET
from urlab_ros_bridge.conformance.fields import close
from urlab_ros_bridge.conformance.fields import field
from urlab_ros_bridge.conformance.peer import Peer
from urlab_ros_bridge.conformance.verdict import expect
from urlab_ros_bridge.conformance.verdict import skip

REPLY = 'Reply'
NS = 1_000_000_000
# Seconds whose nanoseconds are awkward: 0.3 and 4.35 lie just below theirs as binary floats.
TIMES = (0.042, 0.1 + 0.2, 0.3, 4.35, 1.000000001, 12.345678901, 0.999999999)


def nanoseconds(reply: dict[str, Any], name: str) -> int:
    """Return a {sec, nsec} block as nanoseconds."""
    sec = field(reply, f'{name}/sec', 'integer')
    nsec = field(reply, f'{name}/nsec', 'integer')
    expect(0 <= nsec < NS, f'{name}.nsec from 0 to 999999999', nsec)
    return int(sec) * NS + int(nsec)


@check('stamp.blocks', PROTOCOL, REPLY, 'ROS-Time-aligned {sec, nsec} blocks', modes=EVERY)
def blocks(peer: Peer) -> None:
    """sim_time and wall_time are maps of whole sec and nsec, nsec below 1e9."""
    reply = peer.call('step')
    nanoseconds(reply, 'sim_time')
    nanoseconds(reply, 'wall_time')


@check(
    'stamp.sim_time', PROTOCOL, REPLY, 'mirrors time at nanosecond precision', modes=EVERY,
)  # fmt: skip
def sim_time(peer: Peer) -> None:
    """sim_time is time, to the nanosecond."""
    for _ in range(3):
        reply = peer.call('step')
        expected = field(reply, 'time', 'number') * 1e9
        close('sim_time in ns', nanoseconds(reply, 'sim_time'), expected, 1.5)


@check(
    'stamp.nanoseconds', PROTOCOL, REPLY, 'at nanosecond precision', modes=PUPPET,
)  # fmt: skip
def precise(peer: Peer) -> None:
    """sim_time keeps every nanosecond of a pushed time."""
    for value in TIMES:
        stamp = nanoseconds(peer.call('step', time=value), 'sim_time')
        close(f'sim_time of {value!r} s in ns', stamp, value * 1e9, 1.0)


@check(
    'stamp.rounded', PROTOCOL, REPLY, 'mirrors time at nanosecond precision', modes=PUPPET,
    stock='the fraction is truncated',
)  # fmt: skip
def rounded(peer: Peer) -> None:
    """sim_time is the nearest nanosecond: 0.3 s is 300000000 ns, not 299999999."""
    for value in TIMES:
        stamp = nanoseconds(peer.call('step', time=value), 'sim_time')
        expect(stamp == round(value * 1e9), f'{round(value * 1e9)} ns for {value!r} s', stamp)


@check(
    'stamp.wall_time', PROTOCOL, REPLY, 'the publish moment in unix epoch', modes=EVERY,
)  # fmt: skip
def wall_time(peer: Peer) -> None:
    """wall_time is the moment of the reply, since 1970."""
    before = time.time_ns()
    stamp = nanoseconds(peer.call('step'), 'wall_time')
    after = time.time_ns()
    slack = NS // 100 if peer.places.local else 3600 * NS
    if not before - slack <= stamp <= after + slack:
        expect(False, f'between {before} and {after} ns', stamp)


@check('stamp.wall_time_moves', PROTOCOL, REPLY, 'latency measurement', modes=EVERY)
def wall_time_moves(peer: Peer) -> None:
    """wall_time of a later reply is later."""
    first = nanoseconds(peer.call('step'), 'wall_time')
    time.sleep(0.005)
    second = nanoseconds(peer.call('step'), 'wall_time')
    expect(0 < second - first < 60 * NS, 'a later wall_time', f'{second - first} ns later')


@check('stamp.moves_with_steps', PROTOCOL, REPLY, 'time is mjData->time', modes=('direct',))
def moves_with_steps(peer: Peer) -> None:
    """time is MuJoCo's: the sum of the timesteps since the reset."""
    if peer.timestep <= 0:
        raise skip('the model has no timestep')
    reply = peer.call('step', n_steps=13)
    close('time after 13 steps', reply['time'], 13 * peer.timestep, 1e-7)
