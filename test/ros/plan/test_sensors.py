# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The sensor table, and sensors described from a model."""

from pathlib import Path

from geometry_msgs.msg import WrenchStamped
import mujoco
import numpy as np
import pytest
from rclpy.serialization import deserialize_message

from urlab_ros_bridge.model import RobotModel
from urlab_ros_bridge.model import WorldModel
from urlab_ros_bridge.ros.messages.geometry import WrenchStampedTemplate
from urlab_ros_bridge.ros.plan.frame_tree import static_transforms
from urlab_ros_bridge.ros.plan.sensor_table import IMU
from urlab_ros_bridge.ros.plan.sensor_table import MAGNETIC_FIELD
from urlab_ros_bridge.ros.plan.sensor_table import MESSAGES
from urlab_ros_bridge.ros.plan.sensor_table import SENSOR_KINDS
from urlab_ros_bridge.ros.plan.sensor_table import TWIST
from urlab_ros_bridge.ros.plan.sensor_table import WRENCH
from urlab_ros_bridge.ros.plan.sensors import describe_sensors
from urlab_ros_bridge.ros.plan.sensors import group_sensors
from urlab_ros_bridge.ros.topics.robot.sensors import template_of

ROBOT = Path(__file__).with_name('models') / 'sensors.xml'


@pytest.fixture(scope='module')
def model():
    return mujoco.MjModel.from_xml_path(str(ROBOT))


@pytest.fixture(scope='module')
def sensors(model):
    robot = RobotModel('bot', WorldModel(model, ['bot']))
    tree = static_transforms(robot, robot.bodies['base'])
    return {item.name: item for item in describe_sensors(robot, tree, 'world')}


def test_the_table_has_every_sensor_of_mujoco():
    types = {
        item.name.removeprefix('mjSENS_').lower() for item in mujoco.mjtSensor.__members__.values()
    }
    assert types == set(SENSOR_KINDS)


# Name -> unit and frame; units depend on the type of the joint.
READ = {
    'gyro': ('rad/s', 'imu'),
    'mag': ('G', 'imu'),
    'force': ('N', 'wrist_site'),
    'sonar': ('m', 'sonar_range'),
    'turn_pos': ('rad', ''),
    'lift_pos': ('m', ''),
    'turn_frc': ('N m', ''),
    'pull_frc': ('', ''),
    'rope_len': ('m', ''),
    'ball_q': ('1', 'wrist'),
    'ball_w': ('rad/s', 'ball'),
    'where': ('m', 'world'),
    'where_in': ('m', 'mark'),
    'relative': ('1', 'wrist'),
    'inertial': ('m/s', ''),
    'pixel': ('px', 'eye_optical_frame'),
    'user': ('', 'imu'),
}


def test_readings_have_their_unit_and_frame(sensors):
    assert {name: (sensors[name].unit, sensors[name].frame_id) for name in READ} == READ


def test_sensors_of_one_site_share_a_message(sensors):
    groups = group_sensors(list(sensors.values()))
    found = {each: [group for group in groups if group.message is each] for each in MESSAGES}
    imus = {group.site: sorted(group.sensors) for group in found[IMU]}
    assert imus == {'imu': ['accelerometer', 'framequat', 'gyro'], 'probe': ['gyro']}
    assert found[IMU][0].sensors['framequat'].name == 'quat'
    (wrench,) = found[WRENCH]
    assert (wrench.frame_id, sorted(wrench.sensors)) == ('wrist_site', ['force', 'torque'])
    (twist,) = found[TWIST]
    assert (twist.site, sorted(twist.sensors)) == ('probe', ['gyro', 'velocimeter'])
    # Each sensor is published once at least, and alone only when it is in no group.
    shared = found[IMU] + found[WRENCH] + found[TWIST]
    grouped = {item.name for group in shared for item in group.sensors.values()}
    single = {group.name for group in groups if group not in shared and not group.message.alone}
    single |= {item.name for group in found[MAGNETIC_FIELD] for item in group.sensors.values()}
    assert not grouped & single and grouped | single == set(sensors)


def test_every_message_has_a_template(model, sensors):
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    for group in group_sensors(list(sensors.values())):
        template = template_of(group, [0.1] * len(group.message.stddevs))
        readings = [
            each and each.kind.reading(data.sensor(f'bot_{each.name}').data)
            for each in group.in_order
        ]
        message = deserialize_message(template.update(5, *readings), template.message_type)
        assert message.header.frame_id == group.frame_id
        if group.name == 'sonar':
            assert message.max_range == 5.0


def test_a_payload_pulls_the_force_sensor_down():
    model = mujoco.MjModel.from_xml_string("""
        <mujoco><worldbody><body><geom size="0.1"/>
          <body><site name="s"/><geom size="0.1" mass="2" pos="0.5 0 0"/></body></body></worldbody>
          <sensor><force name="f" site="s"/><torque name="t" site="s"/></sensor></mujoco>""")
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    raw = WrenchStampedTemplate('s').update(0, data.sensor('f').data, data.sensor('t').data)
    message = deserialize_message(raw, WrenchStamped)
    force, torque = message.wrench.force, message.wrench.torque
    # Weight of the payload, and its moment r x F about the site.
    weight = np.array([0, 0, -2 * 9.81])
    np.testing.assert_allclose([force.x, force.y, force.z], weight, atol=1e-9)
    np.testing.assert_allclose(
        [torque.x, torque.y, torque.z], np.cross([0.5, 0, 0], weight), atol=1e-9
    )
