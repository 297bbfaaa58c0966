# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The 69 URDFs of example-robot-data as the server serves them, against Pinocchio.

Both packages are not in the project's environment, since they take 900 MB:
``uv pip install -r pypi/requirements/robots.lock``.  Without --long, a few robots are tried.  With
`ROBOT_TABLE=FOLDER` each robot leaves a row there, of which docs/scripts/robot_table.py makes the
table of bench/RESULTS.md.
"""

import importlib.util
import json
import os
from pathlib import Path
import time
import xml.etree.ElementTree as ElementTree

import mujoco
import numpy as np
from ports import free_ports
import pytest
from urlab_programs import program
from waiting import wait_until
import yourdfpy

from urlab_ros_bridge.geometry import matrix_of
from urlab_ros_bridge.geometry import wxyz_to_xyzw
from urlab_ros_bridge.robot_import import ImportOptions
from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.model.world import load_world

pinocchio = pytest.importorskip('pinocchio', reason='Pinocchio is not installed')
coal = pytest.importorskip('coal', reason='Coal, which comes with Pinocchio, is not installed')
PREFIX = importlib.util.find_spec('pinocchio').origin.partition('cmeel.prefix')[0]
ROBOTS = Path(PREFIX, 'cmeel.prefix/share/example-robot-data/robots')
FILES = {f'{path.parents[1].name}/{path.stem}': path for path in sorted(ROBOTS.rglob('*.urdf'))}
FILES.pop('ur_description/ur3', None)  # it is empty
if not FILES:
    pytest.skip('example-robot-data is not installed', allow_module_level=True)
# Short: an arm, a hand with ASCII-free STL, a legged one, Collada, ros2_control, Gazebo's sensors.
FEW = (
    'panda_description/panda',
    'baxter_description/baxter',
    'go2_description/go2',
    'tiago_pro_description/tiago_pro',
    'icub_description/icub_reduced',
)
PORTS = ('rpc', 'state', 'camera', 'control', 'info')
OPTIONS = ImportOptions(allow_missing_meshes=True)
PARAMS = [
    pytest.param(name, marks=() if name in FEW else pytest.mark.long, id=name) for name in FILES
]


class Robot:
    """A robot as the server loads it, and as Pinocchio reads its URDF."""

    def __init__(self, path):
        self.path = path
        world = load_world(ServerConfig(model=path, importing=OPTIONS))
        self.model, self.start = world.model, world.data
        self.pin = pinocchio.buildModelFromUrdf(str(path))
        (self.robot,) = world.articulations.values()
        self.links = [link.get('name') for link in ElementTree.parse(path).iter('link')]

    def body(self, link):
        """Return the id of a link's body."""
        return self.robot.bodies['world_link' if link == 'world' else link].id


def pose(data, body):
    found = np.eye(4)
    found[:3, :3], found[:3, 3] = data.xmat[body].reshape(3, 3), data.xpos[body]
    return found


@pytest.fixture(scope='module', autouse=True)
def cache(tmp_path_factory):
    """Return a cache that all robots share."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp('cache')
        patch.setenv('XDG_CACHE_HOME', str(folder))
        yield folder


@pytest.fixture(scope='module', params=PARAMS)
def robot(request):
    return Robot(FILES[request.param])


@pytest.fixture(scope='module')
def row(robot):
    """Return the row of a robot in the table; it is written when its tests are over."""
    found = {'name': robot.path.stem, 'folder': robot.path.parents[1].name}
    yield found
    if folder := os.environ.get('ROBOT_TABLE'):
        # The tests of a robot may run in several processes.
        path = Path(folder, f'{found["folder"]}.{found["name"]}.json')
        before = json.loads(path.read_text()) if path.exists() else {}
        path.write_text(json.dumps({**before, **found}))


def test_every_link_is_where_pinocchio_has_it(robot, row):
    assert len(set(robot.links)) == len({robot.body(link) for link in robot.links})
    data, kinematics = mujoco.MjData(robot.model), robot.pin.createData()
    frames = [
        (number, robot.body(frame.name))
        for number, frame in enumerate(robot.pin.frames)
        if frame.type == pinocchio.FrameType.BODY
    ]
    rng, worst = np.random.default_rng(1), 0.0
    for _ in range(100):
        q = pinocchio.neutral(robot.pin)
        for name, joint in zip(robot.pin.names[1:], robot.pin.joints[1:], strict=True):
            angle = rng.uniform(-3.0, 3.0)
            both = [angle] if joint.nq == 1 else [np.cos(angle), np.sin(angle)]
            q[joint.idx_q : joint.idx_q + joint.nq] = both
            data.qpos[robot.robot.joints[name].qpos_address] = angle
        pinocchio.framesForwardKinematics(robot.pin, kinematics, q)
        mujoco.mj_kinematics(robot.model, data)
        expected = [kinematics.oMf[number].homogeneous for number, _ in frames]
        found = [pose(data, body) for _, body in frames]
        # As the first of them sees the others.
        difference = np.linalg.inv(expected[0]) @ expected - np.linalg.inv(found[0]) @ found
        worst = max(worst, float(np.abs(difference).max()))
    assert worst < 1e-6
    row |= {'links': len(robot.links), 'joints': len(robot.pin.names) - 1, 'error': worst}


@pytest.mark.parametrize('kind', ['VISUAL', 'COLLISION'])
def test_the_meshes_of_a_link_are_where_coal_has_them(robot, kind):
    """Coal reads files by Assimp, as RViz and MoveIt do; compared are boxes around all of them."""
    path, which = str(robot.path), getattr(pinocchio.GeometryType, kind)
    folders = [str(ROBOTS.parents[1])]
    try:
        geometry = pinocchio.buildGeomFromUrdf(robot.pin, path, which, package_dirs=folders)
    except ValueError:
        pytest.skip('meshes are missing in the package')
    expected, found, model = {}, {}, robot.model
    for item in geometry.geometryObjects:
        if isinstance(item.geometry, coal.BVHModelBase):
            frame = robot.pin.frames[item.parentFrame]
            placed = (frame.placement.inverse() * item.placement).homogeneous
            corners = item.geometry.vertices() @ placed[:3, :3].T + placed[:3, 3]
            expected.setdefault(robot.body(frame.name), []).append(corners)
    for geom in np.flatnonzero(model.geom_type == mujoco.mjtGeom.mjGEOM_MESH):
        if kind == ('COLLISION' if model.geom_contype[geom] else 'VISUAL'):
            mesh = model.mesh(model.geom_dataid[geom])
            corners = model.mesh_vert[mesh.vertadr[0] :][: mesh.vertnum[0]]
            turn = matrix_of(wxyz_to_xyzw(model.geom_quat[geom]))
            placed = corners @ turn.T + model.geom_pos[geom]
            found.setdefault(int(model.geom_bodyid[geom]), []).append(placed)
    assert set(found) >= set(expected)  # Coal has convex meshes in another form
    for body, shapes in expected.items():
        one, other = np.concatenate(shapes), np.concatenate(found[body])
        size = np.ptp(one, axis=0).max()
        # What is flat has got a thickness.
        np.testing.assert_allclose(other.min(axis=0), one.min(axis=0), atol=0.006 * size)
        np.testing.assert_allclose(other.max(axis=0), one.max(axis=0), atol=0.006 * size)


def test_masses_and_inertias_are_those_of_the_urdf_where_valid(robot, row):
    description = yourdfpy.URDF.load(str(robot.path), load_meshes=False, build_scene_graph=False)
    model, repaired = robot.model, 0
    for name, link in description.link_map.items():
        body, inertial = robot.body(name), link.inertial
        if inertial is None or inertial.mass <= 0:
            assert model.body_mass[body] in (0.0, 1e-3)
            repaired += bool(model.body_mass[body])
            continue
        assert model.body_mass[body] == pytest.approx(inertial.mass, rel=1e-12)
        sizes = np.linalg.eigvalsh(inertial.inertia)
        if sizes[0] < 1e-14 or sizes[2] > (sizes[0] + sizes[1]) * (1 + 1e-9):
            repaired += 1
            continue
        turn = np.eye(3) if inertial.origin is None else inertial.origin[:3, :3]
        own = matrix_of(wxyz_to_xyzw(model.body_iquat[body]))
        found = own @ np.diag(model.body_inertia[body]) @ own.T
        np.testing.assert_allclose(found, turn @ inertial.inertia @ turn.T, atol=1e-7 * sizes[2])
    row['repaired'] = repaired


def test_it_stands_gravity_for_five_seconds_without_warnings(robot, row):
    data = mujoco.MjData(robot.model)
    data.qpos[:], data.ctrl[:] = robot.start.qpos, robot.start.ctrl
    mujoco.mj_step(robot.model, data, round(5.0 / robot.model.opt.timestep))
    assert data.time == pytest.approx(5.0)  # MuJoCo resets what diverges
    assert not any(item.number for item in data.warning)
    assert np.isfinite(data.qpos).all() and np.abs(data.qvel).max(initial=0.0) < 100.0
    base = 'floating' if robot.robot.starts_free else 'fixed'
    base = 'planar' if 'planar_yaw' in robot.robot.joints else base
    row |= {'actuators': robot.robot.nu, 'base': base}


@pytest.mark.ros
@pytest.mark.slow
def test_every_link_has_a_frame_in_ros(robot, row, tmp_path, monkeypatch):
    pytest.importorskip('rclpy')
    from bridge_harness import free_domain
    from bridge_harness import LATCHED
    from bridge_harness import Listener
    from std_msgs.msg import String
    from tf2_msgs.msg import TFMessage

    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path))
    words = (f'--model={robot.path}', '--allow-missing-meshes', f'--data-dir={tmp_path}')
    for temperature in ('cold', 'warm'):
        domain = free_domain()
        monkeypatch.setenv('ROS_DOMAIN_ID', str(domain))
        listener = Listener(domain)
        text = listener.listen(String, 'robot_description', LATCHED)
        moving = listener.listen(TFMessage, '/tf')
        fixed = listener.listen(TFMessage, '/tf_static', LATCHED)

        def has_frames(moving=moving, fixed=fixed):
            sent = {t.child_frame_id for m in (*moving, *fixed) for t in m.transforms}
            return set(robot.links) <= sent

        begun = time.monotonic()
        ports = [f'--{name}-port={port}' for name, port in free_ports(*PORTS).items()]
        with program('up', *words, *ports, ready=''):
            wait_until(lambda moving=moving: moving)
            row[temperature] = round(time.monotonic() - begun, 1)
            wait_until(has_frames)
            wait_until(lambda text=text: text)
        listener.close()
        links = ElementTree.fromstring(text[-1].data).iter('link')
        assert set(robot.links) <= {link.get('name') for link in links}
