# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""An imported robot as the server loads it, against the URDF as another parser reads it."""

from pathlib import Path
import shutil

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
import trimesh
import yourdfpy

from urlab_ros_bridge.cli.main import main
from urlab_ros_bridge.robot_import import ImportOptions
from urlab_ros_bridge.robot_import.errors import InvalidDescription
from urlab_ros_bridge.robot_import.errors import MissingMeshes
from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.model.world import load_world

# The last joint of an arm with friction as datasheets give it (N m).
DATA = Path(__file__).parent / 'data'
WHEELS = ['left_wheel', 'right_wheel']
# What a link of a simulator's example weighs: MuJoCo takes such an inertia for none.
LIGHT = """<inertial><mass value="1e-9"/>
<inertia ixx="1e-15" iyy="1e-15" izz="1e-15" ixy="0" ixz="0" iyz="0"/></inertial>"""
BOX = """<inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><box size="1 1 1"/></geometry></visual>"""
LINKS = ['base_footprint', 'base_link', *WHEELS, 'shoulder', 'tip', 'camera_link']


def load(path, **options):
    return load_world(ServerConfig(model=path, importing=ImportOptions(**options)))


def joint(world, name):
    return world.model.joint(f'my_robot_{name}')


def pose(world, link):
    """Return the pose of a link in the world, shape (4, 4)."""
    body = world.model.body(f'my_robot_{link}').id
    matrix = np.eye(4)
    matrix[:3, :3] = world.data.xmat[body].reshape(3, 3)
    matrix[:3, 3] = world.data.xpos[body]
    return matrix


@pytest.mark.parametrize('exported', [False, True])
def test_every_link_is_where_the_urdf_has_it(write_robot, tmp_path, capsys, exported):
    path = str(write_robot())
    urdf = yourdfpy.URDF.load(path, load_meshes=False)
    if exported:
        assert main(['import', path, '--out', str(tmp_path / 'out')]) == 0
        path = capsys.readouterr().out.split()[-1]
    world = load(path)
    rng = np.random.default_rng(1)
    for _ in range(20):
        values = {name: rng.uniform(-3, 3) for name in urdf.actuated_joint_names}
        urdf.update_cfg(values)
        for name, value in {**values, 'slide': values['pan'] * 0.0333333333 + 0.01}.items():
            world.data.qpos[joint(world, name).qposadr] = value
        mujoco.mj_kinematics(world.model, world.data)
        start = np.linalg.inv(pose(world, LINKS[0]))
        for link in LINKS:
            found, expected = start @ pose(world, link), urdf.get_transform(link, LINKS[0])
            np.testing.assert_allclose(found, expected, atol=1e-9, err_msg=link)


def test_a_rotation_may_be_a_quaternion(tmp_path):
    """As of URDF 1.2, which ROS 2 Lyrical reads."""
    rotation = Rotation.random(rng=1)
    words = {
        'quat_xyzw': rotation.as_quat(),
        'rpy': rotation.as_euler('xyz'),  # about fixed axes, as URDF has them
    }
    found = []
    for name, values in words.items():
        origin = f'<origin xyz="0 0 1" {name}="{" ".join(map(repr, map(float, values)))}"/>'
        file = tmp_path / f'{name}.urdf'
        file.write_text(
            f'<robot name="my_robot" version="1.2"><link name="base_link">{BOX}</link>'
            f'<link name="arm">{BOX}</link><joint name="joint" type="fixed">{origin}'
            '<parent link="base_link"/><child link="arm"/></joint></robot>'
        )
        found.append(pose(load(file, base='fixed'), 'arm')[:3, :3])
    np.testing.assert_allclose(found[0], rotation.as_matrix(), atol=1e-9)
    np.testing.assert_allclose(found[1], rotation.as_matrix(), atol=1e-9)


def test_an_import_replaces_files_only_when_it_may(write_robot, tmp_path, capsys):
    words = ['import', str(write_robot()), '--out', str(tmp_path / 'out')]
    assert main(words) == 0
    scene = tmp_path / 'out' / 'scene.xml'
    scene.write_text('mine')
    assert main(words) == 2 and scene.read_text() == 'mine'
    assert 'scene.xml' in capsys.readouterr().err
    assert main([*words, '--overwrite']) == 0 and scene.read_text() != 'mine'


def test_masses_are_those_of_the_urdf_where_a_body_can_have_them(write_robot):
    model = load(write_robot()).model
    bodies = {link: model.body(f'my_robot_{link}') for link in LINKS}
    assert [body.mass[0] for body in bodies.values()] == [0, 5, 0.5, 0.5, 1, 1e-3, 0]
    inertias = (('base_link', [0.1, 0.1, 0.15]), ('shoulder', [0.5, 0.5, 1.0]))
    for link, inertia in inertias:
        np.testing.assert_allclose(sorted(bodies[link].inertia), inertia, rtol=1e-7)


def mesh(name):
    return f'<mesh filename="package://my_robot/meshes/{name}"/>'


def test_a_shape_that_cannot_be_is_left_out_or_repaired_alone(package, caplog):
    """And named; the rest of the robot is served."""
    triangle = np.array([[(0, 0, 0), (1, 0, 0), (0, 1, 0)]])
    shapes = {
        'point': '<sphere radius="0"/>',
        'thin': '<box size="0.1 0.1 0"/>',
        'rod': '<cylinder radius="0.1" length="0"/>',
        'words': '<box size="a b c"/>',
        'short': '<box size="1 1"/>',
        'squashed': '<mesh filename="package://my_robot/meshes/link.stl" scale="1 0 1"/>',
        'cone': '<cone radius="1" length="1"/>',
        'nothing': '',
        'flat': mesh('flat.stl'),
    }
    trimesh.Trimesh(**trimesh.triangles.to_kwargs(triangle)).export(package / 'meshes/flat.stl')
    text = '<robot name="my_robot"><link name="base"/>'
    for name, shape in shapes.items():
        geometry = f'<geometry>{shape}</geometry>'
        text += f'<link name="{name}">{LIGHT}<visual>{geometry}</visual><collision>{geometry}'
        text += f'</collision></link><joint name="{name}" type="continuous"><parent link="base"/>'
        text += f'<child link="{name}"/></joint>'
    path = package / 'urdf' / 'shapes.urdf'
    path.write_text(f'{text}</robot>')
    with caplog.at_level('WARNING'):
        model = load(path, base='fixed').model
    bodies = {model.body(body).name for body in model.geom_bodyid[model.geom_bodyid > 0]}
    assert bodies == {'my_robot_flat'} and model.ngeom == 3  # visual, collision and the floor
    # One line for each shape, and one for the mass that has almost no inertia.
    for name in shapes:
        lines = [line for line in caplog.messages if line.startswith(f"link '{name}': ")]
        assert len(lines) == (2 if name == 'flat' else 3), lines


def test_check_lists_what_is_changed_and_writes_nothing(
    write_robot, package, tmp_path, capsys, monkeypatch
):
    (package / 'meshes' / 'link.stl').unlink()
    monkeypatch.chdir(tmp_path)
    path = write_robot('<gazebo reference="tip"><sensor name="s" type="sonar"/></gazebo>')
    assert main(['import', str(path), '--check']) == 0
    *lines, summary = capsys.readouterr().out.splitlines()
    starts = (
        "link 'shoulder': left out: collision package://my_robot/meshes/link.stl: ",
        "link 'shoulder': repaired: ",
        "link 'tip': repaired: moves but has no mass",
        "sensor 's': left out: ",
        'robot: guessed: the base is floating, because it stands on wheels',
    )
    for start in starts:
        assert [line for line in lines if line.startswith(start)], start
    owners = [line.partition(': ')[0] for line in lines]
    assert len(set(owners)) == sum(a != b for a, b in zip(owners, ['', *owners], strict=False))
    assert summary.startswith('7 of 8 shapes, 0 of 1 sensors, 2 repaired, 2 left out, ')
    assert not (tmp_path / 'robot').exists()


def test_a_mesh_keeps_its_own_colours_and_the_material_colours_what_has_none(package):
    """As in RViz."""
    visuals = ''.join(
        f'<visual><geometry>{mesh(name)}</geometry><material name="blue"><color rgba="0 0 1 1"/>'
        '</material></visual>'
        for name in ('two_colors.dae', 'link.stl')
    )
    path = package / 'urdf' / 'colors.urdf'
    path.write_text(f'<robot name="my_robot"><link name="a">{visuals}</link></robot>')
    model = load(path, base='fixed').model
    colors = np.round(model.geom_rgba[model.geom_bodyid > 0], 2).tolist()
    assert sorted(map(tuple, colors)) == [(0, 0, 1, 1), (0, 1, 0, 1), (1, 0, 0, 1)]


def test_visual_and_collision_shapes_are_separate(write_robot):
    model = load(write_robot()).model
    own = model.geom_bodyid == model.body('my_robot_base_link').id
    seen = own & (model.geom_contype == 0)
    colors = {tuple(color) for color in np.round(model.geom_rgba[seen], 2).tolist()}
    assert colors == {(1, 0, 0, 1), (0, 1, 0, 1), (0, 0, 1, 1)}
    assert set(model.geom_group[seen]) == {2}
    assert model.geom_group[own & ~seen].tolist() == [3] * 3


def test_it_stands_still_without_warnings(write_robot):
    world = load(write_robot())
    model, data = world.model, world.data
    first, pan = pose(world, 'base_link'), joint(world, 'pan').qposadr
    held = data.qpos[pan]
    mujoco.mj_step(model, data, round(5 / model.opt.timestep))
    assert not any(item.number for item in data.warning)
    np.testing.assert_allclose(pose(world, 'base_link')[:2, 3], first[:2, 3], atol=0.01)
    assert abs(data.qpos[pan] - held) < 0.03 and np.abs(data.qvel).max() < 1e-2


@pytest.mark.parametrize(('arguments', 'count'), [({}, 1), ({'fingers': '3'}, 3)])
def test_a_xacro_is_expanded_with_its_arguments(package, arguments, count):
    for name in ('part.xacro', 'hand.xacro'):
        path = shutil.copy(DATA / name, package / 'urdf')
    (robot,) = load(path, xacro_arguments=arguments).articulations.values()
    fingers = {name for name in robot.bodies if 'finger' in name}
    assert fingers == {f'finger{number + 1}' for number in range(count)}


def test_a_servo_moves_a_light_link_against_dry_friction():
    world = load(DATA / 'wrist.urdf')
    model, data = world.model, world.data
    for target in (0.3, -0.2):
        data.ctrl[0] = target
        mujoco.mj_step(model, data, nstep=round(2.0 / model.opt.timestep))
        assert abs(data.qpos[0] - target) < 0.025 and abs(data.qvel[0]) < 1e-3


def test_joints_keep_limits_dynamics_and_coupling(write_robot):
    world = load(write_robot())
    pan = joint(world, 'pan')
    assert (pan.damping[0], pan.frictionloss[0]) == (0.3, 0.1)
    assert list(pan.range) == [0.2, 1.5] and not joint(world, 'left_wheel_joint').limited[0]
    assert world.data.qpos[pan.qposadr] == 0.2  # 0 is out of its range
    np.testing.assert_allclose(
        world.data.qpos[joint(world, 'slide').qposadr], 0.0166667, atol=1e-6
    )


WORLD = """<link name="world"/><joint name="bolt" type="fixed"><parent link="world"/>
<child link="base_footprint"/></joint>"""


@pytest.mark.parametrize(('base', 'extra'), [('fixed', ''), ('auto', WORLD)])
def test_a_base_is_fixed_by_the_option_and_by_a_link_world(write_robot, base, extra):
    world = load(write_robot(extra), base=base)
    (robot,) = world.articulations.values()
    assert not robot.starts_free
    if extra:
        frames = {'base': 'world_link', 'world_link': 'world'}
        assert world.spec.articulations[0].frames == frames


MASS = """<inertial><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>"""
BALL = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'


def robot_of(root, *limbs):
    """Return a description: the root link's content, and the content and height of each limb."""
    parts = [f'<robot name="r"><link name="base">{root}</link>']
    for number, (content, height) in enumerate(limbs):
        parts.append(
            f'<link name="l{number}">{content}</link><joint name="j{number}" type="revolute">'
            f'<parent link="base"/><child link="l{number}"/><origin xyz="0 {number} {height}"/>'
            '<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="9" velocity="9"/></joint>'
        )
    return ''.join([*parts, '</robot>'])


LIMB = MASS + BALL
PLUGIN = '<gazebo><plugin filename="libgazebo_ros_planar_move.so"/></gazebo></robot>'


@pytest.mark.parametrize(
    ('text', 'floats'),
    [
        (robot_of(MASS, (LIMB, -1), (LIMB, -1)), True),  # it stands on legs
        (robot_of(MASS, (LIMB, 1)), False),  # it hangs from its root link
        (robot_of(LIMB, (LIMB, 1)), False),  # it stands on its root link
        (robot_of('', (LIMB, -1), (LIMB, -1)), False),  # the root link has no mass
        (robot_of(MASS, (MASS, 1)), False),  # nothing collides
        (robot_of(LIMB), True),  # nothing of it moves
        (robot_of(LIMB).replace('</robot>', PLUGIN), True),  # it has a drive
    ],
)
def test_a_base_floats_that_stands_by_itself_and_is_on_the_floor(tmp_path, text, floats):
    path = tmp_path / 'r.urdf'
    path.write_text(text)
    world = load(path)
    (robot,) = world.articulations.values()
    # The joints of a planar base are of the drive.
    assert floats == bool(robot.starts_free or 'planar_yaw' in robot.joints)
    model, data = world.model, world.data
    floor = model.geom('floor').id
    solid = set(np.flatnonzero(model.geom_contype | model.geom_conaffinity)) - {floor}
    gaps = [mujoco.mj_geomDistance(model, data, floor, geom, 9.0, None) for geom in solid]
    # One that is fixed may be above the floor, but not in it.
    assert -1e-6 <= min(gaps, default=0.0) <= (2e-3 if floats else 2.0)


@pytest.mark.parametrize('root', ['base link', 'bäse', 'a:b', '/base', '/', 'base'])
@pytest.mark.parametrize('base', ['fixed', 'floating'])
def test_the_server_takes_what_the_import_writes_of_any_root_link(tmp_path, root, base):
    path = tmp_path / 'r.urdf'
    path.write_text(robot_of(LIMB, (LIMB, 1)).replace('"base"', f'"{root}"'), encoding='utf-8')
    world = load(path, base=base)
    frame = world.spec.articulations[0].frames['base']
    assert frame == (root.strip('/') or 'link')
    assert frame in world.articulations['r'].bodies


def test_missing_meshes_are_all_named_or_left_out(write_robot, package):
    for mesh in (package / 'meshes').iterdir():
        mesh.unlink()
    path = write_robot()
    with pytest.raises(MissingMeshes) as caught:
        load(path)
    names = {f'package://my_robot/meshes/{name}' for name in ('two_colors.dae', 'link.stl')}
    assert set(caught.value.reasons) == names
    assert load(path, allow_missing_meshes=True).model.nmesh == 0


def with_joint(old, new):
    """Return a description of two links whose joint has been changed."""
    text = robot_of(LIMB, (LIMB, 1))
    assert old in text
    return text.replace(old, new)


# As ten thousand links in one place have it with the usual memory.
CROWD = robot_of(BALL, *[(LIMB.replace('0.1"/></g', '99"/></g'), 0)] * 40).replace(
    '</robot>', '<mujoco><size memory="5K"/></mujoco></robot>'
)


@pytest.mark.parametrize(
    ('root', 'bodies', 'free'),
    [('', {'l0'}, True), (LIMB, {'base', 'l0'}, False)],
)
def test_a_floating_joint_frees_the_base_and_no_other_link(tmp_path, root, bodies, free):
    path = tmp_path / 'r.urdf'
    path.write_text(robot_of(root, (LIMB, 1)).replace('"revolute"', '"floating"'))
    (robot,) = load(path, **({} if free else {'base': 'fixed'})).articulations.values()
    assert (set(robot.bodies), bool(robot.starts_free)) == (bodies, free)


def test_a_joint_that_mimics_itself_moves_alone(tmp_path):
    path = tmp_path / 'r.urdf'
    path.write_text(robot_of(LIMB, (LIMB, 1)).replace('</joint>', '<mimic joint="j0"/></joint>'))
    assert load(path).model.neq == 0


DECLARATION = '<?xml version="1.0" encoding="utf-8"?>'
ROBOT = robot_of(LIMB, (LIMB, 1))


@pytest.mark.parametrize(
    'text',
    [
        ROBOT.replace('</robot>', '<drake:joint drake:of="j0"/></robot>'),
        f'\n{DECLARATION}{ROBOT}',
        f'<!-- made by hand -->\n{DECLARATION}{ROBOT}',
        f'xacro: in-order processing became default\n{DECLARATION}{ROBOT}',
        ROBOT.replace('<robot ', '<robot xmlns="http://www.ros.org" xmlns:xacro="http://x" '),
        ROBOT.replace('<axis xyz="0 1 0"/>', '<axis xyz="0 1 0"/><axis xyz="1 0 0"/>'),
        ROBOT.replace('<link ', '<xacro:property name="unused" value="1"/><link ').replace(
            '<robot ', '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" '
        ),
    ],
)
@pytest.mark.parametrize('ending', ['urdf', 'xml'])
def test_a_file_is_read_as_by_urdfdom_whatever_its_name(tmp_path, text, ending):
    path = tmp_path / f'r.{ending}'
    path.write_text(text)
    world = load(path)
    assert set(world.articulations['r'].bodies) == {'base', 'l0'}
    np.testing.assert_array_equal(world.model.joint('r_j0').axis, (0, 1, 0))


def test_macros_are_expanded_in_a_file_that_is_not_called_xacro(package):
    for name in ('part.xacro', 'hand.xacro'):
        path = shutil.copy(DATA / name, package / 'urdf')
    path = Path(path).rename(package / 'urdf' / 'hand.urdf')
    (robot,) = load(path, xacro_arguments={'fingers': '2'}).articulations.values()
    assert {'finger1', 'finger2'} <= set(robot.bodies)


@pytest.mark.parametrize('name', ['package://my_robot//meshes/link.stl', 'link.stl'])
def test_meshes_are_found_behind_two_slashes_and_in_the_meshdir(package, name):
    shape = f'<visual><geometry><mesh filename="{name}"/></geometry></visual>'
    compiler = '<mujoco><compiler meshdir="../meshes"/></mujoco>'
    path = package / 'urdf' / 'm.urdf'
    path.write_text(f'<robot name="my_robot">{compiler}<link name="a">{shape}</link></robot>')
    assert load(path).model.nmesh == 1


@pytest.mark.parametrize(
    ('limits', 'least', 'greatest'),
    [('lower="0.3" upper="0.3"', 0.3, 0.3), ('lower="-1" upper="2"', -1, 2), ('', None, None)],
)
def test_a_joint_with_equal_limits_is_locked(tmp_path, limits, least, greatest):
    path = tmp_path / 'r.urdf'
    path.write_text(ROBOT.replace('lower="-1" upper="1"', limits))
    world = load(path)
    joint = world.model.joint('r_j0')
    assert bool(joint.limited[0]) == (least is not None)
    if least is not None:
        np.testing.assert_allclose(joint.range, (least, greatest), atol=2e-6)
    mujoco.mj_step(world.model, world.data, 500)
    if least == greatest is not None:
        assert world.data.joint('r_j0').qpos[0] == pytest.approx(least, abs=2e-3)


FLYING = """<robot><link name="arm"/><joint name="j" type="fixed"><parent link="arn"/>
<child link="arm"/></joint></robot>"""


@pytest.mark.parametrize(
    ('text', 'named'),
    [
        ('<robot', 'XML'),
        ('<sdf/>', 'sdf'),
        ('<robot/>', 'no links'),
        ('<robot><link name="a"/><link name="b"/></robot>', 'b'),
        (FLYING, 'arn'),
        ('<?xml version="1.0" encoding="klingon"?><robot/>', 'klingon'),
        (with_joint('"l0"', '"a&#10;b"'), 'link names .*control'),
        (with_joint('"j0"', '"a&#x9b;2J"'), 'joint names .*control'),
        (with_joint('xyz="0 0 1"', 'xyz="NaN 0 1"'), "<origin> of joint 'j0': xyz='NaN 0 1'"),
        (with_joint('xyz="0 0 1"', 'xyz="0 0 -inf"'), "joint 'j0'"),
        (with_joint('xyz="0 0 1"', 'quat_xyzw="0 0 1"'), "quat_xyzw='0 0 1' is not four numbers"),
        (with_joint('lower="-1"', 'lower="nan"'), "<limit> of joint 'j0': lower"),
        (with_joint('mass value="1"', 'mass value="nan"'), "<mass> of link 'base'"),
        pytest.param(CROWD, 'touch', id='too many shapes in one place'),
    ],
)
def test_an_invalid_description_is_rejected(tmp_path, text, named):
    path = tmp_path / 'a.urdf'
    path.write_text(text)
    with pytest.raises(InvalidDescription, match=named):
        load(path)


def test_a_limit_may_be_infinite(tmp_path):
    (tmp_path / 'a.urdf').write_text(with_joint('effort="9"', 'effort="inf"'))
    assert load(tmp_path / 'a.urdf').model.njnt == 1
