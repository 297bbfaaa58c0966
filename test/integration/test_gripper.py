# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Grippers that close on a box and on nothing."""

from pathlib import Path
import shutil

from action_msgs.msg import GoalStatus
from bridge_harness import start_bridged
from bridge_harness import wait_until
from bundled_server import start_server
from control_msgs import action
from control_msgs import msg
import pytest
from sensor_msgs.msg import JointState
from simulations import send_goal

# A finger on each side of a box of 40 mm; 0 is closed, 0.05 is wide open.
HAND = Path(__file__).with_name('hand')
BOX = '<geom type="box" size="0.02 0.02 0.02" mass="0.1"/>'


@pytest.fixture
def hand(keep, tmp_path):
    """Return a function: inside of the hand, action, parameters -> what `send_goal` wants."""

    def start(box, kind, name, **parameters):
        shutil.copytree(HAND, tmp_path / 'hand')
        model = tmp_path / 'hand' / 'hand.xml'
        model.write_text(model.read_text().format(box=box))
        server = keep(start_server(model=model.with_suffix('.yaml')))
        _, listener = start_bridged(keep, server, **parameters)
        listener.wait_for(JointState, '/joint_states')
        return listener, listener.action(kind, name)

    return start


def command(position, max_effort=0.0):
    wanted = msg.GripperCommand(position=position, max_effort=max_effort)
    return action.GripperCommand.Goal(command=wanted)


def test_on_a_box_it_stalls_and_no_tick_presses_harder_than_it_may(hand):
    action_of_hand = hand(
        BOX, action.GripperCommand, '/hand/gripper_cmd', gripper_stall_speed=0.003
    )
    states = action_of_hand[0].received['/joint_states']
    for most in (10.0, 3.0):
        assert send_goal(*action_of_hand, command(0.05)).result.reached_goal
        wait_until(lambda: states and max(map(abs, states[-1].effort)) < 0.5)  # it has opened
        count = len(states)
        response = send_goal(*action_of_hand, command(0.0, max_effort=most))
        assert response.status == GoalStatus.STATUS_SUCCEEDED
        assert response.result.stalled and not response.result.reached_goal
        assert response.result.position == pytest.approx(0.02, abs=0.004)
        wait_until(lambda count=count: len(states) > count + 50)
        efforts = [abs(effort) for state in states[count:] for effort in state.effort]
        # The servos can do 30 N; fingers that bounce off are pressed a little harder.
        assert 0.5 * most < max(efforts) <= 1.1 * most
    assert [abs(each) for each in states[-1].effort] == pytest.approx([3.0, 3.0], abs=0.5)


@pytest.mark.distro  # the action and its message
def test_a_parallel_gripper_takes_its_joints_by_name(hand):
    Parallel = action.ParallelGripperCommand
    action_of_hand = hand('', Parallel, '/hand/parallel_gripper_cmd', gripper_allow_stalling=False)

    def send(names, positions):
        state = JointState(name=names, position=positions)
        return send_goal(*action_of_hand, Parallel.Goal(command=state))

    response = send(['right_finger', 'left_finger'], [0.04, 0.03])
    assert response.status == GoalStatus.STATUS_SUCCEEDED
    assert response.result.state.name == ['left_finger', 'right_finger']
    assert list(response.result.state.position) == pytest.approx([0.03, 0.04], abs=0.006)
    assert send(['thumb'], [0.0]) is None
    response = send([], [0.09])
    assert response.status == GoalStatus.STATUS_ABORTED and response.result.stalled
