# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A client reloads the model from `mjcf_compiled` and `vfs_assets` alone."""

from mesh_files import foreign_model
from mesh_files import png
from mesh_files import tetrahedra
import mujoco
import numpy as np
import pytest

SIZES = ('nq', 'nv', 'nu', 'na', 'nbody', 'ngeom', 'nmesh', 'nmeshvert', 'nmeshface', 'ntex',
         'ntexdata', 'nmat', 'nhfield', 'nskin', 'nkey', 'nsensor', 'neq', 'ntendon', 'nmocap',
         'nlight', 'ncam')  # fmt: skip


VALUES = ('body_mass', 'body_inertia', 'body_pos', 'qpos0', 'jnt_range', 'geom_rbound',
          'geom_rgba', 'geom_friction', 'dof_damping', 'actuator_gainprm', 'actuator_biasprm',
          'light_pos', 'light_diffuse', 'mat_rgba', 'key_qpos', 'mesh_vert',
          'tex_data')  # fmt: skip


def reload(reply):
    return mujoco.MjModel.from_xml_string(reply['mjcf_compiled'], reply['vfs_assets'])


def from_mjb(reply):
    return mujoco.MjModel.from_binary_path('m.mjb', {'m.mjb': reply['mjb']})


def assert_same(mine, served):
    assert {name: getattr(mine, name) for name in SIZES} == {
        name: getattr(served, name) for name in SIZES
    }
    assert mine.names == served.names
    for name in VALUES:
        a, b = (getattr(model, name) for model in (mine, served))
        # MJCF is written with six digits, and textures, some of them large, are whole numbers.
        same = np.array_equal(a, b) if a.dtype.kind in 'iu' else np.allclose(a, b, 1e-4, 1e-6)
        assert same, name
    for name in ('timestep', 'gravity', 'integrator', 'solver', 'cone', 'disableflags'):
        assert np.all(getattr(mine.opt, name) == getattr(served.opt, name)), name


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """Make sure that no file is found by a relative path."""
    monkeypatch.chdir(tmp_path)


FOREIGN = (
    'adroit_hand/adroit_door.xml',
    'fetch/push.xml',
    'hand/manipulate_egg_touch_sensors.xml',
)


@pytest.mark.parametrize('name', FOREIGN)
def test_models_with_meshes_and_textures(rig, elsewhere, name):
    reply = rig(model=foreign_model(name)).ask('hello', include_assets=True)
    assert all('/' not in name and content for name, content in reply['vfs_assets'].items())
    assert_same(reload(reply), from_mjb(reply))


SIDES = ('right', 'left', 'up', 'down', 'front', 'back')


ROBOT = """<mujoco model="{name}"><compiler meshdir="meshes" texturedir="pictures"/><asset>
  <mesh name="part" file="part.obj"/><mesh file="Same.obj"/>
  <texture name="plain" type="2d" file="skin.png"/><texture name="box" type="cube" {sides}/>
  <hfield name="hill" file="hill.png" size="1 1 0.1 0.1"/>
  <material name="paint" texture="box"/><material name="flat" texture="plain"/></asset>
  <worldbody><body name="b"><joint name="j"/><geom type="mesh" mesh="part" material="paint"/>
  <geom type="mesh" mesh="Same" material="flat"/></body>
  </worldbody><actuator><motor name="m" joint="j"/></actuator></mujoco>"""


@pytest.fixture
def twins(tmp_path):
    """Return a sidecar of two robots whose files are named alike and differ."""
    sides = ' '.join(f'file{side}="{side}.png"' for side in SIDES)
    for number, name in enumerate(('left', 'right'), 1):
        folder = tmp_path / name
        (folder / 'meshes').mkdir(parents=True)
        (folder / 'pictures').mkdir()
        mesh = 'part.obj' if number == 1 else 'PART.obj'
        (folder / 'meshes' / mesh).write_text(tetrahedra(0.1 * number))
        (folder / 'robot.xml').write_text(
            ROBOT.format(name=name, sides=sides).replace('part.obj', mesh)
        )
        (folder / 'meshes' / 'Same.obj').write_text(tetrahedra(0.3))
        # Height fields are looked for in meshdir.
        (folder / 'meshes' / 'hill.png').write_bytes(png((90, 10, 20), 8))
        for index, picture in enumerate((*SIDES, 'skin')):
            (folder / 'pictures' / f'{picture}.png').write_bytes(
                png((20 * index + number, 10, 20), 8)
            )
    (tmp_path / 'twins.yaml').write_text(
        'articulations:\n  - {prefix: one, model: left/robot.xml}\n'
        '  - {prefix: two, model: right/robot.xml, pose: {pos: [1, 0, 0]}}\n'
    )
    return tmp_path / 'twins.yaml'


def test_files_of_one_name_are_kept_apart(rig, twins, elsewhere):
    reply = rig(model=twins).ask('hello', include_assets=True)
    names = set(reply['vfs_assets'])
    assert len({name.lower() for name in names}) == len(names)
    assert {'part.obj', 'PART_2.obj', 'Same.obj', 'skin.png', 'skin_2.png', 'up_2.png'} <= names
    assert 'Same_2.obj' not in names and 'hill_2.png' not in names  # same content, one file
    mine = reload(reply)
    assert_same(mine, from_mjb(reply))
    one, two = (mine.mesh(f'{prefix}_part') for prefix in ('one', 'two'))
    vertices = [mine.mesh_vert[m.vertadr[0] : m.vertadr[0] + m.vertnum[0]] for m in (one, two)]
    assert np.ptp(vertices[1]) == pytest.approx(2 * np.ptp(vertices[0]), rel=1e-4)


def test_a_handshake_with_missing_asset_files_omits_them(rig, twins, caplog):
    server = rig(model=twins)
    (twins.parent / 'left' / 'pictures' / 'skin.png').unlink()
    reply = server.ask('hello', include_assets=True)
    assert reply['mjb'] and 'mjcf_compiled' not in reply and 'vfs_assets' not in reply
    assert 'skin.png' in caplog.text
