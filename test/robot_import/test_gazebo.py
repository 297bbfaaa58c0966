# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Sensors, drives and actuators of a description, as the server loads them."""

import math

from bundled_server import port_of
from bundled_server import running_server
import mujoco
import numpy as np
import pytest

from urlab_ros_bridge.client.client import Client
from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.model.world import load_world

SENSOR = '<gazebo reference="{link}"><sensor name="{name}" type="{kind}">{body}</sensor></gazebo>'
POSE = '<pose>0.1 0.2 0.3 0.4 0.5 0.6</pose>'
CAMERA = """<update_rate>12</update_rate><topic>front/image_raw</topic>
<camera><horizontal_fov>1.2</horizontal_fov><image><width>320</width><height>200</height></image></camera>"""
LIDAR = """<update_rate>7</update_rate><lidar><scan><horizontal><samples>90</samples>
<min_angle>-1</min_angle><max_angle>1.5</max_angle></horizontal><vertical><samples>{rows}</samples></vertical></scan>
<range><min>0.1</min><max>8</max></range><noise><stddev>0.02</stddev></noise></lidar>"""
NOISE = '<noise type="gaussian"><stddev>0.003</stddev><bias_stddev>0.001</bias_stddev></noise>'
IMU = f'<imu><angular_velocity><x>{NOISE}</x></angular_velocity></imu>'


def load(path):
    return load_world(ServerConfig(model=path))


def sensor(name, kind, body='', link='camera_link'):
    return SENSOR.format(link=link, name=name, kind=kind, body=body)


def settings(world):
    return world.spec.articulations[0]


@pytest.mark.parametrize(
    ('kind', 'modes'),
    [
        ('camera', {'front': 'real'}),
        ('depth', {'front': 'depth'}),
        ('rgbd_camera', {'front': 'real', 'front_depth': 'depth'}),
        ('segmentation_camera', {'front': 'semantic'}),
    ],
)
def test_a_camera_looks_along_x_of_its_pose(write_robot, kind, modes):
    world = load(write_robot(sensor('eye', kind, POSE + CAMERA)))
    cameras = settings(world).cameras
    assert {name: spec.mode for name, spec in cameras.items()} == modes
    for name, spec in cameras.items():
        assert (spec.resolution, spec.rate) == ((320, 200), 12)
        camera = world.model.camera(f'my_robot_{name}')
        across = 2 * math.atan(math.tan(math.radians(camera.fovy[0]) / 2) * 320 / 200)
        assert across == pytest.approx(1.2)
        turn = np.empty(9)
        mujoco.mju_quat2Mat(turn, camera.quat)
        expected = np.empty(4)
        mujoco.mju_euler2Quat(expected, np.array([0.4, 0.5, 0.6]), 'XYZ')
        place = np.empty(9)
        mujoco.mju_quat2Mat(place, expected)
        turn, place = turn.reshape(3, 3), place.reshape(3, 3)
        np.testing.assert_allclose(-turn[:, 2], place[:, 0], atol=1e-5)  # the view
        np.testing.assert_allclose(turn[:, 1], place[:, 2], atol=1e-5)  # up in the image
        np.testing.assert_allclose(camera.pos, (0.1, 0.2, 0.3), atol=1e-6)


@pytest.mark.parametrize('rows', [1, 16])
def test_a_scanner_keeps_its_rays(write_robot, rows, caplog):
    world = load(write_robot(sensor('scan', 'gpu_lidar', LIDAR.format(rows=rows))))
    scan = settings(world).lidars['scan']
    assert (scan.rays, scan.angle_min, scan.angle_max) == (90, -1, 1.5)
    assert (scan.range_min, scan.range_max, scan.rate, scan.body) == (0.1, 8, 7, 'camera_link')
    assert settings(world).noise['scan'].stddev == 0.02
    assert any('xy plane' in record.getMessage() for record in caplog.records) == (rows > 1)


def test_an_imu_measures_at_its_link_with_noise(write_robot):
    world = load(write_robot(sensor('imu', 'imu', POSE + IMU)))
    names = list(settings_sensors(world))
    assert names == ['imu_gyro', 'imu_accelerometer', 'imu_framequat']
    noise = settings(world).noise
    assert set(noise) == {'imu_gyro'} and noise['imu_gyro'].bias == 0.001
    site = world.model.site('my_robot_imu')
    assert world.model.body(site.bodyid[0]).name == 'my_robot_camera_link'
    mujoco.mj_forward(world.model, world.data)
    for _ in range(1000):
        mujoco.mj_step(world.model, world.data)
    force = world.data.sensor('my_robot_imu_accelerometer').data
    assert np.linalg.norm(force) == pytest.approx(9.81, rel=0.01)


def settings_sensors(world):
    return world.articulations['my_robot'].sensors


def test_what_has_no_counterpart_is_named(write_robot, caplog):
    extra = (
        sensor('gas', 'gas_meter') + '<gazebo><plugin filename="libackermann_drive.so"/></gazebo>'
    )
    world = load(write_robot(extra))
    assert not settings_sensors(world)
    text = ' '.join(record.getMessage() for record in caplog.records)
    assert "'gas'" in text and 'libackermann_drive.so' in text


CLASSIC = """<gazebo><plugin name="d" filename="libgazebo_ros_diff_drive.so">
<leftJoint>left_wheel_joint</leftJoint><rightJoint>right_wheel_joint</rightJoint>
<wheelSeparation>0.4</wheelSeparation><wheelDiameter>0.2</wheelDiameter></plugin></gazebo>"""
NEW = """<gazebo><plugin name="gz::sim::systems::DiffDrive" filename="gz-sim-diff-drive-system">
<left_joint>left_wheel_joint</left_joint><right_joint>right_wheel_joint</right_joint>
<wheel_separation>0.4</wheel_separation><wheel_radius>0.1</wheel_radius></plugin></gazebo>"""


@pytest.mark.parametrize('plugin', [CLASSIC, NEW], ids=['classic', 'new'])
def test_a_drive_follows_cmd_vel(write_robot, plugin):
    path = write_robot(f'{plugin}<gazebo reference="base_link"><mu1>0</mu1><mu2>0</mu2></gazebo>')
    with running_server(model=path, cameras='off') as server:
        client = Client(rpc_port=port_of(server), state_port=port_of(server, 'state'), shared=True)
        client.connect()
        try:
            client.set_mode('direct')
            for _ in range(8):
                client.set_twist('my_robot', (0.5, 0.0, 0.0), (0.0, 0.0, 0.0))
                reply = client.step(125)
        finally:
            client.close()
    x, y = reply.articulations['my_robot'].qpos[:2]
    assert 0.75 < x < 1.05 and abs(y) < 0.05


ROS2_CONTROL = """<ros2_control name="c" type="system"><hardware/>
<joint name="pan"><command_interface name="{interface}"/>
<state_interface name="position"><param name="initial_value">0.7</param></state_interface></joint>
<joint name="left_wheel_joint"><state_interface name="velocity"/></joint></ros2_control>"""


@pytest.mark.parametrize('interface', ['position', 'velocity', 'effort'])
def test_actuators_are_the_command_interfaces(write_robot, interface):
    world = load(write_robot(ROS2_CONTROL.format(interface=interface)))
    assert list(world.articulations['my_robot'].actuators) == ['pan']
    model, data = world.model, world.data
    slot = model.joint('my_robot_pan').qposadr[0]
    assert data.qpos[slot] == 0.7
    limits = {'position': (0.2, 1.5), 'velocity': (-2, 2), 'effort': (-40, 40)}
    np.testing.assert_allclose(model.actuator_ctrlrange[0], limits[interface])
    data.ctrl[0] = {'position': 1.0, 'velocity': 0.3, 'effort': 40.0}[interface]
    for _ in range(500):
        mujoco.mj_step(model, data)
    if interface == 'position':
        assert data.qpos[slot] == pytest.approx(1.0, abs=0.02)
    elif interface == 'velocity':
        assert data.qpos[slot] == pytest.approx(1.0, abs=0.03)
    assert np.abs(data.actuator_force[0]) <= 40


@pytest.mark.parametrize(
    ('kind', 'expected'),
    [('EffortJointInterface', 'position'), ('x/VelocityJointInterface', 'velocity'),
     ('JointStateInterface', '')],
)  # fmt: skip
def test_transmissions_choose_the_actuator(write_robot, kind, expected):
    world = load(
        write_robot(
            '<transmission name="t"><joint name="pan"><hardwareInterface>'
            f'{kind}</hardwareInterface></joint></transmission>'
        )
    )
    names = list(world.articulations['my_robot'].actuators)
    assert names == ['left_wheel_joint', 'right_wheel_joint'] + ['pan'] * bool(expected)
    if expected:
        gain = world.model.actuator('my_robot_pan').biasprm
        assert bool(gain[1]) is (expected == 'position')
