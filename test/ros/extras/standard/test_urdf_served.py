# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A URDF that is spawned becomes what `urlab up --model` makes of it."""

from concurrent.futures import ThreadPoolExecutor
import os
from pathlib import Path
import re
import shutil
import threading

from geometry_msgs.msg import PoseStamped
import pytest
from sensor_msgs.msg import Imu
from sensor_msgs.msg import JointState
from simulation_interfaces import msg
from simulation_interfaces import srv
from yard import OK

from urlab_ros_bridge.ros.extras.standard import imports

trimesh = pytest.importorskip('trimesh')

INERTIA = """<inertial><mass value="1"/>
  <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>"""
MESH = '<mesh filename="package://lifter/meshes/post.stl"/>'
ARM = f"""<robot name="lifter">
<link name="base">{INERTIA}<collision><geometry><box size="0.4 0.4 0.2"/></geometry></collision>
</link>
<link name="post">{INERTIA}<visual><geometry>{MESH}</geometry></visual></link>
<link name="flange"/>
<joint name="lift" type="prismatic"><parent link="base"/><child link="post"/><axis xyz="0 0 1"/>
  <limit lower="0" upper="0.5" effort="100" velocity="1"/></joint>
<joint name="end" type="fixed"><parent link="post"/><child link="flange"/></joint>
<ros2_control name="s" type="system"><joint name="lift"><command_interface name="position"/>
  <state_interface name="position"><param name="initial_value">0.2</param></state_interface>
</joint></ros2_control>
<gazebo reference="flange"><sensor name="tilt" type="imu"><update_rate>50</update_rate></sensor>
</gazebo>
</robot>"""


MISSING = srv.SpawnEntity.Response.MISSING_ASSETS
pytestmark = pytest.mark.usefixtures('anew')


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Put the ROS package of the meshes where the bridge finds it, and the server may not read."""
    share = tmp_path / 'share' / 'lifter'
    (share / 'meshes').mkdir(parents=True)
    trimesh.creation.box((0.1, 0.1, 0.6)).export(share / 'meshes' / 'post.stl')
    marker = tmp_path / 'share/ament_index/resource_index/packages/lifter'
    marker.parent.mkdir(parents=True)
    marker.touch()
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path), prepend=':')
    return share


def test_a_robot_has_its_links_meshes_actuators_and_sensors(yard, package):
    file = package / 'lifter.urdf'
    file.write_text(ARM)
    assert yard.well('spawn_entity', uri=file.as_uri()).entity_name == 'lifter'
    handshake = yard.client.handshake
    robot, model = handshake.articulations['lifter'], handshake.model
    assert robot.actuator_types == {'lift': 'position'}
    bodies = {model.body(index).name for index in range(model.nbody)}
    assert {'lifter_base', 'lifter_post', 'lifter_flange'} <= bodies
    assert model.nmesh == 1
    joints = yard.listener.wait_for(JointState, '/lifter/joint_states')
    assert joints.name == ['lift'] and joints.position[0] == pytest.approx(0.2, abs=0.02)
    assert yard.listener.wait_for(Imu, '/lifter/imu/data').header.frame_id
    # Its lowest point is 0.1 m below its origin: it stands on the floor, unless it was put higher.
    assert yard.client.get_entities(['lifter'])['lifter'].pos[2] == pytest.approx(0.1, abs=2e-3)
    pose = PoseStamped()
    pose.pose.position.z, pose.pose.orientation.w = 1.5, 1.0
    yard.well('spawn_entity', resource_string=ARM, name='high', initial_pose=pose)
    assert yard.client.get_entities(['high'])['high'].pos[2] == pytest.approx(1.5, abs=1e-3)


@pytest.mark.parametrize(
    ('old', 'new', 'result'),
    [
        ('post.stl', 'none.stl', MISSING),
        ('//lifter/', '//lost/', MISSING),
        ('package://lifter', 'file://{share}', OK),
        ('package://lifter', 'file://{share}/../../private', MISSING),
        ('package://lifter/meshes/', '{private}/', MISSING),
        ('package://lifter/meshes/', 'package://{private}/', MISSING),
        ('package://lifter/meshes/', '{data}/link_', MISSING),
        ('package://lifter/meshes/', '{data}/pipe_', MISSING),
        ('child link="post"', 'child link="x"', srv.SpawnEntity.Response.RESOURCE_PARSE_ERROR),
    ],
)
def test_meshes_are_read_in_the_data_folder_and_in_packages_only(
    yard, package, tmp_path, old, new, result
):
    private, data = tmp_path / 'private', yard.folder
    (private / 'meshes').mkdir(parents=True)
    for folder in (private, private / 'meshes'):
        shutil.copy(package / 'meshes' / 'post.stl', folder)
    for name in ('link_post.stl', 'pipe_post.stl'):
        (data / name).unlink(missing_ok=True)
    (data / 'link_post.stl').symlink_to(private / 'post.stl')
    os.mkfifo(data / 'pipe_post.stl')
    new = new.format(share=package, private=private, data=data)
    there = yard.ask('spawn_entity', resource_string=ARM.replace(old, new), name='x').result
    assert there.result == result, there
    assert ('x' in yard.client.get_entities()) == (result == OK)
    if 'private' in new:  # a message does not tell what exists
        shutil.rmtree(private)
        gone = yard.ask('spawn_entity', resource_string=ARM.replace(old, new), name='x').result
        texts = [re.sub(r'spawned_\w+', '', each.error_message) for each in (there, gone)]
        assert gone.result == result and len(set(texts)) == 1


def test_imports_of_a_request_have_one_deadline_and_nobody_else_waits(yard, package, monkeypatch):
    deadlines, is_running, may_end = [], threading.Event(), threading.Event()

    def slow(python, request, deadline):
        deadlines.append(deadline)
        is_running.set()
        assert may_end.wait(60)
        return {'error': 'no time left'}

    monkeypatch.setattr(imports, '_import', slow)
    (yard.folder / 'spawned_by_a_killed_bridge').mkdir()
    resource = msg.Resource(resource_string=ARM)
    robots = [msg.SpawnEntity(name=f'x{index}', entity_resource=resource) for index in range(3)]
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(yard.ask, 'spawn_entities', spawn_requests=robots)
        assert is_running.wait(60)
        yard.well('reset_simulation')
        may_end.set()
        answers = waiting.result().results
    assert {answer.result.error_message for answer in answers} == {'robot.urdf: no time left'}
    assert len(deadlines) == 3 * len(set(deadlines))
    assert not list(yard.folder.glob('spawned_*'))


def test_a_server_that_cannot_read_the_data_folder_gets_the_urdf_itself(
    yard, package, tmp_path, monkeypatch
):
    make = imports.work_folder
    monkeypatch.setattr(imports, 'work_folder', lambda _, prefix: make(tmp_path, prefix))
    plain = ARM.replace(MESH, '<sphere radius="1"/>')
    assert yard.well('spawn_entity', resource_string=plain).entity_name == 'lifter'
    assert yard.client.handshake.articulations['lifter'].actuator_types == {}


LAMP = """<sdf version="1.9"><model name="lamp">
<link name="foot"><pose>0 0 0.1 0 0 0</pose><collision name="c"><geometry><box>
<size>.3 .3 .2</size></box></geometry></collision></link>
<link name="head"><pose>0 0 0.6 0 0 0</pose></link>
<joint name="neck" type="revolute"><parent>foot</parent><child>head</child>
  <axis><xyz>0 1 0</xyz></axis></joint>
<plugin filename="gz-sim-joint-position-controller-system" name="p"><joint_name>neck</joint_name>
</plugin></model></sdf>"""
CRATE = """<sdf version="1.6"><model name="crate"><pose>9 9 9 0 0 0</pose><link name="l">
<collision name="c"><pose>0 0 0.2 0 0 0</pose><geometry><box><size>.4 .4 .4</size></box></geometry>
</collision></link></model></sdf>"""


def test_models_of_sdf_are_spawned_where_the_request_says(yard):
    assert yard.well('spawn_entity', resource_string=LAMP).entity_name == 'lamp'
    robot = yard.client.handshake.articulations['lamp']
    assert robot.actuator_types == {'neck': 'position'}
    pose = PoseStamped()
    pose.pose.position.x, pose.pose.position.z, pose.pose.orientation.w = 3.0, 0.5, 1.0
    file = Path(yard.server.config.data_dir) / 'crate.sdf'
    file.write_text(CRATE)
    yard.well('spawn_entity', uri=file.as_uri(), initial_pose=pose)
    crate = yard.client.get_entities(['crate'])['crate']
    assert crate.pos[:2] == pytest.approx((3.0, 0.0), abs=1e-6) and crate.pos[2] < 0.6
    world = CRATE.replace('<model', '<world name="w"><model').replace('</sdf>', '</world></sdf>')
    reply = yard.ask('spawn_entity', resource_string=world)
    assert reply.result.result != OK and 'can be spawned' in reply.result.error_message


def test_meshes_of_sdf_are_read_where_those_of_urdf_are(yard, tmp_path):
    private = tmp_path / 'private.stl'
    trimesh.creation.box((0.1, 0.1, 0.6)).export(private)
    problems = []
    for path in (private, tmp_path / 'none.stl'):
        mesh = f'<mesh><uri>file://{path}</uri></mesh>'
        text = CRATE.replace('<box><size>.4 .4 .4</size></box>', mesh)
        result = yard.ask('spawn_entity', resource_string=text).result
        assert result.result == MISSING
        problems.append(result.error_message.replace(str(path), 'PATH'))
    assert problems[0] == problems[1]
