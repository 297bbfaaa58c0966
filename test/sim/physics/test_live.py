# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The live loop: its schedule, and what follows errors."""

from types import SimpleNamespace

import pytest
from waiting import wait_until

from urlab_ros_bridge.sim.physics import live


class Clock:
    """Wall time in which nothing but sleep, and what a test adds, takes any."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        names = {'perf_counter': self.read, 'monotonic': self.read, 'sleep': self.sleep}
        monkeypatch.setattr(live, 'time', SimpleNamespace(**names))

    def read(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


@pytest.mark.parametrize(('stall', 'written_off'), [(0.9, 0.0), (1.3, 1.3)])
def test_a_stall_is_caught_up_or_written_off_and_time_never_runs_ahead(
    rig, monkeypatch, stall, written_off
):
    engine, clock, leads = rig(mode='live').engine, Clock(monkeypatch), []
    period = engine.world.model.opt.timestep

    def note():
        clock.now += period / 10  # that a step takes
        leads.append(engine.clock.stamp_ns / 1e9 - clock.now)
        if len(leads) == 100:
            clock.now += stall
        engine.run.draining = len(leads) == 1000

    engine.hooks.after_step.append(note)
    live.LiveLoop(engine).run()
    assert max(leads) - leads[0] < period
    assert leads[0] - leads[100] > stall - 2 * period
    assert leads[0] - leads[-1] == pytest.approx(written_off, abs=2 * period)


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
