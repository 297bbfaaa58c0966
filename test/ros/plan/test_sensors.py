# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The sensor table, and sensors described from a model."""

from geometry_msgs.msg import WrenchStamped
import mujoco
import numpy as np
import pytest
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import Range

from urlab_ros_bridge.model import RobotModel
from urlab_ros_bridge.model import WorldModel
from urlab_ros_bridge.ros.messages.geometry import WrenchStampedTemplate
from urlab_ros_bridge.ros.plan.frame_tree import static_transforms
from urlab_ros_bridge.ros.plan.sensor_table import SENSOR_KINDS
from urlab_ros_bridge.ros.plan.sensors import describe_sensors
from urlab_ros_bridge.ros.plan.sensors import group_sensors
from urlab_ros_bridge.ros.topics.robot.sensors import single_template

ROBOT = """
<mujoco>
  <worldbody>
    <body name="crate"><freejoint/><geom size="0.1"/></body>
    <body name="bot_base" pos="0 0 1">
      <freejoint name="bot_root"/>
      <geom size="0.1" mass="1"/>
      <site name="bot_imu"/>
      <site name="bot_probe" pos="0.1 0 0"/>
      <site name="bot_sonar"/>
      <site name="bot_mark"/>
      <camera name="bot_eye"/>
      <body name="bot_lift">
        <joint name="bot_lift" type="slide"/>
        <geom size="0.1" mass="1"/>
        <body name="bot_wrist">
          <joint name="bot_turn" axis="0 0 1"/>
          <geom size="0.1" mass="1"/>
          <site name="bot_wrist"/>
          <body name="bot_ball"><joint name="bot_ball" type="ball"/><geom size="0.1"/></body>
        </body>
      </body>
    </body>
  </worldbody>
  <tendon>
    <spatial name="bot_rope"><site site="bot_imu"/><site site="bot_wrist"/></spatial>
  </tendon>
  <actuator>
    <motor name="bot_turn" joint="bot_turn"/>
    <motor name="bot_pull" tendon="bot_rope"/>
  </actuator>
  <sensor>
    <gyro name="bot_gyro" site="bot_imu"/>
    <accelerometer name="bot_acc" site="bot_imu"/>
    <magnetometer name="bot_mag" site="bot_imu"/>
    <framequat name="bot_quat" objtype="site" objname="bot_imu"/>
    <framequat name="bot_relative" objtype="site" objname="bot_imu" reftype="xbody"
               refname="bot_wrist"/>
    <gyro name="bot_gyro2" site="bot_probe"/>
    <velocimeter name="bot_speed" site="bot_probe"/>
    <force name="bot_force" site="bot_wrist"/>
    <torque name="bot_torque" site="bot_wrist"/>
    <rangefinder name="bot_sonar" site="bot_sonar" cutoff="5"/>
    <touch name="bot_touch" site="bot_probe"/>
    <jointpos name="bot_turn_pos" joint="bot_turn"/>
    <jointpos name="bot_lift_pos" joint="bot_lift"/>
    <actuatorfrc name="bot_turn_frc" actuator="bot_turn"/>
    <actuatorfrc name="bot_pull_frc" actuator="bot_pull"/>
    <tendonpos name="bot_rope_len" tendon="bot_rope"/>
    <ballquat name="bot_ball_q" joint="bot_ball"/>
    <ballangvel name="bot_ball_w" joint="bot_ball"/>
    <framepos name="bot_where" objtype="xbody" objname="bot_wrist"/>
    <framepos name="bot_where_in" objtype="xbody" objname="bot_wrist" reftype="site"
              refname="bot_mark"/>
    <framelinvel name="bot_inertial" objtype="xbody" objname="bot_wrist" reftype="body"
                 refname="bot_base"/>
    <camprojection name="bot_pixel" site="bot_wrist" camera="bot_eye"/>
    <user name="bot_user" dim="3" objtype="site" objname="bot_imu"/>
    <clock name="clock"/>
    <framepos name="crate" objtype="body" objname="crate"/>
  </sensor>
</mujoco>
"""


@pytest.fixture(scope='module')
def model():
    return mujoco.MjModel.from_xml_string(ROBOT)


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
    imus = {group.site: sorted(group.sensors) for group in groups.imus}
    assert imus == {'imu': ['accelerometer', 'framequat', 'gyro'], 'probe': ['gyro']}
    assert groups.imus[0].sensors['framequat'].name == 'quat'
    (wrench,) = groups.wrenches
    assert (wrench.frame_id, sorted(wrench.sensors)) == ('wrist_site', ['force', 'torque'])
    (twist,) = groups.twists
    assert (twist.site, sorted(twist.sensors)) == ('probe', ['gyro', 'velocimeter'])
    # Each sensor is published once at least, and alone only when it is in no group.
    grouped = {
        item.name
        for group in groups.imus + groups.wrenches + groups.twists
        for item in group.sensors.values()
    }
    single = {item.name for item in groups.singles}
    assert not grouped & single and grouped | single == set(sensors)


def test_every_single_sensor_has_a_template(model, sensors):
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    for sensor in group_sensors(list(sensors.values())).singles:
        template = single_template(sensor)
        reading = sensor.kind.reading(data.sensor(f'bot_{sensor.name}').data)
        message = deserialize_message(template.update(5, reading), template.message_type)
        assert message.header.frame_id == sensor.frame_id
    sonar = single_template(sensors['sonar']).update(0, [-1.0])
    assert deserialize_message(sonar, Range).max_range == 5.0


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
