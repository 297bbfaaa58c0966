# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The live loop after errors."""

from waiting import wait_until


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
