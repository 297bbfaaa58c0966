# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Commands expire in wall time while simulation time is frozen."""

import time
from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st
import pytest

from urlab_ros_bridge.sim.ops import commands as ops_module
from urlab_ros_bridge.sim.physics import engine as engine_module
from urlab_ros_bridge.sim.physics import live as live_module
from urlab_ros_bridge.sim.physics import run_state
from urlab_ros_bridge.sim.physics import wall_timeout as wall_timeout_module
from urlab_ros_bridge.sim.physics.wall_timeout import WallTimeout

SECONDS = 10**9


@pytest.fixture
def clock(monkeypatch):
    """Return a function that advances the wall clocks, which are frozen otherwise."""
    now = SimpleNamespace(seconds=1000.0)
    fake = SimpleNamespace(
        monotonic=lambda: now.seconds,
        perf_counter=lambda: now.seconds,
        thread_time=lambda: 0.0,
        time_ns=lambda: round(now.seconds * SECONDS),
        sleep=time.sleep,
    )
    for module in (engine_module, run_state, ops_module, live_module, wall_timeout_module):
        monkeypatch.setattr(module, 'time', fake)

    def wait(seconds):
        now.seconds += seconds
        return round(now.seconds * SECONDS)

    return wait


def speed(rover):
    return rover.ask('step', n_steps=200)['per_articulation']['rover']['qvel'][0]


@pytest.fixture
def driven(rig, clock):
    rover = rig(mode='direct')
    rover.ask('step', n_steps=100)  # it has settled on its wheels
    return rover


def drive(rover, **fields):
    rover.ask('set_twist', linear=[1, 0, 0], timeout=0.5, **fields)


@given(st.lists(st.tuples(st.floats(0, 10), st.floats(0, 10)), max_size=5), st.floats(0.1, 20))
def test_only_frozen_time_since_the_command_counts(stretches, limit):
    """The law: it lapses when the stretches behind it add up to more than the limit."""
    given_at, now, stood, wall = 3.0, 0.0, 0.0, WallTimeout(limit, 3.0)
    for moves, stands in stretches:
        since, now = now + moves, now + moves + stands
        stood += max(0.0, now - max(since, given_at))
        assert wall.is_exceeded(since, now) == (stood > limit)


@pytest.mark.parametrize(('waits', 'moves'), [(0.4, True), (0.6, False)])
def test_a_twist_expires_without_its_sender(driven, clock, waits, moves):
    drive(driven, wall_timeout=0.5)
    clock(waits)
    assert (speed(driven) > 0.5) == moves


def test_a_wrench_expires_without_its_sender(rig, clock):
    quadruped = rig(world='quadruped', paused=True)
    engine = quadruped.engine
    push = {'force': [0, 0, 9], 'duration': 1, 'wall_timeout': 0.5}
    for wait, stays in ((0.2, True), (2.0, False)):
        quadruped.ask('apply_wrench', articulation='quadruped', **push)
        clock(wait)
        engine.begin_stepping(clock(0.0) / SECONDS)
        assert bool(engine.external._wrenches) == stays
        engine.end_stepping(clock(0.0) / SECONDS)


@pytest.mark.parametrize(
    ('world', 'wait', 'stays'),
    [('rover', 0.2, True), ('rover', 2.0, False), ('quadruped', 60.0, True)],
)
def test_a_speed_expires_without_its_sender_and_a_position_does_not(
    rig, clock, world, wait, stays
):
    robot = rig(world=world, paused=True)
    control = robot.engine.controls[world]
    values = {next(iter(control.articulation.actuators)): 0.3}
    robot.ask('set_setpoints', articulation=world, values=values, wall_timeout=0.5)
    clock(wait)
    robot.ask('step', n_steps=1, while_paused=True)
    assert control.setpoints['zmq'][0] == (0.3 if stays else 0.0)


def test_a_command_that_is_stale_on_arrival_is_refused_and_changes_nothing(driven, clock):
    stale = {'wall_timeout': 0.5, 'wall_seen': clock(0.0)}
    drive(driven, **stale)
    clock(0.6)
    setpoint = {'articulation': 'rover', 'values': {driven.model.actuator(0).name: 1.0}}
    for op, fields in (
        ('set_twist', {'linear': [2, 0, 0]}),
        ('apply_wrench', {'articulation': 'rover', 'force': [1, 0, 0]}),
        ('set_setpoints', setpoint),
    ):
        assert driven.code(op, **fields, **stale) == 'stale_command'
    assert not driven.engine.controls['rover'].setpoints['zmq'].any()
    # Who stops is never too late.
    driven.ask('set_twist', **stale)
    setpoint['values'] = dict.fromkeys(setpoint['values'], 0.0)
    driven.ask('set_setpoints', **setpoint, **stale)
    drive(driven, wall_timeout=0.5, wall_seen=clock(0.0))
