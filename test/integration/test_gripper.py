# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Grippers that close on a box and on nothing, and those of a shipped world; the real programs."""

from functools import cache

from action_msgs.msg import GoalStatus
from bridge_harness import wait_until
from control_msgs import action
from control_msgs import msg
import pytest
from rclpy.action import ActionClient
from sensor_msgs.msg import JointState

# A finger on each side of a box of 40 mm; 0 is closed, 0.05 is wide open.
ROBOT = """
<mujoco model="hand">
  <default>
    <joint type="slide" range="0 0.06" damping="40"/>
    <position kp="400" ctrlrange="0 0.06" forcerange="-30 30"/>
  </default>
  <worldbody>
    <body name="base_link" pos="0 0 0.5">
      <geom type="box" size="0.05 0.1 0.02" pos="0 0 0.1" mass="1"/>
      <body name="left"><joint name="left_finger" axis="0 1 0"/>
        <geom type="box" size="0.01 0.005 0.03" pos="0 0.005 0" mass="0.1"/></body>
      <body name="right"><joint name="right_finger" axis="0 -1 0"/>
        <geom type="box" size="0.01 0.005 0.03" pos="0 -0.005 0" mass="0.1"/></body>
      {box}
    </body>
  </worldbody>
  <actuator>
    <position name="left_servo" joint="left_finger"/>
    <position name="right_servo" joint="right_finger"/>
  </actuator>
  <keyframe><key name="open" qpos="0.05 0.05" ctrl="0.05 0.05"/></keyframe>
</mujoco>
"""
BOX = '<geom type="box" size="0.02 0.02 0.02" mass="0.1"/>'
SIDECAR = """
scene:
articulations:
  - prefix: arm
    model: hand.xml
    gripper: {hand: [left_finger, right_finger]}
"""


@pytest.fixture(scope='module')
def hand_server(lasting_server, tmp_path_factory):
    """Return a function: inside of the hand -> its server."""

    @cache
    def start(box):
        folder = tmp_path_factory.mktemp('hand')
        (folder / 'hand.xml').write_text(ROBOT.format(box=box))
        (folder / 'hand.yaml').write_text(SIDECAR)
        return lasting_server('--model', folder / 'hand.yaml')

    return start


@pytest.fixture
def hand(hand_server, bridge_to):
    """Return a function: inside of the hand, parameters -> (listener, client of the action)."""

    def start(kind, name, box='', **parameters):
        listener = bridge_to(hand_server(box), **parameters)
        client = listener.run(lambda: ActionClient(listener.node, kind, name))
        assert client.wait_for_server(100.0)
        states = listener.listen(JointState, '/joint_states')
        wait_until(lambda: states)
        return listener, client

    return start


def run(listener, client, goal, expected=True):
    # In the thread of the executor, so that no answer comes before rclpy has noted the question.
    future = listener.run(lambda: client.send_goal_async(goal))
    wait_until(future.done)
    assert future.result().accepted is expected
    if expected:
        result = listener.run(future.result().get_result_async)
        wait_until(result.done)
        return result.result()
    return None


def command(position, max_effort=0.0):
    wanted = msg.GripperCommand(position=position, max_effort=max_effort)
    return action.GripperCommand.Goal(command=wanted)


def test_on_a_box_it_stalls_and_presses_no_harder_than_it_may(hand):
    listener, client = hand(
        action.GripperCommand, '/hand/gripper_cmd', BOX, gripper_stall_speed=0.003
    )
    assert run(listener, client, command(0.05)).result.reached_goal
    response = run(listener, client, command(0.0, max_effort=3.0))
    assert response.status == GoalStatus.STATUS_SUCCEEDED
    assert response.result.stalled and not response.result.reached_goal
    assert response.result.position == pytest.approx(0.02, abs=0.004)
    states = listener.received['/joint_states']
    count = len(states)
    wait_until(lambda: len(states) > count + 50)
    assert [abs(effort) for effort in states[-1].effort] == pytest.approx([3.0, 3.0], abs=0.5)


@pytest.mark.distro  # the action and its message
def test_a_parallel_gripper_takes_its_joints_by_name(hand):
    Parallel = action.ParallelGripperCommand
    listener, client = hand(Parallel, '/hand/parallel_gripper_cmd', gripper_allow_stalling=False)
    both = JointState(name=['right_finger', 'left_finger'], position=[0.04, 0.03])
    response = run(listener, client, Parallel.Goal(command=both))
    assert response.status == GoalStatus.STATUS_SUCCEEDED
    assert response.result.state.name == ['left_finger', 'right_finger']
    assert list(response.result.state.position) == pytest.approx([0.03, 0.04], abs=0.006)
    run(
        listener,
        client,
        Parallel.Goal(command=JointState(name=['thumb'], position=[0.0])),
        expected=False,
    )
    response = run(listener, client, Parallel.Goal(command=JointState(position=[0.09])))
    assert response.status == GoalStatus.STATUS_ABORTED and response.result.stalled


@pytest.mark.parametrize('most', [5.0, 10.0])
def test_no_tick_of_a_movement_exceeds_the_largest_effort(hand, most):
    listener, client = hand(action.GripperCommand, '/hand/gripper_cmd', BOX)
    assert run(listener, client, command(0.05)).result.reached_goal
    states = listener.received['/joint_states']
    count = len(states)
    assert run(listener, client, command(0.0, max_effort=most)).result.stalled
    efforts = [abs(effort) for state in states[count:] for effort in state.effort]
    # The servos can do 30 N; fingers that bounce off are pressed a little harder.
    assert 0.5 * most < max(efforts) <= 1.1 * most
