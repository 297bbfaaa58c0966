# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Worlds of SDF as the server serves them: what moves, how, and how it looks."""

import json
from pathlib import Path

import mujoco
import numpy as np
import pytest
from rig import Rig

from urlab_ros_bridge.robot_import import ImportOptions
from urlab_ros_bridge.robot_import import RobotImportError
from urlab_ros_bridge.robot_import.descriptions import export_world
from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.model.world import load_world

HERE = Path(__file__).parent
CORPUS = HERE / 'corpus'
TRUTH = json.loads((HERE / 'libsdformat.json').read_text())
SLIDE, HINGE, BALL, FREE = (
    getattr(mujoco.mjtJoint, f'mjJNT_{kind}') for kind in ('SLIDE', 'HINGE', 'BALL', 'FREE')
)


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch):
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path / 'cache'))
    monkeypatch.setenv('GZ_SIM_RESOURCE_PATH', str(CORPUS / 'models'))


def loaded(name):
    world = load_world(ServerConfig(model=CORPUS / f'{name}.sdf'))
    return world, world.model, world.data


def kinds(model, *bodies):
    """Return the types of the joints of bodies."""
    return [mujoco.mjtJoint(model.joint(j).type[0]) for b in bodies for j in joints(model, b)]


def joints(model, body):
    first = model.body(body).jntadr[0]
    return range(first, first + model.body(body).jntnum[0])


@pytest.mark.parametrize('name', sorted(path.stem for path in CORPUS.glob('*.sdf')))
def test_a_world_is_served_with_everything_in_its_place(name):
    _, model, data = loaded(name)
    if name in ('mimic', 'model_alone'):  # it starts at its offset; it is put on the floor
        return
    shown = {model.joint(j).name: j for j in range(model.njnt)}
    limit = 1e-5 if name == 'include_merge_placed' else 2e-6
    for what, truth in TRUTH.get(name, {}).items():
        kind, _, full = what.partition(' ')
        if kind == 'link':
            errors = np.abs(data.xpos - truth[:3]).max(axis=1)
            turns = np.abs(data.xquat @ np.roll(truth[3:], 1))
            assert ((errors < limit) & (turns > 1 - limit)).any(), what
        flat = full.replace('::', '_')
        if kind == 'joint' and flat in shown:
            assert data.xanchor[shown[flat]] == pytest.approx(truth[:3], abs=limit), what
        axis = flat if kind == 'axis0' else f'{flat}_2'
        if kind.startswith('axis') and axis in shown:
            assert data.xaxis[shown[axis]] == pytest.approx(truth[:3], abs=limit), what
    mujoco.mj_step(model, data, 200)
    assert not data.warning.number.any()


def test_what_is_connected_moves_as_one_and_what_is_static_does_not():
    _, model, _ = loaded('two_parts')
    assert kinds(model, 'pair_a', 'pair_b') == [FREE, FREE]
    assert model.body('pair_a').mass == 1.0
    for name in ('static_model', 'surroundings'):
        assert loaded(name)[1].njnt == 0
    _, model, _ = loaded('fixed')
    assert kinds(model, 'swing') == [FREE] and model.nbody == 3
    _, model, _ = loaded('include')
    assert kinds(model, 'heavy') == [] and kinds(model, 'crate') == [FREE]
    assert model.body('crate').mass == 3.0


@pytest.mark.parametrize(
    ('name', 'expected'),
    [
        ('prismatic', [SLIDE]),
        ('continuous', [HINGE]),
        ('ball', [BALL]),
        ('universal', [HINGE, HINGE]),
        ('revolute2', [HINGE, HINGE]),
        ('screw', [HINGE, SLIDE]),
    ],
)
def test_joints_are_of_their_type(name, expected):
    _, model, _ = loaded(name)
    assert kinds(model, 'swing_a') == [FREE] and kinds(model, 'swing_b') == expected
    assert model.nu == 0, 'nothing commands them'
    limited = [j for j in joints(model, 'swing_b') if model.jnt_limited[j]]
    if name in ('prismatic', 'universal', 'revolute2'):
        assert model.jnt_range[limited] == pytest.approx(np.array([[-1, 2]] * len(limited)))
    if name == 'continuous':
        dof = model.jnt_dofadr[model.joint('swing_j').id]
        assert (model.dof_damping[dof], model.dof_frictionloss[dof]) == (0.1, 0.2)
        assert not limited


def test_a_screw_advances_as_it_turns():
    _, model, data = loaded('screw')
    hinge, slide = (model.joint(f'swing_j{end}').qposadr[0] for end in ('', '_slide'))
    model.opt.gravity[:] = 0
    for _ in range(500):
        data.joint('swing_j').qfrc_applied[:] = 0.02
        mujoco.mj_step(model, data)
    turned = data.qpos[hinge]
    assert turned > 0.3
    assert data.qpos[slide] == pytest.approx(turned / 20, abs=0.003)  # thread_pitch -20 rad/m


def test_couplings_loops_and_joints_with_the_world():
    _, model, _ = loaded('mimic')
    assert model.eq_data[0, :2] == pytest.approx((0.1, 0.5))
    world, model, _ = loaded('loop')
    assert [j.name for j in world.articulations['ring'].joints.values()] == ['j', 'k']
    _, model, _ = loaded('world_joint')
    assert kinds(model, 'lamp_a', 'lamp_b') == [HINGE]
    _, model, _ = loaded('slider_on_world')
    assert kinds(model, 'door_a') == [SLIDE]


def test_shapes_have_their_sizes_and_planes_do_not_move():
    _, model, _ = loaded('shapes')
    moving = {model.geom(g).name: g for g in range(model.ngeom)}
    types = [model.geom_type[moving[f's_collision{n}']] for n in ('', *range(2, 7))]
    names = ('BOX', 'SPHERE', 'CYLINDER', 'CAPSULE', 'ELLIPSOID', 'BOX')
    assert types == [getattr(mujoco.mjtGeom, f'mjGEOM_{name}') for name in names]
    assert model.geom('fixed_collision6').type == mujoco.mjtGeom.mjGEOM_PLANE
    assert model.geom('s_collision').size == pytest.approx((0.1, 0.2, 0.3))
    assert model.geom('s_collision4').size[:2] == pytest.approx((0.1, 0.4))
    visual = model.geom('s_visual')
    assert visual.contype == visual.conaffinity == 0 and visual.group == 2
    assert model.geom('s_collision').group == 3
    _, model, _ = loaded('cone')
    points = model.mesh_vert + model.mesh_pos
    assert np.ptp(points[:, 2]) == pytest.approx(0.9) and np.ptp(points[:, 0]) == pytest.approx(
        0.6
    )


def test_a_height_map_is_as_high_as_its_image_is_bright(tmp_path):
    from PIL import Image

    grey = np.zeros((33, 33), np.uint8)
    grey[:8] = 255  # the upper rows are at +y
    grey[8:, :8] = 51
    Image.fromarray(grey).save(tmp_path / 'hill.png')
    shape = '<uri>hill.png</uri><size>10 10 2</size><pos>0 0 1</pos>'
    (tmp_path / 'hill.sdf').write_text(
        '<sdf version="1.9"><world name="w"><model name="hill"><static>true</static>'
        f'<link name="l"><collision name="c"><geometry><heightmap>{shape}</heightmap></geometry>'
        '</collision></link></model></world></sdf>'
    )
    world = load_world(ServerConfig(model=tmp_path / 'hill.sdf'))
    for place, height in (((3.0, 4.5), 3.0), ((-4.5, -3.0), 1.4), ((3.0, -3.0), 1.0)):
        met = np.zeros(1, np.int32)
        above, down = np.array([*place, 9.0]), np.array([0.0, 0.0, -1.0])
        ray = mujoco.mj_ray(world.model, world.data, above, down, None, 1, -1, met)
        assert 9.0 - ray == pytest.approx(height, abs=1e-3)


def test_masses_colours_contacts_and_surroundings():
    _, model, _ = loaded('auto_inertia')
    assert model.body('s').mass == pytest.approx(500 * 0.2 * 0.4 * 0.6)
    assert model.body('s').ipos == pytest.approx((0.5, 0, 0))
    _, model, _ = loaded('look')
    assert model.geom('m_visual').rgba == pytest.approx((1, 0, 0, 1))
    assert model.geom('m_visual2').rgba == pytest.approx((0, 0, 1, 0.25))
    assert model.geom('m_visual3').rgba[0] > model.geom('m_visual3').rgba[2]
    _, model, _ = loaded('touch')
    slippery, usual = model.geom('m_collision'), model.geom('m_collision2')
    assert slippery.friction[0] == pytest.approx(0.3) and slippery.priority == 1
    assert (slippery.contype, usual.contype) == (2, 0xFFFF)
    _, model, _ = loaded('surroundings')
    assert model.opt.gravity == pytest.approx((0, 0, -1.62)) and model.opt.timestep == 0.001
    assert model.opt.magnetic == pytest.approx((0.1, 0.2, -0.3))
    assert model.opt.wind == pytest.approx((3, 0, 0))
    torch = model.light('torch')
    assert torch.dir == pytest.approx((-1, 0, 0), abs=1e-5) and torch.castshadow == 0
    assert torch.cutoff == pytest.approx(np.degrees(0.3), abs=1e-3)
    assert torch.attenuation == pytest.approx((1, 0.1, 0.01))
    assert model.light('sun').castshadow == 1 and model.nlight == 3


def test_robots_have_names_that_do_not_begin_with_each_other():
    world, _, _ = loaded('names')
    assert list(world.articulations) == ['robotsub', 'sub_marine']


def test_a_drive_follows_its_twist_and_sensors_are_where_their_frames_are():
    rig = Rig(mode='direct', model=CORPUS / 'diff_drive.sdf')
    car = rig.simulation.world.spec.articulations[0]
    assert car.twist.kind == 'differential' and set(car.lidars) == {'laser'}
    assert set(car.cameras) == {'eye'} and car.cameras['eye'].resolution == (320, 240)
    assert rig.model.site('car_laser').pos == pytest.approx((0.1, 0, 0.2))
    start = rig.data.body('car_chassis').xpos.copy()
    rig.ask('set_twist', articulation='car', linear=[0.4, 0.0, 0.0], timeout=9.0)
    rig.ask('step', n_steps=1500)
    moved = rig.data.body('car_chassis').xpos - start  # it looks along y
    assert moved[1] == pytest.approx(0.4 * 3.0, rel=0.1) and abs(moved[0]) < 0.05


def test_joints_have_the_actuators_of_their_controllers():
    world, model, _ = loaded('controllers')
    actuators = world.articulations['m'].actuators
    assert set(actuators) == {'j', 'k'}
    position, velocity = (actuators[name].id for name in ('j', 'k'))
    assert model.actuator_biasprm[position][1] < 0.0 == model.actuator_biasprm[velocity][1]


def test_a_model_alone_and_its_folder_stand_on_the_usual_floor(tmp_path):
    world, _, _ = loaded('model_alone')
    assert 'floor' in [world.model.geom(g).name for g in range(world.model.ngeom)]
    sidecar = export_world(CORPUS / 'models/crate', ImportOptions(), tmp_path / 'out', False)
    world = load_world(ServerConfig(model=sidecar))
    assert kinds(world.model, 'crate') == [FREE]
    assert sidecar.parent == tmp_path / 'out'


INERTIAL = """<inertial><mass value="1"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>"""
LAMP = """
<robot name="lamp">
  <link name="foot">
    INERTIAL
    <collision><geometry><box size="0.3 0.3 0.2"/></geometry></collision>
  </link>
  <link name="head">
    INERTIAL
  </link>
  <joint name="neck" type="revolute"><parent link="foot"/><child link="head"/>
    <origin xyz="0 0 0.5"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="9" velocity="1"/>
  </joint>
</robot>
""".replace('INERTIAL', INERTIAL)


def test_a_robot_is_put_into_a_scene_of_either_kind(tmp_path):
    urdf = tmp_path / 'lamp.urdf'
    urdf.write_text(LAMP)
    alone = load_world(ServerConfig(model=urdf))
    (robot,) = alone.articulations
    base = f'{robot}_{alone.spec.articulations[0].frames["base"]}'
    (tmp_path / 'hall.xml').write_text(
        '<mujoco><worldbody><geom name="ground" type="plane" size="0 0 1"/></worldbody></mujoco>'
    )
    for scene, others in ((CORPUS / 'diff_drive.sdf', ['car']), (tmp_path / 'hall.xml', [])):
        pose = (3.0, -2.0, 0.5, np.pi / 2)
        world = load_world(ServerConfig(model=urdf, scene=scene, pose=pose))
        assert list(world.articulations) == [*others, robot]
        expected = alone.data.body(base).xpos + np.array([3.0, -2.0, 0.5])
        assert world.data.body(base).xpos == pytest.approx(expected)
        assert world.data.body(base).xmat[3] == pytest.approx(1.0), 'its x axis is along y'
        assert 'floor' not in [world.model.geom(g).name for g in range(world.model.ngeom)]


WORLD = '<sdf version="1.9"><world name="w">{}</world></sdf>'
INCLUDE = WORLD.format('<include><uri>{}</uri></include>')
LINK = '<sdf version="1.9"><model name="m"><link name="l">{}</link></model></sdf>'
FLAT = '<collision name="c"><geometry><box><size>1 0 1</size></box></geometry></collision>'
FUEL = 'https://fuel.gazebosim.org/1.0/o/models/m'


@pytest.mark.parametrize(
    ('text', 'problem'),
    [
        ('<!DOCTYPE x [<!ENTITY a "b">]><sdf version="1.9"/>', 'line 1: document types'),
        ('<sdf version="1.9">' + '<a>' * 200, 'inside each other'),
        ('<sdf version="1.9"/>', '0 worlds and 0 models'),
        ('<sdf version="x"/>', "version='x' is not a version"),
        ('<robot/>', 'root element is <robot>'),
        (INCLUDE.format('model://loop'), 'includes itself'),
        (WORLD.format('<include/>'), '<include>: <uri> is missing'),
        (INCLUDE.format('model://none'), 'model://none'),
        (INCLUDE.format(FUEL), f'gz fuel download --url {FUEL}'),
        (LINK.format(FLAT), '<collision c>.*<box>.*more than 0'),
        (LINK.format('<inertial><mass>-1</mass></inertial>'), '<inertial>: a mass of -1'),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_reason(tmp_path, monkeypatch, text, problem):
    loop = tmp_path / 'models/loop'
    loop.mkdir(parents=True)
    (loop / 'model.sdf').write_text(
        '<sdf version="1.9"><model name="a"><include><uri>model://loop</uri></include></model>'
        '</sdf>'
    )
    monkeypatch.setenv('GZ_SIM_RESOURCE_PATH', str(tmp_path / 'models'))
    path = tmp_path / 'w.sdf'
    path.write_text(text)
    with pytest.raises(RobotImportError, match=f'(?s){problem}'):
        load_world(ServerConfig(model=path))


def test_names_that_mujoco_cannot_have_do_not_matter(tmp_path):
    path, light = tmp_path / 'w.sdf', '<light name="sun" type="point"/>'
    model = '<model name="world"><static>1</static><link name="l"/></model>'
    path.write_text(WORLD.format(model + 2 * light))
    model = load_world(ServerConfig(model=path)).model
    assert model.body('world_model').id == 1 and model.nlight == 2
