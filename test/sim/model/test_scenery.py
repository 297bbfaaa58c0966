# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Objects and lights of a sidecar, as MuJoCo has them."""

from mesh_files import tetrahedra
import mujoco
import pytest
import yaml

from urlab_ros_bridge.sim.errors import WorldError
from urlab_ros_bridge.sim.model.assembly import assemble
from urlab_ros_bridge.sim.model.scenery import connected_parts
from urlab_ros_bridge.sim.model.scenery import read_mesh
from urlab_ros_bridge.sim.model.sidecar.readers import SidecarError
from urlab_ros_bridge.sim.model.sidecar.sidecar import load_sidecar


@pytest.fixture
def build(tmp_path):
    """Return a function that compiles a world of objects and lights."""
    (tmp_path / 'pair.obj').write_text(tetrahedra(offsets=(0, 5)))

    def make(objects=(), lights=(), scene=None):
        path = tmp_path / 'w.yaml'
        world = {'scene': scene, 'objects': list(objects), 'lights': list(lights)}
        path.write_text(yaml.safe_dump(world))
        return assemble(load_sidecar(path))[0]

    return make


@pytest.mark.parametrize(
    ('shape', 'scale', 'kind', 'size'),
    [
        ('box', [1, 2, 3], 'BOX', [0.5, 1, 1.5]),
        ('sphere', [2, 2, 2], 'SPHERE', [1, 0, 0]),
        ('sphere', [2, 2, 4], 'ELLIPSOID', [1, 1, 2]),
        ('cylinder', [2, 2, 4], 'CYLINDER', [1, 2, 0]),
        ('plane', [4, 6, 1], 'PLANE', [2, 3, 1]),
    ],
)
def test_shapes_are_1_m_across_times_their_scale(build, shape, scale, kind, size):
    model = build([{'name': 'thing', 'shape': shape, 'scale': scale}])
    assert model.geom('thing').type == int(getattr(mujoco.mjtGeom, f'mjGEOM_{kind}'))
    assert model.geom('thing').size == pytest.approx(size)


@pytest.mark.parametrize('physics', ['none', 'static', 'dynamic', 'mocap'])
def test_physics_decides_about_joints_mocap_and_contacts(build, physics):
    model = build([{'name': 'crate', 'shape': 'box', 'physics': physics, 'mass': 3.0}])
    assert model.njnt == (physics == 'dynamic')
    assert model.nmocap == (physics == 'mocap')
    collides = bool(model.geom('crate').contype[0] or model.geom('crate').conaffinity[0])
    assert collides == (physics != 'none')
    assert model.body('crate').mass[0] == pytest.approx(3.0)


def test_a_mesh_keeps_its_own_coordinates(build, tmp_path):
    model = build([{'name': 'm', 'shape': 'mesh', 'file': 'pair.obj', 'scale': [1, 1, 2]}])
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    turn = data.geom_xmat[0].reshape(3, 3)
    points = model.mesh_vert @ turn.T + data.geom_xpos[0]
    assert points.min(axis=0) == pytest.approx([0, 0, 0], abs=1e-6)
    assert points.max(axis=0) == pytest.approx([6, 1, 2], abs=1e-6)


def test_too_many_parts_are_refused(tmp_path):
    path = tmp_path / 'many.obj'
    path.write_text(tetrahedra(offsets=range(0, 200, 3)))
    with pytest.raises(WorldError, match='67'):
        connected_parts(*read_mesh(path))


@pytest.mark.parametrize(
    ('things', 'name'),
    [
        ({'objects': [{'name': 'crate', 'shape': 'box'}]}, 'crate'),
        ({'lights': [{'name': 'sun'}]}, 'sun'),
        ({'objects': [{'name': 'can', 'shape': 'cylinder', 'scale': [1, 2, 1]}]}, 'cylinder'),
    ],
)
def test_names_of_the_scene_file_are_taken_and_cylinders_are_round(build, tmp_path, things, name):
    (tmp_path / 's.xml').write_text(
        '<mujoco><worldbody><body name="crate"/><light name="sun"/></worldbody></mujoco>'
    )
    with pytest.raises(WorldError, match=name):
        build(**things, scene='s.xml')


@pytest.mark.parametrize('item', [{'shape': 'mesh'}, {'shape': 'mesh', 'file': 'w.yaml'}])
def test_a_mesh_without_a_mesh_file_is_refused(build, item):
    with pytest.raises(SidecarError, match=r'objects\[0\].*file'):
        build([{'name': 'a', **item}])
