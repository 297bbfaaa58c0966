# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0

from dataclasses import fields
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
import mujoco
import numpy as np
import pytest
from small_model import PREFIX
from small_model import XML

from urlab_ros_bridge.client.replies.handshake import parse_handshake
from urlab_ros_bridge.ros.plan.from_model import plan_world
from urlab_ros_bridge.ros.plan.from_model import with_appearance
from urlab_ros_bridge.ros.plan.from_topics import plan_topics
from urlab_ros_bridge.ros.plan.parameters import NamesParameters
from urlab_ros_bridge.ros.plan.plan import keep_namespaces
from urlab_ros_bridge.ros.plan.plan import namespaces
from urlab_ros_bridge.ros.plan.plan import RobotPlan
from urlab_ros_bridge.ros.plan.plan import WorldPlan
from urlab_ros_bridge.ros.program.features import Settings
from urlab_ros_bridge.wire import rows
from urlab_ros_bridge.wire.errors import UnknownName


def handshake(xml, *prefixes, frames=None):
    model = mujoco.MjModel.from_xml_string(xml)
    buffer = np.empty(mujoco.mj_sizeModel(model), np.uint8)
    mujoco.mj_saveModel(model, None, buffer)
    robots = [
        {'prefix': each, 'actor_id': f'{each}_actor', 'frames': frames or {}} for each in prefixes
    ]
    reply = {'session_id': 's', 'mujoco_version': mujoco.__version__, 'mjb': buffer.tobytes()}
    return parse_handshake({**reply, 'articulations': robots})


def small(**frames):
    return handshake(XML.format(p=PREFIX), PREFIX, frames=frames)


def test_joints_have_the_slots_that_mujoco_gives_them():
    # The robot's own vectors begin after another robot's, and hold a ball joint in between.
    xml = """<mujoco><worldbody>
      <body name="a_x"><freejoint name="a_f"/><geom size=".1" mass="1"/></body>
      <body name="b_w"><geom size=".1"/>
      <body name="b_x"><joint name="b_one"/><geom size=".1" mass="1"/>
        <body name="b_y"><joint name="b_ball" type="ball"/><geom size=".1" mass="1"/>
          <body name="b_z"><joint name="b_two" type="slide"/><geom size=".1" mass="1"/></body>
      </body></body></body></worldbody></mujoco>"""
    found = handshake(xml, 'a', 'b')
    plan = plan_world(found, Settings())
    robot = plan.robot('b')
    assert robot.joints == ('one', 'two')
    start = (found.model.joint('b_one').qposadr[0], found.model.joint('b_one').dofadr[0])
    for name, qpos, qvel in zip(robot.joints, robot.qpos, robot.qvel, strict=True):
        joint = found.model.joint(f'b_{name}')
        assert (joint.qposadr[0] - start[0], joint.dofadr[0] - start[1]) == (qpos, qvel)
    assert (robot.base_joint, plan.robot('a').base_joint) == ('', 'f')
    assert robot.tree.mount.parent == 'map' and plan.robot('a').tree.mount is None


def test_the_base_frame_is_the_parameter_else_the_servers_else_base_link():
    assert plan_world(small(), Settings()).robots[0].frames.base == 'base_link'
    named = small(base='base_link', base_link='trunk')
    assert plan_world(named, Settings()).robots[0].frames.base == 'trunk'
    wanted = Settings(base_frame='body', frame_prefix='{prefix}/')
    frames = plan_world(named, wanted).robots[0].frames
    assert (frames.base, frames.odom, frames.map) == ('bot/body', 'bot/odom', 'map')


@pytest.mark.parametrize(
    ('policy', 'alone', 'together'), [('auto', '', 'a'), ('always', 'a', 'a'), ('never', '', '')]
)
def test_namespaces(policy, alone, together):
    names = NamesParameters(namespace_robots=policy)
    assert namespaces(['a'], names) == {'a': alone}
    assert namespaces(['a', 'b'], names)['a'] == together


ROWS = {
    b'bot/joint/b': rows.pack_joint(7, 0, 0, 0),
    b'bot/joint/a': rows.pack_joint(9, 0, 0, 0),
    b'bot/joint/short': b'123',
    b'bot/base_state/root': bytes(52),
    b'bot/sensor/gyro': rows.pack_sensor(1, np.zeros(3)),
    b'bot/twist': bytes(12),
    b'scene/box/xpos': bytes(24),
    b'nonsense': b'',
}


def test_topics_alone_give_joints_in_order_of_id_and_plain_sensors():
    plan = plan_topics(ROWS, Settings())
    (robot,) = plan.robots
    assert robot.joints == ('b', 'a')
    assert (robot.base_joint, robot.drives) == ('root', True)
    (group,) = robot.sensors
    assert [(s.name, s.dim, s.unit) for s in group.sensors.values()] == [('gyro', 3, '')]
    assert plan.entities == ('box',)
    assert plan_topics(ROWS, replace(Settings(), robots=('x',))).robots == ()


def test_robots_whose_prefixes_begin_alike_keep_their_joints_apart():
    xml = """<mujoco><worldbody>
      <body name="arm_base"><joint name="arm_j1"/><geom size=".1" mass="1"/></body>
      <body name="arm_left_base" pos="1 0 0"><joint name="arm_left_j1"/>
        <geom size=".1" mass="1"/><site name="arm_left_tip"/></body>
      </worldbody>
      <actuator><motor name="arm_j1" joint="arm_j1"/>
        <motor name="arm_left_j1" joint="arm_left_j1"/></actuator>
      <sensor><gyro name="arm_left_gyro" site="arm_left_tip"/></sensor></mujoco>"""
    found = handshake(xml, 'arm', 'arm_left')
    world = with_appearance(plan_world(found, Settings()), found, Settings(publish_markers=False))
    arm, left = world.robots
    assert (arm.joints, left.joints) == (('j1',), ('j1',))
    assert [a.name for a in arm.actuators] == [a.name for a in left.actuators] == ['j1']
    assert arm.sensors == [] and [group.site for group in left.sensors] == ['tip']
    for robot in world.robots:
        assert [joint.name for joint in robot.appearance.skeleton.moving] == ['j1']
        assert 'left_' not in robot.appearance.urdf
    # A bridge that is configured for one of them still knows of the other.
    (alone,) = plan_world(found, Settings(robots=('arm',))).robots
    assert alone.joints == ('j1',)


def test_robots_are_chosen_by_prefix_or_actor_and_others_are_refused():
    for name in ('bot', 'bot_actor'):
        (robot,) = plan_world(small(), Settings(robots=(name,))).robots
        assert robot.prefix == 'bot'
    with pytest.raises(UnknownName, match=r"'tank'.*bot"):
        plan_world(small(), Settings(robots=('tank',)))


def test_an_unknown_base_lists_the_bodies_of_the_robot():
    xml = """<mujoco><worldbody><body name="bot_trunk"><geom size=".1"/><body name="bot_arm">
      <joint name="bot_arm"/><geom size=".1"/></body></body></worldbody></mujoco>"""
    with pytest.raises(UnknownName, match=r"'torso'.*trunk, arm"):
        plan_world(handshake(xml, PREFIX, frames={'base': 'torso'}), Settings())


BLANK = RobotPlan(**{item.name: None for item in fields(RobotPlan)})


def world(prefixes):
    """Plan a world as it would be planned at first sight."""
    names = namespaces(prefixes, NamesParameters())
    robots = [
        replace(BLANK, prefix=prefix, namespace=name, tf_namespace=name)
        for prefix, name in names.items()
    ]
    return WorldPlan(tuple(robots))


@given(st.lists(st.sets(st.sampled_from('abcde')), min_size=1, max_size=8))
def test_a_robot_keeps_its_names_and_no_two_share_one(history):
    plan, known = WorldPlan(), {}
    for present in history:
        plan = keep_namespaces(world(sorted(present)), plan)
        assert [robot.prefix for robot in plan.robots] == sorted(present)
        names = {robot.prefix: robot.namespace for robot in plan.robots}
        assert len(set(names.values())) == len(names)
        for prefix in known.keys() & names.keys():
            assert names[prefix] == known[prefix]
        assert all(robot.tf_namespace == robot.namespace for robot in plan.robots)
        known = names
