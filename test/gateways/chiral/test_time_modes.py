# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Control periods, and one robot of several moved by them on a real server."""

import time

from hypothesis import given
from hypothesis import strategies as st
import pytest
from websockets.exceptions import ConnectionClosed

from test.gateways.chiral.stock_client import connect_when_free
from urlab_ros_bridge.client.errors import NotLive
from urlab_ros_bridge.gateways.chiral.serving.lockstep import Lockstep
from urlab_ros_bridge.gateways.chiral.serving.real_time import RealTime
from urlab_ros_bridge.gateways.chiral.serving.time_mode import CommandedRobot
from urlab_ros_bridge.gateways.errors import RobotError
from urlab_ros_bridge.gateways.motion.target import Target
from urlab_ros_bridge.gateways.simulation.clocks import steps_at
from urlab_ros_bridge.gateways.simulation.robot import read_served_robot


@given(st.floats(1, 400), st.floats(0.0005, 0.0025), st.integers(1, 300))
def test_periods_never_drift_from_the_rate(rate, timestep, periods):
    passed = sum(steps_at(period, rate, timestep) for period in range(periods)) * timestep
    assert passed == pytest.approx(periods / rate, abs=timestep)


@given(st.integers(0, 10**6))
def test_a_period_is_at_least_a_step(period):
    assert steps_at(period, 5000.0, 0.002) == 1


def paced(link, prefix='rover', **more):
    stand = Target(twist=(0.0, 0.0, 0.0))
    return CommandedRobot(link, prefix, 25.0, None, lambda seen: stand, **more)


def test_in_lockstep_a_command_is_a_period_and_nothing_else_is(link, rover):
    line, other = link(rover), link(rover)
    pace = Lockstep(paced(line))
    try:
        start = pace.begin(lambda: line.reset(seed=3)).time
        first = pace.timed_state()
        assert first is pace.timed_state() and first.seen.time > start
        effects = []
        for count in (1, 2):
            drive = Target(twist=(0.5, 0.0, 0.0))
            pace.act(lambda seen, before, t=drive, n=count: [t] * n, effects.append)
        assert pace.timed_state().seen.time - first.seen.time == pytest.approx(3 * 0.04, abs=1e-6)
        assert effects == [first.stamp, pytest.approx(first.stamp + 0.04)]
        assert pace.current()[1].twist == (0.5, 0.0, 0.0)
        other.use_mode('live')  # time now passes by itself
        with pytest.raises(RobotError, match='s passed instead of'):
            pace.act(lambda seen, before: [before] * 20, effects.append)
    finally:
        pace.close()


def test_what_cannot_be_resolved_moves_nothing(link, rover):
    line = link(rover)
    pace = Lockstep(paced(line))

    def refuse(seen, before):
        raise ValueError('no')

    try:
        before = pace.timed_state()
        with pytest.raises(ValueError, match='no'):
            pace.act(refuse, lambda stamp: pytest.fail('nothing takes effect'))
        assert pace.timed_state() is before
    finally:
        pace.close()


def test_in_real_time_a_base_moves_and_the_mode_stays(link, rover):
    line, effects = link(rover), []
    pace = RealTime(paced(line))
    try:
        pace.begin(lambda: line.reset(seed=1))
        pace.act(lambda seen, before: [Target(twist=(0.5, 0.0, 0.0))], effects.append)
        while pace.timed_state().seen.articulations['rover'].qvel[0] < 0.05 or not effects:
            pass
        assert len(effects) == 1
        pace.command(Target(twist=(0.0, 0.0, 0.0)))
    finally:
        pace.close()


def test_real_time_moves_no_world_that_another_client_steps(link, rover):
    line, other = link(rover), link(rover)
    pace = RealTime(paced(line))
    try:
        other.use_mode('direct')
        before = other.forward().step
        for ask in (pace.timed_state, pace.current):
            with pytest.raises(NotLive, match='direct'):
                ask()
        pace.command(Target(twist=(0.5, 0.0, 0.0)))
        assert other.forward().step == before
        other.use_mode('live')
        assert pace.timed_state().seen.time >= 0.0
    finally:
        other.use_mode('live')
        pace.close()


def test_one_request_moves_several_robots(link, fleet):
    line = link(fleet)
    line.use_mode('direct')
    seen = line.reset()
    wanted = {
        prefix: Target(dict.fromkeys(read_served_robot(line.handshake, prefix).actuators, 0.1))
        for prefix in line.handshake.articulations
    }
    assert len(wanted) == 3
    after = line.step(wanted, 5, raw=tuple(wanted))
    assert after.time - seen.time == pytest.approx(5 * line.timestep)
    for prefix, target in wanted.items():
        assert after.articulations[prefix].ctrl == pytest.approx([0.1] * len(target.ctrl))
    line.use_mode('live')


LOCKSTEP = {'pace': 'lockstep'}


@pytest.mark.parametrize('meddle', ['live', 'step'])
def test_time_that_passes_otherwise_ends_an_episode(quadruped, gateway, urlab, meddle):
    """Somebody steps the world, or lets it run: the policy is told, and a reset takes it back."""
    other = urlab(quadruped)
    with gateway(quadruped, LOCKSTEP) as server:
        with connect_when_free(server.url) as client:
            start = client.reset()
            if meddle == 'live':
                other.set_mode('live')
                time.sleep(0.05)
            else:
                other.step(3)
            client.act(start.proprios['joint_pos'])
            with pytest.raises(ConnectionClosed, match=r'1011 .* 0\.03'):
                client.receive()
        with connect_when_free(server.url) as client:
            start = client.reset()
            client.act(start.proprios['joint_pos'])
            passed = client.observe().timestamp - start.timestamp
            assert passed == pytest.approx(1 / 30, abs=0.003)


def test_lockstep_gives_the_mode_back(quadruped, gateway, urlab):
    watcher = urlab(quadruped)
    watcher.set_mode('live')
    with gateway(quadruped, LOCKSTEP):
        assert watcher.status().mode == 'direct'
    assert watcher.status().mode == 'live'
