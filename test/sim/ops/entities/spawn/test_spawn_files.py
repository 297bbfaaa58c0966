# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Models that consist of many files, spawned from the data folder."""

import shutil

from mesh_files import png
import mujoco
import pytest
from spawn_models import ARM
from spawn_models import BOX
from spawn_models import delete
from spawn_models import LID
from spawn_models import renewed
from spawn_models import spawn
from spawn_models import TETRAHEDRON

from urlab_ros_bridge.sim.model.client_models import limits

ALL_KINDS = """<mujoco><compiler assetdir="files"/><asset>
  <mesh file="m.obj"/><hfield name="h" file="p.png" size="1 1 1 1"/>
  <texture name="t" type="2d" file="p.png"/>
  <texture name="c" type="cube" fileright="p.png" fileleft="p.png" fileup="p.png"
    filedown="p.png" filefront="p.png" fileback="p.png"/>
  <material name="mt" texture="t"/><material name="mc" texture="c"/></asset>
  <worldbody><body name="b"><freejoint/><geom type="mesh" mesh="m" material="mt"/>
  <geom type="box" size=".1 .1 .1" material="mc"/><flexcomp name="f" type="mesh" file="m.obj"
    dim="2" rigid="true" mass="1"/></body>
  <body name="ground"><geom type="hfield" hfield="h"/></body></worldbody></mujoco>"""

SIDECAR = """scene: arm.xml
articulations:
- prefix: arm
  model: arm.xml
  twist: {kind: differential, left: [elbow], right: [elbow], wheel_radius: 0.1, track_width: 0.4,
    limits: {linear: 1.0, angular: 1.0}}
"""


def test_files_are_read_once(rig, tmp_path):
    """What happens to them afterwards, clients write there, ends neither spawning nor deleting."""
    data = tmp_path / 'data'
    (data / 'files').mkdir(parents=True)
    (data / 'files' / 'm.obj').write_text(TETRAHEDRON)
    (data / 'files' / 'p.png').write_bytes(png())
    (data / 'all.xml').write_text(ALL_KINDS)
    world = rig(data_dir=data)
    for name, fields in (('one', {'xml': ALL_KINDS}), ('two', {'file': 'all.xml'})):
        world.ask('spawn_entity', name=name, kind='articulation', **fields)
        renewed(world)
    assert world.model.mesh('one_m').id != world.model.mesh('two_m').id
    vertices = world.model.nmeshvert
    shutil.rmtree(data / 'files')
    (data / 'files').mkdir()
    (data / 'files' / 'm.obj').write_text('not a mesh any more')
    spawn(world, 'box', BOX)
    assert world.model.nmeshvert == vertices
    hello = world.ask('hello', shared=True, include_assets=True)
    assert mujoco.MjModel.from_xml_string(hello['mjcf_compiled'], hello['vfs_assets']).nmesh == 2
    delete(world, 'one')
    assert world.code('spawn_entity', name='three', xml=ALL_KINDS) in (
        'import_failed', 'missing_assets',
    )  # fmt: skip
    delete(world, 'two')


def test_a_urdf_finds_the_meshes_of_its_package(rig, tmp_path):
    (tmp_path / 'cart' / 'meshes').mkdir(parents=True)
    (tmp_path / 'cart' / 'meshes' / 'hull.obj').write_text(TETRAHEDRON)
    text = LID.replace(
        '<sphere radius="0.1"/>', '<mesh filename="package://cart/meshes/hull.obj"/>'
    )
    (tmp_path / 'cart' / 'cart.urdf').write_text(text)
    world = rig(data_dir=tmp_path)
    world.ask('spawn_entity', name='cart', file='cart/cart.urdf', pos=[3, 3, 1])
    assert renewed(world).model.mesh(0).name == 'cart_hull'


def test_a_sidecar_whose_drive_does_not_fit_its_model_is_refused(rig, tmp_path):
    (tmp_path / 'arm.xml').write_text(ARM.replace('<position', '<velocity').replace('kp', 'kv'))
    (tmp_path / 'arm.yaml').write_text(SIDECAR)
    with pytest.raises(Exception, match=r"import_failed: .*'elbow'"):
        rig(data_dir=tmp_path).ask('spawn_entity', name='arm', file='arm.yaml')


def test_all_spawned_models_together_have_limits(rig, monkeypatch):
    monkeypatch.setitem(limits.SIZES, 'nv', ('degrees of freedom', 10, 15))
    world = rig()
    for name in ('a', 'b'):
        spawn(world, name, BOX)
    with pytest.raises(Exception, match=r'freedom.* 18 .* 15'):
        spawn(world, 'c', BOX)
    delete(world, 'a')
    spawn(world, 'c', BOX)
    two = BOX.replace('<worldbody>', '<worldbody><body><freejoint/><geom size="1"/></body>')
    with pytest.raises(Exception, match=r'freedom.* 12 .* 10'):
        spawn(world, 'd', two)
