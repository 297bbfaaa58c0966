# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The action simulate_steps: feedback after each step, cancel, and one goal at a time."""

from bridge_harness import wait_until
import pytest
from simulation_interfaces import action
from simulation_interfaces import msg

pytestmark = pytest.mark.distro
SUCCEEDED, CANCELED, ABORTED = 4, 5, 6
LONG = 1_000_000


@pytest.fixture
def steps(yard):
    """Return a function: steps, list for feedback -> handle of an accepted goal."""
    listener = yard.listener
    client = listener.action(action.SimulateSteps, 'simulate_steps')

    def send(count, received):
        def take(message):
            feedback = message.feedback
            received.append((feedback.completed_steps, feedback.remaining_steps))

        goal = action.SimulateSteps.Goal(steps=count)
        handle = listener.outcome(lambda: client.send_goal_async(goal, feedback_callback=take))
        assert handle.accepted
        return handle

    yield send
    listener.run(client.destroy)


def result_of(yard, handle):
    answer = yard.listener.outcome(handle.get_result_async)
    return answer.status, answer.result.result


def pause(yard):
    yard.ask('set_simulation_state', state=msg.SimulationState(state=2))
    assert yard.client.status().paused


def test_each_step_has_its_feedback(yard, steps):
    pause(yard)
    before, received = yard.client.status().sim_time_ns, []
    status, result = result_of(yard, steps(20, received))
    assert (status, result.result) == (SUCCEEDED, msg.Result.RESULT_OK), result
    assert yard.client.status().sim_time_ns - before == 20 * 2_000_000
    assert yard.client.status().paused
    # Feedback may be lost on its way.
    assert received and received == sorted(set(received))
    assert set(received) <= {(done, 20 - done) for done in range(1, 21)}


def test_a_cancelled_goal_ends_after_a_whole_step(yard, steps):
    pause(yard)
    before = yard.client.status().sim_time_ns
    received = []
    handle = steps(LONG, received)
    wait_until(lambda: received)
    yard.listener.run(handle.cancel_goal_async)
    status, result = result_of(yard, handle)
    assert status == CANCELED and 'cancelled after' in result.error_message
    done = int(result.error_message.split()[2])
    assert 0 < done < LONG
    assert yard.client.status().sim_time_ns - before == done * 2_000_000


@pytest.mark.parametrize(('state', 'count', 'word'), [(1, 5, 'playing'), (2, 0, 'steps is 0')])
def test_invalid_goals_are_aborted_with_the_reason(yard, steps, state, count, word):
    yard.ask('set_simulation_state', state=msg.SimulationState(state=state))
    status, result = result_of(yard, steps(count, []))
    assert (status, result.result) == (ABORTED, msg.Result.RESULT_OPERATION_FAILED)
    assert word in result.error_message
