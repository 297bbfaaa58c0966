# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The live loop: its meter, and its behaviour after errors."""

import time

import pytest
from waiting import wait_until

from urlab_ros_bridge.sim.physics.live import METER_WINDOW
from urlab_ros_bridge.sim.physics.live import RealTimeMeter

SLOW = ('<mujoco><option timestep="0.5"/><worldbody><body><joint name="j" axis="0 1 0"/>'
        '<geom size="0.1"/></body></worldbody></mujoco>')  # fmt: skip


def test_the_meter_measures_over_its_window():
    meter = RealTimeMeter()
    for number in range(100):
        wall = 50.0 + 0.1 * number
        meter.sample(wall, 0.05 * number, 50 * number)
    assert (meter.real_time_factor, meter.tick_rate) == pytest.approx((0.5, 500))
    # What came before the window no longer counts, a step back begins a new measurement.
    for number in range(int(METER_WINDOW / 0.1) + 2):
        meter.sample(wall + 0.1 * number, 0.05 * 99, 50 * 99)
    assert meter.real_time_factor == 0.0
    meter.sample(100.0, 0.0, 0)
    meter.sample(100.1, 0.1, 10)
    assert meter.real_time_factor == pytest.approx(1.0)


def test_an_exception_in_the_live_loop_pauses_reports_and_allows_resuming(server, connect):
    running = server(world='quadruped')
    caller = connect(running, shared=True)
    broken = [True]

    def hook():
        if broken[0]:
            raise RuntimeError('a hook broke')

    running.simulation.engine.hooks.after_step.append(hook)
    wait_until(lambda: 'fault' in caller.ask('status'))
    status = caller.ask('status')
    assert 'a hook broke' in status['fault'] and status['paused'] is True
    broken[0] = False
    caller.ask('set_paused', paused=False)
    wait_until(lambda: caller.ask('status')['step'] > status['step'] + 1)
    assert 'fault' not in caller.ask('status')


def test_a_repeatedly_unstable_world_is_paused_with_a_fault(server, connect):
    running = server()
    caller = connect(running, shared=True)
    engine, data = running.simulation.engine, running.simulation.world.data
    speed = [1e12]
    engine.hooks.after_step.append(lambda: data.qvel.fill(speed[0]))
    wait_until(lambda: 'fault' in caller.ask('status'))
    status = caller.ask('status')
    assert status['paused'] is True and status['divergence']['quantity'] in status['fault']
    speed[0] = 0.0
    caller.ask('reset')
    status = caller.ask('status')
    assert not {'fault', 'divergence'} & status.keys() and status['paused'] is True
    caller.ask('set_paused', paused=False)
    wait_until(lambda: caller.ask('status')['step'] > 20)


def test_long_timesteps_do_not_delay_requests(server, connect, mjcf):
    running = server(model=mjcf(SLOW, 'slow'))
    caller = connect(running, shared=True)
    caller.ask('set_sim_speed', percent=5)
    wait_until(lambda: caller.ask('status')['step'] >= 2)
    # The next step is due in 10 s; raising the speed and stopping are noticed before that.
    caller.ask('set_sim_speed', percent=100)
    first = caller.ask('status')['step']
    wait_until(lambda: caller.ask('status')['step'] > first, 8.0)
    caller.ask('set_sim_speed', percent=5)
    first = caller.ask('status')['step']
    wait_until(lambda: caller.ask('status')['step'] > first)
    begun, loop = time.monotonic(), running.simulation.live
    running.stop()
    assert time.monotonic() - begun < 8.0 and not loop.is_alive()
