# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""MJCF files that nobody described: what becomes a robot, what becomes an entity."""

import functools
import importlib.util
from pathlib import Path

import mujoco
import numpy as np
import pytest

from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.errors import WorldError
from urlab_ros_bridge.sim.model.assembly import assemble_file
from urlab_ros_bridge.sim.model.world import load_world
from urlab_ros_bridge.wire.names import valid_prefix

ARM = '<body name="arm"><joint name="elbow" axis="0 1 0"/><geom size="0.1"/>{inner}</body>'
BOX = '<body name="box" pos="1 0 1"><freejoint name="slip"/><geom size="0.1"/></body>'
MOTOR = '<actuator><motor name="pull" joint="elbow"/></actuator>'


def world(mjcf, body, rest='', name='lab', **config):
    text = f'<mujoco model="{name}"><worldbody>{body}</worldbody>{rest}</mujoco>'
    return load_world(ServerConfig(model=mjcf(text), **config))


def members(loaded, kind):
    return {
        prefix: [item.name for item in getattr(loaded.tables, kind) if item.prefix == prefix]
        for prefix in loaded.articulations
    }


def test_robot_and_objects_are_told_apart(mjcf):
    key = '<keyframe><key name="up" qpos="0.5 2 3 4 1 0 0 0" ctrl="0.7"/></keyframe>'
    loaded = world(mjcf, ARM.format(inner='') + BOX, MOTOR + key)
    assert members(loaded, 'joints') == {'lab': ['elbow']} and list(loaded.entities) == ['box']
    index = loaded.keyframe_id('up')
    data = mujoco.MjData(loaded.model)
    mujoco.mj_resetDataKeyframe(loaded.model, data, index)
    assert data.joint('lab_elbow').qpos == 0.5 and data.ctrl[0] == 0.7


def test_a_file_without_anything_driven(mjcf):
    loaded = world(mjcf, BOX)
    assert not loaded.articulations and list(loaded.entities) == ['box']
    loaded = world(mjcf, ARM.format(inner=''))
    assert members(loaded, 'joints') == {'lab': ['elbow']}


def test_what_is_joined_stays_together(mjcf):
    weld = '<equality><weld body1="arm" body2="box"/></equality>'
    loaded = world(mjcf, ARM.format(inner='') + BOX, MOTOR + weld)
    assert members(loaded, 'joints') == {'lab': ['elbow', 'slip']} and not loaded.entities
    assert loaded.model.neq == 1


def test_everything_unnamed_gets_names_that_clients_find(mjcf):
    body = ('<body><freejoint/><geom size="0.1"/><site/><body><joint axis="0 1 0"/>'
            '<geom size="0.1"/></body><body><joint type="slide"/><geom size="0.1"/></body>'
            '<body><joint axis="1 0 0"/><geom size="0.1"/></body></body>')  # fmt: skip
    text = mjcf(f'<mujoco><worldbody>{body}</worldbody></mujoco>', 'seven-of 9')
    loaded = load_world(ServerConfig(model=text))
    found = members(loaded, 'joints')
    assert found == {'seven_of_9': ['FreeJoint', 'HingeJoint', 'SlideJoint', 'HingeJoint_2']}
    names = [loaded.model.body(i).name for i in range(1, loaded.model.nbody)]
    assert len(set(names)) == 4 and all(name.startswith('seven_of_9_') for name in names)


def test_prefix_and_actor_id_can_be_given(mjcf):
    loaded = world(mjcf, ARM.format(inner=''), MOTOR, prefix='left', actor_id='robot_7')
    assert members(loaded, 'actuators') == {'left': ['pull']}
    assert loaded.articulation('robot_7').prefix == 'left'


def test_physics_options_come_along(mjcf):
    option = '<option timestep="0.005" gravity="0 0 -3"/><visual><map znear="0.2"/></visual>'
    loaded = world(mjcf, ARM.format(inner=''), MOTOR + option)
    assert loaded.model.opt.timestep == 0.005 and loaded.model.opt.gravity[2] == -3
    assert loaded.model.vis.map.znear == pytest.approx(0.2)


def test_tendons_and_sites_count_as_driven(mjcf):
    tendon = ('<tendon><fixed name="rope"><joint joint="elbow" coef="1"/></fixed></tendon>'
              '<actuator><motor name="winch" tendon="rope"/></actuator>')  # fmt: skip
    loaded = world(mjcf, ARM.format(inner='') + BOX, tendon)
    assert members(loaded, 'actuators') == {'lab': ['winch']} and 'box' in loaded.entities


@pytest.mark.parametrize('text', ['', '<mujoco>', '<mujoco><worldbody><body><joint/></body>'
                                  '</worldbody></mujoco>', 'not xml'])  # fmt: skip
def test_files_that_are_no_models_say_why(mjcf, text):
    path = mjcf(text)
    with pytest.raises(WorldError, match=path.name):
        load_world(ServerConfig(model=path))


def test_prefixes_are_identifiers():
    for name in ('7-dof arm/v2', '', '___', 'Ünïcode', 'a__b', 'x'):
        assert valid_prefix(name).isidentifier() and '__' not in valid_prefix(name)


def test_the_mass_of_the_whole_stays(mjcf):
    body = ARM.format(inner='')
    text = f'<mujoco><compiler settotalmass="7"/><worldbody>{body}{{}}</worldbody>{MOTOR}</mujoco>'
    for objects in ('', BOX):
        loaded = load_world(ServerConfig(model=mjcf(text.format(objects))))
        assert sum(loaded.model.body_mass) == pytest.approx(7)


def test_sensors_of_objects_are_the_robots(rig, mjcf):
    body = ARM.format(inner='') + BOX.replace('<geom', '<site name="top"/><geom')
    sensors = '<sensor><framepos objtype="site" objname="top"/><jointpos joint="elbow"/></sensor>'
    text = f'<mujoco model="lab"><worldbody>{body}</worldbody>{MOTOR}{sensors}</mujoco>'
    server = rig(model=mjcf(text))
    found = server.ask('forward')['per_articulation']['lab']['sensors']
    assert found == {'framepos': [1.0, 0.0, 1.0], 'jointpos': [0.0]}
    assert list(server.context.world.entities) == ['box']


def test_objects_that_look_like_the_robot_change_its_prefix(mjcf):
    box = BOX.replace('"box"', '"lab_box"')
    loaded = world(mjcf, ARM.format(inner='') + box, MOTOR)
    assert members(loaded, 'joints') == {'robot_lab': ['elbow']}
    assert list(loaded.entities) == ['lab_box']
    with pytest.raises(WorldError, match=r'lab_box.*another prefix'):
        world(mjcf, ARM.format(inner='') + box, MOTOR, prefix='lab')


def test_room_for_keyframes_is_no_keyframe(mjcf, recwarn):
    loaded = world(mjcf, ARM.format(inner='') + BOX, MOTOR + '<size nkey="3"/>')
    assert loaded.model.nkey == 0 and not recwarn.list
    key = '<size nkey="3"/><keyframe><key name="up" qpos="0.5 2 3 4 1 0 0 0"/></keyframe>'
    loaded = world(mjcf, ARM.format(inner='') + BOX, MOTOR + key)
    assert [loaded.model.key(i).name for i in range(loaded.model.nkey)] == ['lab_up']


def test_a_scene_of_its_own_name_is_no_trap(mjcf):
    loaded = world(mjcf, ARM.format(inner=''), MOTOR, name='scene')
    assert list(loaded.articulations) == ['robot_scene']


def test_mocap_welded_to_the_robot_drives_it(rig, mjcf):
    """The way of gymnasium's fetch: a mocap body drags the gripper through a weld."""
    body = ('<body name="hand"><freejoint/><geom size="0.1" mass="1"/></body>'
            '<body name="mocap" mocap="true"><site/></body><body name="arm" pos="3 0 0">'
            '<joint name="elbow"/><geom size="0.1"/></body>')  # fmt: skip
    weld = '<equality><weld body1="mocap" body2="hand"/></equality>'
    option = '<option gravity="0 0 0"/>'
    text = f'<mujoco model="lab">{option}<worldbody>{body}</worldbody>{weld}{MOTOR}</mujoco>'
    server = rig(model=mjcf(text))
    server.ask('set_mode', mode='direct')
    hello = server.ask('hello', shared=True)
    names = [server.model.body(i).name for i in range(server.model.nbody)]
    mocap = next(name for name in names if name.endswith('mocap'))
    hand = next(name for name in names if name.endswith('hand'))
    server.ask('set_mocap_pose', body=mocap, pos=[0.2, 0, 0])
    server.ask('step', n_steps=1000)
    assert server.data.body(hand).xpos[0] == pytest.approx(0.2, abs=0.01)
    assert [robot['prefix'] for robot in hello['articulations']] == ['lab']


def foreign_models():
    found = importlib.util.find_spec('gymnasium_robotics')
    if found is None:
        return []
    assets = Path(found.origin).parent / 'envs' / 'assets'
    names = ('adroit_hand/adroit_door.xml', 'adroit_hand/adroit_relocate.xml', 'fetch/push.xml',
             'hand/manipulate_egg_touch_sensors.xml', 'hand/reach.xml',
             'kitchen_franka/kitchen_assets/kitchen_env_model.xml', 'point/point.xml')  # fmt: skip
    return [assets / name for name in names]


def test_the_foreign_models_are_installed():
    assert foreign_models(), 'gymnasium-robotics is not installed: run `make setup`'


@functools.cache
def compiled_alone(path):
    return mujoco.MjModel.from_xml_path(str(path))


def sizes(model):
    """Return what must survive being taken apart; assets that nothing uses may go."""
    is_mesh = model.geom_type == int(mujoco.mjtGeom.mjGEOM_MESH)
    meshes = len(set(model.geom_dataid[is_mesh]))
    return model.nq, model.nv, model.nu, model.neq, model.nsensor, model.ngeom, meshes


@pytest.mark.parametrize('path', foreign_models(), ids=lambda path: path.stem)
def test_foreign_robots_are_served_whole(rig, path):
    whole = compiled_alone(path)
    server = rig(model=path)
    model, loaded = server.model, server.context.world
    assert sizes(model) == sizes(whole)
    assert model.opt.timestep == whole.opt.timestep
    (robot,) = loaded.articulations.values()
    assert robot.nu == whole.nu and len(robot.sensors) == whole.nsensor
    owned = {joint.id for joint in robot.all_joints}
    owned |= {j for e in loaded.entities.values() for j in range(model.njnt)
              if model.jnt_bodyid[j] == e.body}  # fmt: skip
    assert owned == set(range(model.njnt))
    server.ask('set_mode', mode='direct')
    reply = server.ask('step', n_steps=100)
    assert np.isfinite(reply['per_articulation'][robot.prefix]['qpos']).all()


@pytest.mark.parametrize('path', foreign_models(), ids=lambda path: path.stem)
def test_foreign_robots_move_as_in_their_own_file(rig, path):
    """The split and the prefixes change names, not physics: same joint by joint."""
    whole = compiled_alone(path)
    data = mujoco.MjData(whole)
    server = rig(model=path)
    for _ in range(5):
        mujoco.mj_step(whole, data)
        with server.engine.lock:
            server.engine.substep()
    (prefix,) = server.context.world.articulations
    id_of = {server.model.joint(i).name: i for i in range(server.model.njnt)}
    for joint in range(whole.njnt):
        name = whole.joint(joint).name
        if not name:
            continue
        mine = server.model.joint(id_of.get(f'{prefix}_{name}', id_of.get(name)))
        start, other = whole.jnt_qposadr[joint], mine.qposadr[0]
        assert np.allclose(data.qpos[start], server.data.qpos[other], atol=1e-6), name


def assets(name):
    found = importlib.util.find_spec('gymnasium_robotics')
    assert found, 'gymnasium-robotics is not installed: run `make setup`'
    return Path(found.origin).parent / 'envs' / 'assets' / name


MIXED = """
<mujoco model="bot"><default><joint damping=".3"/><default class="heavy"><geom density="5000"/>
  <default class="heavier"><geom density="9000"/></default></default></default>
<asset><texture name="t" type="2d" builtin="flat" width="4" height="4"/>
  <material name="m" texture="t"/></asset>
<custom><numeric name="n" data="1"/></custom>
<worldbody><geom type="plane" size="1 1 1" material="m"/><site name="goal" pos="1 0 0"/>
  <body name="first" pos="3 0 0"><freejoint name="first"/><geom size=".1" material="m"/></body>
  <body name="arm"><joint name="a"/><geom size=".1" class="heavier" material="m"/>
    <body name="hand" pos=".3 0 0"><joint name="b" type="ball"/><geom size=".1"/></body></body>
  <body name="table" pos="5 0 0"><geom type="box" size=".1 .1 .1"/></body>
  <body name="last" pos="6 0 0" childclass="heavy"><joint name="c" type="slide"/>
    <geom size=".1" material="m"/></body>
</worldbody>
<actuator><motor name="a" joint="a"/></actuator>
<sensor><framepos objtype="site" objname="goal" name="goal"/><jointpos joint="c" name="c"/>
  <gyro site="goal"/></sensor>
<keyframe><key name="home" qpos="3 1 0 1 0 0 0 .2 1 0 0 0 .4"/></keyframe></mujoco>
"""


@pytest.mark.parametrize(
    'name',
    [
        'mixed',
        'hand/manipulate_block.xml',
        'hand/manipulate_pen_touch_sensors.xml',
        'fetch/push.xml',
        'adroit_hand/adroit_hammer.xml',
        'kitchen_franka/kitchen_assets/kitchen_env_model.xml',
    ],
)
def test_one_file_keeps_its_order_so_that_states_of_it_are_states_of_the_world(name, tmp_path):
    path = tmp_path / 'mixed.xml'
    if name == 'mixed':
        path.write_text(MIXED)
    else:
        path = assets(name)
    own = mujoco.MjModel.from_xml_path(str(path))
    served, spec, _ = assemble_file(path, 'bot')
    assert (served.nq, served.nv, served.nu) == (own.nq, own.nv, own.nu)
    for kind, count in (('joint', own.njnt), ('body', own.nbody), ('actuator', own.nu)):
        for index in range(count):
            wanted = getattr(own, kind)(index).name
            found = getattr(served, kind)(index).name
            assert not wanted or found in (wanted, f'bot_{wanted}')
    np.testing.assert_array_equal(served.jnt_qposadr, own.jnt_qposadr)
    np.testing.assert_array_equal(served.qpos0, own.qpos0)
    states, rng = [mujoco.MjData(own), mujoco.MjData(served)], np.random.default_rng(1)
    qpos = own.qpos0 + 0.1 * rng.normal(size=own.nq)
    qvel, ctrl = 0.1 * rng.normal(size=own.nv), 0.1 * rng.normal(size=own.nu)
    for model, data in zip((own, served), states, strict=True):
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
        data.qpos[:], data.qvel[:], data.ctrl[:] = qpos, qvel, ctrl
        mujoco.mj_forward(model, data)
    np.testing.assert_allclose(states[1].xpos, states[0].xpos, atol=1e-12)
    np.testing.assert_allclose(states[1].qacc_smooth, states[0].qacc_smooth, rtol=1e-6, atol=1e-9)
    # What clients get as XML is that world.
    again = mujoco.MjSpec.from_string(spec.to_xml(), assets=spec.assets)
    assert [joint.name for joint in again.joints] == [joint.name for joint in spec.joints]


def test_what_is_said_of_the_rest_of_a_file_is_said_once(tmp_path, caplog):
    path = tmp_path / 'mixed.xml'
    path.write_text(MIXED)
    model, spec, _ = assemble_file(path, 'bot')
    names = [model.sensor(index).name for index in range(model.nsensor)]
    assert sorted(names) == ['bot_c', 'bot_goal', 'bot_gyro']
    assert model.body('last').mass == pytest.approx(mujoco.MjModel.from_xml_string(MIXED)
                                                    .body('last').mass)  # fmt: skip
    key = model.key('bot_home')
    np.testing.assert_allclose(key.qpos, [3, 1, 0, 1, 0, 0, 0, 0.2, 1, 0, 0, 0, 0.4])
    assert model.nnumeric == 2  # the scene's, and the robot's under its own name
    assert not caplog.records
    spec.copy().compile()


def test_what_cannot_keep_its_order_is_served_and_said(tmp_path, caplog):
    path = tmp_path / 'joined.xml'
    joined = '<equality><weld body1="first" body2="last"/></equality><keyframe>'
    path.write_text(MIXED.replace('<keyframe>', joined))
    with caplog.at_level('WARNING'):
        model, _, _ = assemble_file(path, 'bot')
    names = [model.joint(index).name for index in range(model.njnt)]
    assert names == ['first', 'c', 'bot_a', 'bot_b']
    assert 'in qpos the robot comes after all other bodies' in caplog.text
