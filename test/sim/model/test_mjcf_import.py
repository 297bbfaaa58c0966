# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""MJCF files without a sidecar: which bodies become a robot and which become entities."""

from mesh_files import foreign_model
import mujoco
import numpy as np
import pytest

from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.errors import WorldError
from urlab_ros_bridge.sim.model.assembly import assemble_file
from urlab_ros_bridge.sim.model.world import load_world

ARM = '<body name="arm"><joint name="elbow" axis="0 1 0"/><geom size="0.1"/></body>'


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


def test_robots_and_objects_are_distinguished(mjcf):
    key = '<keyframe><key name="up" qpos="0.5 2 3 4 1 0 0 0" ctrl="0.7"/></keyframe>'
    loaded = world(mjcf, ARM + BOX, MOTOR + key)
    assert members(loaded, 'joints') == {'lab': ['elbow']} and list(loaded.entities) == ['box']
    index = loaded.keyframe_id('up')
    data = mujoco.MjData(loaded.model)
    mujoco.mj_resetDataKeyframe(loaded.model, data, index)
    assert data.joint('lab_elbow').qpos == 0.5 and data.ctrl[0] == 0.7


def test_unnamed_elements_get_names(mjcf):
    body = ('<body><freejoint/><geom size="0.1"/><site/><body><joint axis="0 1 0"/>'
            '<geom size="0.1"/></body><body><joint type="slide"/><geom size="0.1"/></body>'
            '<body><joint axis="1 0 0"/><geom size="0.1"/></body></body>')  # fmt: skip
    text = mjcf(f'<mujoco><worldbody>{body}</worldbody></mujoco>', 'seven-of 9')
    loaded = load_world(ServerConfig(model=text))
    found = members(loaded, 'joints')
    assert found == {'seven_of_9': ['FreeJoint', 'HingeJoint', 'SlideJoint', 'HingeJoint_2']}
    names = [loaded.model.body(i).name for i in range(1, loaded.model.nbody)]
    assert len(set(names)) == 4 and all(name.startswith('seven_of_9_') for name in names)


def test_what_a_tendon_drives_or_an_equality_joins_is_of_the_robot(mjcf):
    tendon = ('<tendon><fixed name="rope"><joint joint="elbow" coef="1"/></fixed></tendon>'
              '<actuator><motor name="winch" tendon="rope"/></actuator>')  # fmt: skip
    loaded = world(mjcf, ARM + BOX, tendon)
    assert members(loaded, 'actuators') == {'lab': ['winch']} and 'box' in loaded.entities
    weld = '<equality><weld body1="arm" body2="box"/></equality>'
    loaded = world(mjcf, ARM + BOX, MOTOR + weld)
    assert members(loaded, 'joints') == {'lab': ['elbow', 'slip']} and not loaded.entities


@pytest.mark.parametrize('text', ['', '<mujoco><geom/></mujoco>'])
def test_invalid_models_are_refused_with_the_file_name(mjcf, text):
    path = mjcf(text)
    with pytest.raises(WorldError, match=path.name):
        load_world(ServerConfig(model=path))


def test_objects_named_like_the_robot_change_its_prefix(mjcf):
    box = BOX.replace('"box"', '"lab_box"')
    loaded = world(mjcf, ARM + box, MOTOR)
    assert members(loaded, 'joints') == {'robot_lab': ['elbow']}
    with pytest.raises(WorldError, match='lab_box'):
        world(mjcf, ARM + box, MOTOR, prefix='lab')


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
    'name', ['', 'hand/manipulate_pen_touch_sensors.xml', 'adroit_hand/adroit_hammer.xml']
)
def test_a_single_mjcf_file_keeps_its_order_of_qpos(name, mjcf):
    path = foreign_model(name) if name else mjcf(MIXED)
    own = mujoco.MjModel.from_xml_path(str(path))
    served, spec, _ = assemble_file(path, 'bot')
    for kind, count in (('joint', own.njnt), ('body', own.nbody), ('actuator', own.nu)):
        for index in range(count):
            wanted, found = (getattr(model, kind)(index).name for model in (own, served))
            assert wanted in ('', found.removeprefix('bot_'))
    np.testing.assert_array_equal(served.jnt_qposadr, own.jnt_qposadr)
    np.testing.assert_array_equal(served.qpos0, own.qpos0)
    rng = np.random.default_rng(1)
    qpos = own.qpos0 + 0.1 * rng.normal(size=own.nq)
    qvel, ctrl = 0.1 * rng.normal(size=own.nv), 0.1 * rng.normal(size=own.nu)
    states = [mujoco.MjData(own), mujoco.MjData(served)]
    for model, data in zip((own, served), states, strict=True):
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
        data.qpos[:], data.qvel[:], data.ctrl[:] = qpos, qvel, ctrl
        mujoco.mj_forward(model, data)
    np.testing.assert_allclose(states[1].xpos, states[0].xpos, atol=1e-12)
    np.testing.assert_allclose(states[1].qacc_smooth, states[0].qacc_smooth, rtol=1e-6, atol=1e-9)
    # What clients get as XML is that world.
    again = mujoco.MjSpec.from_string(spec.to_xml(), assets=spec.assets)
    assert [joint.name for joint in again.joints] == [joint.name for joint in spec.joints]
