# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""State of the simulation, reset and steps, over DDS; the server tells whether it is true."""

from bridge_harness import wait_until
from simulation_interfaces import msg
from simulation_interfaces import srv

STOPPED, PLAYING, PAUSED, QUITTING, NO_WORLD = range(5)
SET = srv.SetSimulationState.Response
FAILED = msg.Result.RESULT_OPERATION_FAILED


def go(yard, state):
    return yard.ask('set_simulation_state', state=msg.SimulationState(state=state)).result.result


def now(yard):
    return yard.well('get_simulation_state').state.state


def reach(yard, state):
    assert go(yard, state) in (msg.Result.RESULT_OK, SET.ALREADY_IN_TARGET_STATE)
    assert now(yard) == state


def test_states_of_the_simulation_and_their_transitions(yard):
    reach(yard, PLAYING)
    wait_until(lambda: yard.client.status().sim_time_ns > 0)
    assert go(yard, PLAYING) == SET.ALREADY_IN_TARGET_STATE
    assert go(yard, PAUSED) == msg.Result.RESULT_OK and now(yard) == PAUSED
    status = yard.client.status()
    assert status.paused and status.sim_time_ns > 0
    assert go(yard, STOPPED) == msg.Result.RESULT_OK and now(yard) == STOPPED
    status = yard.client.status()
    assert status.paused and status.sim_time_ns == 0
    wait_until(lambda: yard.bridge.timeline.stamp_ns == 0)
    assert go(yard, STOPPED) == SET.ALREADY_IN_TARGET_STATE
    # To be paused from the start makes no step.
    assert go(yard, PAUSED) == msg.Result.RESULT_OK and now(yard) == PAUSED
    assert yard.client.status().sim_time_ns == 0
    assert go(yard, PLAYING) == msg.Result.RESULT_OK and now(yard) == PLAYING
    assert not yard.client.status().paused


def test_the_state_is_paused_while_another_client_steps(yard):
    reach(yard, PLAYING)
    yard.client.set_mode('direct')
    try:
        assert now(yard) == PAUSED
        assert go(yard, PLAYING) == SET.STATE_TRANSITION_ERROR
    finally:
        yard.client.set_mode('live')
    wait_until(lambda: now(yard) == PLAYING)


def test_steps_are_taken_only_when_paused(yard):
    reach(yard, PLAYING)
    refused = yard.ask('step_simulation', steps=1).result
    assert refused.result == FAILED and 'playing' in refused.error_message
    assert now(yard) == PLAYING
    for start in (STOPPED, PAUSED):
        reach(yard, start)
        before = yard.client.status().sim_time_ns
        yard.well('step_simulation', steps=250)
        after = yard.client.status()
        assert after.sim_time_ns - before == 250 * 2_000_000 and after.paused
        timeline = yard.bridge.timeline
        wait_until(lambda now=after.sim_time_ns, line=timeline: line.stamp_ns == now)
        assert now(yard) == PAUSED
    for wrong in (0, 2**64 - 1):
        assert yard.ask('step_simulation', steps=wrong).result.result == FAILED


def test_a_reset_of_the_state_keeps_the_time_and_a_full_one_begins_an_epoch_at_zero(yard):
    reach(yard, PAUSED)
    yard.well('step_simulation', steps=10)
    timeline, before = yard.bridge.timeline, yard.client.status().sim_time_ns
    epoch = timeline.epoch
    for scope, time_ns in ((srv.ResetSimulation.Request.SCOPE_STATE, before), (0, 0)):
        yard.client.set_entity_state('ball', pos=(5, 5, 5))
        yard.well('reset_simulation', scope=scope)
        assert yard.client.status().sim_time_ns == time_ns
        assert yard.client.get_entities(['ball'])['ball'].pos.tolist() == [3, 0, 1]
    wait_until(lambda: (timeline.epoch, timeline.stamp_ns) == (epoch + 1, 0))


def test_steps_on_a_stock_server(small_server, bridged):
    server = small_server(extensions=())
    bridge, listener = bridged(server)
    wait_until(lambda: bridge.link.state.connected, 20.0)
    state = msg.SimulationState(state=STOPPED)
    answer = listener.call(srv.SetSimulationState, '/set_simulation_state', state=state).result
    assert answer.result == msg.Result.RESULT_OK, answer
    assert (server.paused, server.now) == (True, 0)
    done = listener.call(srv.StepSimulation, '/step_simulation', steps=3).result
    assert done.result == msg.Result.RESULT_OK, done
    assert server.now == 6_000_000 and (server.mode, server.paused) == ('live', True)


def test_states_and_scopes_that_cannot_be_requested(yard):
    before = now(yard)
    assert go(yard, QUITTING) == msg.Result.RESULT_FEATURE_UNSUPPORTED
    assert go(yard, NO_WORLD) == go(yard, 77) == SET.INCORRECT_TRANSITION
    assert yard.ask('reset_simulation', scope=8).result.result == FAILED
    assert now(yard) == before
