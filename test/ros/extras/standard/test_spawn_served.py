# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Spawning and deleting over DDS: the server has it, its topics are there, and errors say why."""

from functools import partial
from pathlib import Path

from action_msgs.msg import GoalStatus
from bridge_harness import wait_until
from builtin_interfaces.msg import Duration
from control_msgs import action
from control_msgs.msg import GripperCommand
from geometry_msgs.msg import Point
from geometry_msgs.msg import Pose
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Odometry
import pytest
from simulation_interfaces import msg
from simulation_interfaces import srv
from std_msgs.msg import Header
from trajectory_msgs.msg import JointTrajectory
from trajectory_msgs.msg import JointTrajectoryPoint

SPAWN = srv.SpawnEntity.Response
URDF = """
<robot name="post"><link name="world"/><link name="pole"><visual><geometry>
<box size="0.1 0.1 1"/></geometry></visual></link>
<joint name="foot" type="fixed"><parent link="world"/><child link="pole"/></joint></robot>
"""
NEEDY = '<mujoco><asset><mesh name="m" file="none.obj"/></asset></mujoco>'


pytestmark = pytest.mark.usefixtures('anew')


def at(x=0.0, y=0.0, z=0.0, frame=''):
    return PoseStamped(
        header=Header(frame_id=frame),
        pose=Pose(position=Point(x=float(x), y=float(y), z=float(z))),
    )


def spawn(yard, **fields):
    return yard.well('spawn_entity', **fields).entity_name


@pytest.mark.distro
def test_an_object_is_spawned_with_its_topic_and_deleted(yard):
    assert spawn(yard, uri='urlab:crate', name='heavy', initial_pose=at(0, 6, 0.3)) == 'heavy'
    there = yard.client.get_entities(['heavy'])['heavy']
    assert there.spawned and there.pos[:2].tolist() == pytest.approx([0, 6], abs=1e-3)
    assert 'spawned' in yard.well('get_entity_info', entity='heavy').info.tags
    found = yard.listener.wait_for(PoseStamped, '/entities/heavy/pose', timeout=15.0)
    assert found.pose.position.y == pytest.approx(6, abs=0.05)
    yard.well('delete_entity', entity='heavy')
    assert 'heavy' not in yard.client.get_entities()
    wait_until(lambda: not yard.listener.node.get_publishers_info_by_topic('/entities/heavy/pose'))


def test_a_spawned_robot_has_its_topics_and_its_controller(yard):
    name = spawn(yard, uri='urlab:rover', entity_namespace='/helper', initial_pose=at(0, -6, 0))
    assert name == 'helper'
    assert 'helper' in yard.client.handshake.articulations
    assert yard.client.handshake.articulations['helper'].twist_controller is not None
    found = yard.listener.wait_for(Odometry, '/helper/odom', timeout=15.0)
    assert found.pose.pose.position.y == pytest.approx(-6, abs=0.1)
    assert 'helper' in yard.well('get_current_world').world.description


def test_goals_of_a_deleted_robot_are_aborted(yard):
    name = spawn(yard, uri='urlab:bimanual', name='arms', initial_pose=at(0, -6, 0))
    point = JointTrajectoryPoint(positions=[0.1], time_from_start=Duration(sec=3600))
    path = JointTrajectory(joint_names=['left_elbow'], points=[point])
    follow, grip = action.FollowJointTrajectory, action.GripperCommand
    yard.client.set_paused(True)  # so that the gripper does not arrive
    results = []
    for topic, kind, goal in (
        ('joint_trajectory_controller/follow_joint_trajectory', follow, {'trajectory': path}),
        ('left_gripper/gripper_cmd', grip, {'command': GripperCommand(position=0.02)}),
    ):
        client, goal = yard.listener.action(kind, f'/{name}/{topic}'), kind.Goal(**goal)
        handle = yard.listener.outcome(partial(client.send_goal_async, goal))
        assert handle.accepted
        results.append(yard.listener.run(handle.get_result_async))
    yard.well('delete_entity', entity=name)
    yard.client.set_paused(False)
    wait_until(lambda: all(result.done() for result in results))
    assert {each.result().status for each in results} == {GoalStatus.STATUS_ABORTED}
    assert name in results[0].result().result.error_string


def test_names(yard):
    assert spawn(yard, uri='urlab:box', initial_pose=at(2, 6, 1)) == 'box'
    assert yard.ask('spawn_entity', uri='urlab:box').result.result == SPAWN.NAME_NOT_UNIQUE
    second = spawn(yard, uri='urlab:box', allow_renaming=True, initial_pose=at(3, 6, 1))
    assert second != 'box' and second in yard.client.get_entities()


@pytest.mark.parametrize(
    ('fields', 'result'),
    [
        ({}, SPAWN.NO_RESOURCE),
        ({'uri': 'urlab:box', 'name': 'no way'}, SPAWN.NAME_INVALID),
        ({'uri': 'urlab:box', 'name': 'ball'}, SPAWN.NAME_NOT_UNIQUE),
        ({'resource_string': '<mujoco><nonsense/></mujoco>'}, SPAWN.RESOURCE_PARSE_ERROR),
        ({'resource_string': NEEDY}, SPAWN.MISSING_ASSETS),
        ({'uri': 'file:///nowhere/a.xml'}, msg.Result.RESULT_NOT_FOUND),
        ({'uri': 'urlab:box', 'name': '', 'entity_namespace': 'a b'}, SPAWN.NAMESPACE_INVALID),
        ({'uri': 'urlab:box', 'initial_pose': at(frame='moon')}, SPAWN.INVALID_POSE),
    ],
)
def test_invalid_spawns_are_refused_and_leave_nothing(yard, fields, result):
    before = set(yard.client.get_entities())
    answer = yard.ask('spawn_entity', **{'name': 'x', **fields})
    assert answer.result.result == result and answer.result.error_message, answer.result
    assert answer.entity_name == '' and set(yard.client.get_entities()) == before


def test_several_spawns_are_answered_one_by_one(yard):
    resource = msg.Resource(uri='urlab:ball')
    wanted = [
        msg.SpawnEntity(name=name, entity_resource=resource, initial_pose=at(index, 8, 1))
        for index, name in enumerate(('one', 'ball', 'two'))
    ]
    answer = yard.ask('spawn_entities', spawn_requests=wanted)
    assert answer.result.result == srv.SpawnEntities.Response.ENTITIES_SPAWN_FAILED
    assert [each.result.result for each in answer.results] == [1, SPAWN.NAME_NOT_UNIQUE, 1]
    assert [each.entity_name for each in answer.results] == ['one', '', 'two']
    assert {'one', 'two'} <= set(yard.client.get_entities())


def test_a_full_reset_removes_spawned_entities_only(yard):
    spawn(yard, uri='urlab:box', name='extra', initial_pose=at(2, 6, 1))
    before = set(yard.client.get_entities())
    yard.well('reset_simulation')
    assert before - set(yard.client.get_entities()) == {'extra'}
    assert yard.client.get_entities(['ball'])['ball'].pos[:2].tolist() == [3, 0]


def test_spawnables_can_be_spawned(yard, tmp_path):
    folder = yard.folder / 'models'
    folder.mkdir()
    (folder / 'mine.urdf').write_text(URDF.replace('post', 'mine'))
    (folder / 'notes.txt').write_text('no model')
    offered = yard.well('get_spawnables', sources=[folder.as_uri()]).spawnables
    uris = {getattr(each, 'entity_resource', each).uri for each in offered}
    assert {'urlab:box', 'urlab:rover', (folder / 'mine.urdf').as_uri()} <= uris
    assert not any('notes' in uri for uri in uris) and all(each.description for each in offered)
    assert spawn(yard, uri=(folder / 'mine.urdf').as_uri()) == 'mine'
    for elsewhere in (tmp_path, folder / '../..', Path('/nowhere')):
        unknown = yard.ask('get_spawnables', sources=[f'file://{elsewhere}']).result
        assert unknown.result == msg.Result.RESULT_NOT_FOUND
