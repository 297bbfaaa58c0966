# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A reset resets: no command from before it, of any kind, moves the robot after it."""

from functools import partial

from action_msgs.msg import GoalStatus
from bridge_harness import wait_until
from builtin_interfaces.msg import Duration
from bundled_server import client_of
from bundled_server import start_server
from control_msgs import action
from control_msgs.msg import GripperCommand
import pytest
from sensor_msgs.msg import JointState
from simulation_interfaces.srv import ResetSimulation
from trajectory_msgs.msg import JointTrajectory
from trajectory_msgs.msg import JointTrajectoryPoint
from urlab_msgs.srv import Reset

MODEL = """
<mujoco><worldbody><body name="trunk">
<geom type="box" size="0.1 0.1 0.1" pos="0 0 1"/>
<body pos="0 0.3 1"><joint name="arm" axis="0 0 1" damping="1"/><geom size="0.1"/></body>
<body pos="0 0.6 1"><joint name="finger" type="slide" damping="9"/><geom size="0.1"/></body>
<body pos="0 0.9 1"><joint name="wheel" damping="1"/><geom size="0.1"/></body></body></worldbody>
<actuator><position name="arm" joint="arm" kp="20"/><position name="finger" joint="finger" kp="5"/>
<velocity name="wheel" joint="wheel" kv="1"/></actuator></mujoco>
"""
FOLLOW = 'joint_trajectory_controller/follow_joint_trajectory'


@pytest.fixture(scope='module')
def lasting_robot(tmp_path_factory, keep_all, lasting_bridged):
    folder = tmp_path_factory.mktemp('robot')
    (folder / 'robot.xml').write_text(MODEL)
    (folder / 'scene.xml').write_text('<mujoco/>')
    (folder / 'robot.yaml').write_text(
        'scene: scene.xml\narticulations: [{prefix: bot, model: robot.xml}]\n'
    )
    server = keep_all(start_server(model=folder / 'robot.yaml', cameras='off'))
    options = {'grippers': ['hand:finger'], 'gripper_stall_timeout': 60.0}
    bridge, listener = lasting_bridged(server, **options)
    other = keep_all(client_of(server, shared=True))
    wait_until(lambda: bridge.settled)
    return bridge, listener, other


@pytest.fixture
def robot(lasting_robot, monkeypatch):
    """Return bridge, listener and another client; replies to the bridge's resets are late."""
    bridge, _, _ = lasting_robot
    reset, counters = bridge.link.client.reset, bridge.stream.counters

    def late(*arguments, **options):
        result = reset(*arguments, **options)
        ticks = counters.ticks + 20
        wait_until(lambda: counters.ticks > ticks, every=0.001)
        return result

    monkeypatch.setattr(bridge.link.client, 'reset', late)
    return lasting_robot


def goal_of(listener, kind, topic, **fields):
    """Send a goal, and return the future of its result."""
    client = listener.action(kind, topic)
    handle = listener.outcome(partial(client.send_goal_async, kind.Goal(**fields)))
    assert handle.accepted
    return listener.run(handle.get_result_async)


def ctrl(client):
    return client.step().articulations['bot'].ctrl.tolist()  # in live mode it reads


def by_service(kind, name, **fields):
    def reset(listener, other):
        response = listener.call(kind, name, **fields)
        assert getattr(response, 'success', True), response

    return reset


RESETS = {
    'reset': by_service(Reset, '/reset'),
    'reset of time': by_service(Reset, '/reset', time=True),
    'standard reset of the state': by_service(ResetSimulation, '/reset_simulation', scope=2),
    'standard reset': by_service(ResetSimulation, '/reset_simulation'),
    'reset by another client': lambda listener, other: other.reset(keep_time=True),
    'reset of time by another client': lambda listener, other: other.reset(),
}


@pytest.mark.parametrize('reset', RESETS.values(), ids=RESETS)
def test_no_command_from_before_a_reset_moves_the_robot_after_it(robot, reset):
    _, listener, other = robot
    point = JointTrajectoryPoint(positions=[3.0], time_from_start=Duration(sec=6))
    path = JointTrajectory(joint_names=['arm'], points=[point])
    results = [
        goal_of(listener, action.FollowJointTrajectory, FOLLOW, trajectory=path),
        goal_of(
            listener,
            action.GripperCommand,
            'hand/gripper_cmd',
            command=GripperCommand(position=0.9),
        ),
    ]
    wheels = listener.publisher(JointState, 'joint_commands')
    wheels.publish(JointState(name=['wheel'], velocity=[2.0]))
    wait_until(lambda: ctrl(other)[0] > 0.1 and 0.0 not in ctrl(other))
    reset(listener, other)
    end = other.status().sim_time_ns + 500_000_000  # speeds are renewed several times before
    seen = []
    wait_until(lambda: seen.append(ctrl(other)) or other.status().sim_time_ns > end)
    assert seen == [[0.0] * 3] * len(seen)
    wait_until(lambda: all(result.done() for result in results))
    assert {each.result().status for each in results} == {GoalStatus.STATUS_ABORTED}
