# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Sensors, drives and actuators of a description, as the server loads them."""

import math
from pathlib import Path

import mujoco
import numpy as np
import pytest

from urlab_ros_bridge.geometry import wxyz_to_xyzw
from urlab_ros_bridge.geometry import yaw_of
from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.model.world import load_world
from urlab_ros_bridge.sim.physics.control.articulation import ArticulationControl

DATA = Path(__file__).parent / 'data'
SENSOR = '<gazebo reference="{link}"><sensor name="{name}" type="{kind}">{body}</sensor></gazebo>'
POSE = '<pose>0.1 0.2 0.3 0.4 0.5 0.6</pose>'
CAMERA = """<update_rate>12</update_rate><topic>front/image_raw</topic>
<camera><horizontal_fov>1.2</horizontal_fov><image><width>320</width><height>200</height></image></camera>"""
LIDAR = """<update_rate>7</update_rate><lidar><scan><horizontal><samples>90</samples>
<min_angle>-1</min_angle><max_angle>1.5</max_angle></horizontal><vertical><samples>{rows}</samples>
<min_angle>-0.3</min_angle><max_angle>0.2</max_angle></vertical></scan>
<range><min>0.1</min><max>8</max></range><noise><stddev>0.02</stddev></noise></lidar>"""
NOISE = '<noise type="gaussian"><stddev>0.003</stddev><bias_stddev>0.001</bias_stddev></noise>'
IMU = f'<imu><angular_velocity><x>{NOISE}</x></angular_velocity></imu>'


def load(path):
    return load_world(ServerConfig(model=path))


def described(name):
    return (DATA / f'{name}.urdf').read_text()


def sensor(name, kind, body='', link='camera_link'):
    return SENSOR.format(link=link, name=name, kind=kind, body=body)


def settings(world):
    return world.spec.articulations[0]


@pytest.mark.parametrize(
    ('kind', 'modes'),
    [
        ('camera', {'front': 'real'}),
        ('rgbd_camera', {'front': 'real', 'front_depth': 'depth'}),
        ('segmentation_camera', {'front': 'semantic'}),
    ],
)
def test_a_camera_views_along_x_of_its_pose(write_robot, kind, modes):
    world = load(write_robot(sensor('eye', kind, POSE + CAMERA)))
    cameras = settings(world).cameras
    assert {name: spec.mode for name, spec in cameras.items()} == modes
    expected, place, turn = np.empty(4), np.empty(9), np.empty(9)
    mujoco.mju_euler2Quat(expected, np.array([0.4, 0.5, 0.6]), 'XYZ')
    mujoco.mju_quat2Mat(place, expected)
    for name, spec in cameras.items():
        assert (spec.resolution, spec.rate) == ((320, 200), 12)
        camera = world.model.camera(f'my_robot_{name}')
        across = 2 * math.atan(math.tan(math.radians(camera.fovy[0]) / 2) * 320 / 200)
        assert across == pytest.approx(1.2)
        mujoco.mju_quat2Mat(turn, camera.quat)
        np.testing.assert_allclose(-turn[2::3], place[::3], atol=1e-5)  # the view
        np.testing.assert_allclose(turn[1::3], place[2::3], atol=1e-5)  # up in the image
        np.testing.assert_allclose(camera.pos, (0.1, 0.2, 0.3), atol=1e-6)


@pytest.mark.parametrize('width', ['0', '-1', '1e9'])
def test_a_sensor_whose_numbers_make_no_sense_is_left_out_alone(write_robot, caplog, width):
    text = sensor('bad', 'camera', CAMERA.replace('320', width)) + sensor('good', 'camera', CAMERA)
    assert set(settings(load(write_robot(text))).cameras) == {'front'}
    assert "sensor 'bad': left out" in caplog.text


@pytest.mark.parametrize('value', ['${a}', 'nan', 'inf'])
def test_an_initial_position_that_is_no_number_is_left_out(write_robot, caplog, value):
    control = '<ros2_control><joint name="pan"><state_interface name="position">'
    control += f'<param name="initial_value">{value}</param></state_interface></joint>'
    load(write_robot(f'{control}</ros2_control>'))
    assert "joint 'pan': left out: its initial_value" in caplog.text


@pytest.mark.parametrize('rows', [1, 16])
def test_a_scanner_keeps_its_rays(write_robot, rows):
    world = load(write_robot(sensor('scan', 'gpu_lidar', LIDAR.format(rows=rows))))
    scan = settings(world).lidars['scan']
    assert (scan.rays, scan.angle_min, scan.angle_max) == (90, -1, 1.5)
    assert (scan.range_min, scan.range_max, scan.rate, scan.body) == (0.1, 8, 7, 'camera_link')
    assert settings(world).noise['scan'].stddev == 0.02
    elevations = (scan.elevation_min, scan.elevation_max)
    assert (scan.rings, *elevations) == ((16, -0.3, 0.2) if rows > 1 else (None, 0, 0))
    assert len(world.model.sensor_dim) == (rows == 1)


def test_an_imu_measures_at_its_link_with_noise(write_robot):
    world = load(write_robot(sensor('imu', 'imu', POSE + IMU)))
    names = list(world.articulations['my_robot'].sensors)
    assert names == ['imu_gyro', 'imu_accelerometer', 'imu_framequat']
    noise = settings(world).noise
    assert set(noise) == {'imu_gyro'} and noise['imu_gyro'].bias == 0.001
    site = world.model.site('my_robot_imu')
    assert world.model.body(site.bodyid[0]).name == 'my_robot_camera_link'
    mujoco.mj_step(world.model, world.data, 1000)
    force = world.data.sensor('my_robot_imu_accelerometer').data
    assert np.linalg.norm(force) == pytest.approx(9.81, rel=0.01)


def test_force_and_touch_sensors_measure_a_weight(write_robot):
    felt = sensor('wrist', 'force_torque', link='pan')
    for link in ('left_wheel', 'shoulder'):
        felt += sensor(f'{link}_touch', 'contact', link=link)
    world = load(write_robot(felt))
    model, data = world.model, world.data
    mujoco.mj_step(model, data, 1000)
    turn = data.site('my_robot_wrist').xmat.reshape(3, 3)
    force = turn @ data.sensor('my_robot_wrist_force').data
    # MuJoCo has it from parent to child; the message has it as Gazebo's.
    np.testing.assert_allclose(force, (0.0, 0.0, 1.001 * 9.81), atol=0.05)
    found, *values = data.sensor('my_robot_left_wheel_touch').data
    assert found > 0 and np.linalg.norm(values[:3]) > 5.0 and abs(values[-1]) < 0.01
    assert not data.sensor('my_robot_shoulder_touch').data.any()


@pytest.mark.parametrize(
    ('attributes', 'text', 'turn'),
    [
        ('degrees="true"', '0.1 0.2 0.3 0 0 90', (0, 0, math.sqrt(0.5), math.sqrt(0.5))),
        ('rotation_format="quat_xyzw"', '0.1 0.2 0.3 0 0 2 2', (0, 0, *[math.sqrt(0.5)] * 2)),
        ('rotation_format="euler_rpy"', '0.1 0.2 0.3 0 0 0', (0, 0, 0, 1)),
    ],
)
def test_a_pose_may_be_in_degrees_or_a_quaternion(write_robot, attributes, text, turn):
    world = load(write_robot(sensor('imu', 'imu', f'<pose {attributes}>{text}</pose>')))
    site = world.model.site('my_robot_imu')
    np.testing.assert_allclose(site.pos, (0.1, 0.2, 0.3), atol=1e-6)
    np.testing.assert_allclose(wxyz_to_xyzw(site.quat), turn, atol=1e-6)


ONE_BEAM = """<ray><scan><horizontal><samples>1</samples><min_angle>0</min_angle>
<max_angle>0</max_angle></horizontal></scan><range><min>0</min><max>inf</max></range></ray>"""
RANGE = """<ray><scan><horizontal><samples>5</samples></horizontal><vertical><samples>5</samples>
</vertical></scan><range><max>4</max></range></ray>
<plugin><output_type>sensor_msgs/Range</output_type><frame_name>sonar_link</frame_name></plugin>"""


def test_a_scanner_may_have_one_beam_without_a_limit(write_robot):
    world = load(write_robot(sensor('beam', 'ray', ONE_BEAM)))
    scan = settings(world).lidars['beam']
    assert (scan.rays, scan.angle_min, scan.angle_max, scan.range_max) == (1, 0, 0, 1000)


@pytest.mark.parametrize(('low', 'high'), [(-7, 7), (1, -1), (8, 9), (2, 2)])
def test_the_server_takes_what_the_import_writes_of_any_angles(write_robot, low, high):
    angles = LIDAR.format(rows=1).replace('>-1<', f'>{low}<').replace('>1.5<', f'>{high}<')
    scan = settings(load(write_robot(sensor('scan', 'gpu_lidar', angles)))).lidars['scan']
    assert scan.angle_max - scan.angle_min <= 2 * math.pi


def test_a_ray_sensor_of_ranges_measures_along_x(write_robot):
    down = '<pose>0.5 0 0.2 0 0.6 0</pose>'
    world = load(write_robot(sensor('sonar', 'ray', down + RANGE, 'base_link')))
    assert settings(world).frames['sonar/range'] == 'sonar_link'
    place = world.data.site('my_robot_sonar')
    (distance,), beam = world.data.sensor('my_robot_sonar').data, place.xmat.reshape(3, 3)[:, 2]
    assert distance == pytest.approx(place.xpos[2] / -beam[2], abs=1e-3)
    np.testing.assert_allclose(beam, (math.cos(0.6), 0.0, -math.sin(0.6)), atol=1e-6)


FRAMED = '<gz_frame_id>imu_frame</gz_frame_id>'
OPTICAL = '<optical_frame_id>eye_optical</optical_frame_id>'
LINK = """<link name="camera_optical_frame"/><joint name="o" type="fixed">
<parent link="camera_link"/><child link="camera_optical_frame"/></joint>"""


@pytest.mark.parametrize(
    ('kind', 'body', 'frames'),
    [
        ('imu', FRAMED, {'s': 'imu_frame'}),
        ('imu', '', {'s': 'camera_link'}),
        ('imu', POSE, {}),
        ('gpu_lidar', '<plugin><frame_name>/laser</frame_name></plugin>', {'s': 'laser'}),
        ('camera', CAMERA.replace('<image>', OPTICAL + '<image>'),
         {'front': 'camera_link', 'front/optical': 'eye_optical'}),
        ('camera', CAMERA, {'front': 'camera_link', 'front/optical': 'camera_optical_frame'}),
    ],
)  # fmt: skip
def test_a_sensor_has_the_frame_that_it_names_else_that_of_its_link(
    write_robot, kind, body, frames
):
    found = settings(load(write_robot(LINK + sensor('s', kind, body)))).frames
    assert found == {'base': 'base_footprint', **frames}


def test_a_lens_in_pixels_gives_the_field_of_view(write_robot):
    lens = '<lens><intrinsics><fx>100</fx><fy>100</fy><cx>160</cx><cy>100</cy></intrinsics></lens>'
    body = CAMERA.replace('<image>', f'{lens}<image>')
    camera = load(write_robot(sensor('s', 'camera', body))).model.camera('my_robot_front')
    assert camera.fovy[0] == pytest.approx(90.0)


REMAPPING = """<plugin><ros><remapping>~/out:=wrist/wrench</remapping></ros></plugin>
<update_rate>50</update_rate>"""


@pytest.mark.parametrize(
    ('kind', 'body', 'kept'),
    [
        ('gpu_lidar', '<topic>/points/raw</topic>', ('points/raw', None)),
        ('imu', '<plugin><topicName>my_imu</topicName></plugin>', ('my_imu', None)),
        ('force_torque', REMAPPING, ('wrist/wrench', 50.0)),
    ],
)
def test_topics_and_rates_are_kept(write_robot, kind, body, kept):
    found = settings(load(write_robot(sensor('s', kind, body)))).sensor_topics['s']
    assert (found.topic, found.rate) == kept


def test_what_is_no_topic_is_left_out(write_robot):
    bad = '<topic>not a topic</topic><update_rate>0</update_rate>'
    assert not settings(load(write_robot(sensor('s', 'imu', bad)))).sensor_topics


SLIPPERY = '<gazebo reference="base_link"><mu1>0</mu1><mu2>0</mu2></gazebo>'


def test_a_drive_follows_cmd_vel(write_robot):
    x, y, _ = driven(
        load(write_robot(described('diff_drive_classic') + SLIPPERY)), (0.5, 0.0, 0.0), 2.0
    )
    assert 0.75 < x < 1.05 and abs(y) < 0.05


@pytest.mark.parametrize(
    ('plugin', 'track'), [('skid_steer_classic', 0.4), ('diff_drive_new', 0.5)]
)
def test_wheels_of_a_side_turn_together(write_robot, wheel, plugin, track):
    wheels = wheel('left_front', '0.3 0.2 0') + wheel('right_front', '0.3 -0.2 0')
    world = load(write_robot(wheels + described(plugin) + SLIPPERY))
    twist = settings(world).twist
    assert twist.left == ['left_front_joint', 'left_wheel_joint']
    assert twist.right == ['right_front_joint', 'right_wheel_joint']
    # What the plugin does not say is that of the wheels.
    assert (twist.wheel_radius, twist.track_width) == (0.1, track)
    x, y, _ = driven(world, (0.5, 0.0, 0.0), 2.0)
    assert 0.8 < x < 1.05 and abs(y) < 0.05
    assert driven(world, (0.0, 0.0, 1.0), 2.0)[2] > 0.3


@pytest.fixture
def front(wheel):
    """Return the front wheels of a car on their knuckles."""
    return ''.join(
        described('knuckle').format(side=side, y=y)
        + wheel(f'{side}_front', '0 0 0', f'{side}_knuckle')
        for side, y in (('left', 0.2), ('right', -0.2))
    )


@pytest.mark.parametrize('plugin', ['ackermann_classic', 'ackermann_new'])
def test_a_car_is_steered_by_its_plugin(write_robot, front, plugin):
    world = load(write_robot(front + described(plugin) + SLIPPERY))
    twist = settings(world).twist
    assert twist.kind == 'ackermann' and twist.limits.linear == 3.0 and twist.axle == 0.0
    assert (twist.left, twist.right) == (['left_wheel_joint'], ['right_wheel_joint'])
    assert (twist.left_steering, twist.right_steering) == ('left_steer', 'right_steer')
    lengths = (twist.wheel_radius, twist.track_width, twist.wheelbase, twist.steering_limit)
    assert lengths == pytest.approx((0.1, 0.4, 0.5, 0.7))
    # Wheels that the plugin does not turn roll freely.
    assert 'left_front_joint' not in world.articulations['my_robot'].actuators
    x, y, yaw = driven(world, (0.5, 0.0, 0.5), 3.0)
    assert yaw == pytest.approx(1.5, abs=0.3) and 0.5 < x < 1.3 and y > 0.3


def test_a_mecanum_plugin_gives_four_wheels_with_rollers(write_robot, front):
    twist = settings(load(write_robot(front + described('mecanum_new')))).twist
    assert twist.kind == 'omni'
    wheels = {wheel.actuator: (wheel.position, wheel.roller) for wheel in twist.wheels}
    assert wheels['left_front_joint'] == ((0.25, 0.2), pytest.approx(-math.pi / 4))
    assert wheels['right_wheel_joint'] == ((-0.25, -0.2), pytest.approx(-math.pi / 4))
    assert wheels['left_wheel_joint'][1] == pytest.approx(math.pi / 4)


def test_a_base_of_planar_move_goes_in_every_direction_of_its_own_frame(write_robot):
    plugin = '<gazebo><plugin name="p" filename="libgazebo_ros_planar_move.so"/></gazebo>'
    world = load(write_robot(plugin))
    assert settings(world).twist.kind == 'planar'
    np.testing.assert_allclose(driven(world, (0.3, 0.2, 0.0), 2.0), (0.6, 0.4, 0.0), atol=0.02)
    assert driven(world, (0.0, 0.0, 1.0), 1.0)[2] == pytest.approx(1.0, abs=0.03)


def driven(world, twist, seconds):
    """Drive from the start, and return x, y and heading of the base."""
    (spec,) = world.spec.articulations
    model, data = world.model, world.data
    robot = world.articulations['my_robot']
    world.restore_start()
    control = ArticulationControl(model, data, robot, spec)
    control.reset(world.start_ctrl('my_robot'))
    for step in range(round(seconds / model.opt.timestep)):
        if step % 50 == 0:
            control.twist.set(twist[:2], (0, 0, twist[2]), data.time)
        control.apply(raw=False)
        mujoco.mj_step(model, data)
    x, y, _ = data.xpos[robot.base.id] - model.body_pos[robot.base.id] * (1, 1, 0)
    return x, y, yaw_of(wxyz_to_xyzw(data.xquat[robot.base.id]))


ROS2_CONTROL = """<ros2_control name="c" type="system"><hardware/>
<joint name="pan"><command_interface name="{interface}"/>
<state_interface name="position"><param name="initial_value">0.7</param></state_interface></joint>
<joint name="left_wheel_joint"><state_interface name="velocity"/></joint></ros2_control>"""


@pytest.mark.parametrize(
    ('interface', 'limits', 'ctrl'),
    [('position', (0.2, 1.5), 1.0), ('velocity', (-2, 2), 0.3), ('effort', (-40, 40), 40.0)],
)
def test_actuators_are_the_command_interfaces(write_robot, interface, limits, ctrl):
    world = load(write_robot(ROS2_CONTROL.format(interface=interface)))
    assert list(world.articulations['my_robot'].actuators) == ['pan']
    model, data = world.model, world.data
    slot = model.joint('my_robot_pan').qposadr[0]
    assert data.qpos[slot] == 0.7
    np.testing.assert_allclose(model.actuator_ctrlrange[0], limits)
    data.ctrl[0] = ctrl
    mujoco.mj_step(model, data, 500)
    if interface != 'effort':  # 0.7 + 0.3 rad/s for a second
        assert data.qpos[slot] == pytest.approx(1.0, abs=0.03)
    assert np.abs(data.actuator_force[0]) <= 40


@pytest.mark.parametrize(
    ('kind', 'expected'),
    [('EffortJointInterface', ['pan']), ('x/VelocityJointInterface', ['pan']),
     ('JointStateInterface', [])],
)  # fmt: skip
def test_transmissions_choose_the_actuator(write_robot, kind, expected):
    interface = f'<hardwareInterface>{kind}</hardwareInterface>'
    text = f'<transmission name="t"><joint name="pan">{interface}</joint></transmission>'
    world = load(write_robot(text))
    names = list(world.articulations['my_robot'].actuators)
    assert names == ['left_wheel_joint', 'right_wheel_joint', *expected]
    if expected:
        gain = world.model.actuator('my_robot_pan').biasprm
        assert bool(gain[1]) is ('Effort' in kind)
