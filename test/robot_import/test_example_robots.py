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
import signal
import sys
import time
import xml.etree.ElementTree as ElementTree

from lifelines import start_process
import mujoco
import numpy as np
from ports import free_ports
import pytest

from urlab_ros_bridge.robot_import import ImportOptions
from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.model.world import load_world

pinocchio = pytest.importorskip('pinocchio', reason='Pinocchio is not installed')
PREFIX = importlib.util.find_spec('pinocchio').origin.partition('cmeel.prefix')[0]
ROBOTS = Path(PREFIX, 'cmeel.prefix/share/example-robot-data/robots')
FILES = {f'{path.parents[1].name}/{path.stem}': path for path in sorted(ROBOTS.rglob('*.urdf'))}
if not FILES:
    pytest.skip('example-robot-data is not installed', allow_module_level=True)
EMPTY, WITHOUT_MESHES = 'ur_description/ur3', 'romeo_description/romeo_laas_small'
# Short: an arm, a hand with ASCII-free STL, a legged one, Collada, ros2_control, Gazebo's sensors.
FEW = (
    'panda_description/panda',
    'go2_description/go2',
    'tiago_pro_description/tiago_pro',
    'icub_description/icub_reduced',
)
SERVED = [name for name in FILES if name != EMPTY]
OPTIONS = ImportOptions(allow_missing_meshes=True)
PARAMS = [
    pytest.param(name, marks=() if name in FEW else pytest.mark.long, id=name) for name in SERVED
]
PORTS = ('rpc', 'state', 'camera', 'control', 'info')
PATIENCE = 60.0


class Robot:
    """A robot as the server loads it, and as Pinocchio reads its URDF."""

    def __init__(self, name):
        self.path = FILES[name]
        self.world = load_world(ServerConfig(model=self.path, importing=OPTIONS))
        self.model = self.world.model
        self.pin = pinocchio.buildModelFromUrdf(str(self.path))
        (robot,) = self.world.articulations.values()
        self.robot = robot
        self.links = [
            link.get('name') for link in ElementTree.parse(self.path).getroot().iter('link')
        ]
        self.bodies, self.joints = robot.bodies, robot.joints

    def body(self, link):
        """Return the id of a link's body."""
        return self.bodies['world_link' if link == 'world' else link].id

    def pose(self, data, body):
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = data.xmat[body].reshape(3, 3), data.xpos[body]
        return pose


@pytest.fixture(scope='module', autouse=True)
def cache(tmp_path_factory):
    """Return a cache that all robots share."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp('cache')
        patch.setenv('XDG_CACHE_HOME', str(folder))
        yield folder


@pytest.fixture(scope='module', params=PARAMS)
def robot(request):
    return Robot(request.param)


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
    frames = [f for f in robot.pin.frames if f.type == pinocchio.FrameType.BODY]
    root = robot.body(frames[0].name)
    ids = [robot.pin.getFrameId(frame.name, pinocchio.FrameType.BODY) for frame in frames]
    rng, worst = np.random.default_rng(1), 0.0
    for _ in range(100):
        q = pinocchio.neutral(robot.pin)
        for name, joint in zip(robot.pin.names[1:], robot.pin.joints[1:], strict=True):
            angle = rng.uniform(-3.0, 3.0)
            both = [angle] if joint.nq == 1 else [np.cos(angle), np.sin(angle)]
            q[joint.idx_q : joint.idx_q + joint.nq] = both
            data.qpos[robot.joints[name].qpos_address] = angle
        pinocchio.framesForwardKinematics(robot.pin, kinematics, q)
        mujoco.mj_kinematics(robot.model, data)
        start = np.linalg.inv(robot.pose(data, root))
        first = np.linalg.inv(kinematics.oMf[ids[0]].homogeneous)
        for frame, number in zip(frames, ids, strict=True):
            expected = first @ kinematics.oMf[number].homogeneous
            found = start @ robot.pose(data, robot.body(frame.name))
            worst = max(worst, float(np.abs(found - expected).max()))
    assert worst < 1e-6
    row |= {'links': len(robot.links), 'joints': len(robot.pin.names) - 1, 'error': worst}


def test_masses_and_inertias_are_those_of_the_urdf_where_valid(robot, row):
    repaired = 0
    for link in ElementTree.parse(robot.path).getroot().findall('link'):
        inertial, body = link.find('inertial'), robot.body(link.get('name'))
        mass = 0.0 if inertial is None else float(inertial.find('mass').get('value'))
        if mass <= 0:
            assert robot.model.body_mass[body] in (0.0, 1e-3)
            repaired += bool(robot.model.body_mass[body])
            continue
        assert robot.model.body_mass[body] == pytest.approx(mass, rel=1e-12)
        words = inertial.find('inertia').attrib
        xx, yy, zz, xy, xz, yz = (
            float(words[n]) for n in ('ixx', 'iyy', 'izz', 'ixy', 'ixz', 'iyz')
        )
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        sizes = np.linalg.eigvalsh(tensor)
        if sizes[0] < 1e-15 or sizes[2] > (sizes[0] + sizes[1]) * (1 + 1e-9):
            repaired += 1
            continue
        origin = inertial.find('origin')
        rpy = (
            [0.0] * 3 if origin is None else [float(w) for w in origin.get('rpy', '0 0 0').split()]
        )
        turn = pinocchio.rpy.rpyToMatrix(*rpy)
        own = np.empty(9)
        mujoco.mju_quat2Mat(own, robot.model.body_iquat[body])
        own = own.reshape(3, 3)
        found = own @ np.diag(robot.model.body_inertia[body]) @ own.T
        np.testing.assert_allclose(found, turn @ tensor @ turn.T, atol=1e-7 * sizes[2])
    row['repaired'] = repaired


def test_it_stands_gravity_for_five_seconds_without_warnings(robot, row):
    data = mujoco.MjData(robot.model)
    data.qpos[:], data.ctrl[:] = robot.world.data.qpos, robot.world.data.ctrl
    steps = round(5.0 / robot.model.opt.timestep)
    mujoco.mj_step(robot.model, data, steps)
    assert data.time == pytest.approx(5.0)  # MuJoCo resets what diverges
    assert not [item.number for item in data.warning if item.number]
    assert np.isfinite(data.qpos).all() and np.abs(data.qvel).max(initial=0.0) < 100.0
    base = 'floating' if robot.robot.starts_free else 'fixed'
    if 'planar_yaw' in robot.joints:
        base = 'planar'
    row |= {'actuators': robot.robot.nu, 'base': base}


def test_a_camera_sees_it(robot):
    model, data = robot.model, mujoco.MjData(robot.model)
    data.qpos[:] = robot.world.data.qpos
    mujoco.mj_forward(model, data)
    camera = model.camera('overview').id
    across = np.tan(np.radians(model.cam_fovy[camera]) / 2) * np.linspace(-1.0, 1.0, 41)
    rays = np.dstack([*np.meshgrid(across, across), -np.ones((41, 41))]).reshape(-1, 3)
    rays = rays @ data.cam_xmat[camera].reshape(3, 3).T
    met, distances = np.empty(len(rays), np.int32), np.empty(len(rays))
    drawn = np.array([1, 1, 1, 0, 0, 0], np.uint8)
    eye = data.cam_xpos[camera]
    mujoco.mj_multiRay(
        model, data, eye, rays.ravel(), drawn, 1, -1, met, distances, None, len(rays), 100.0
    )
    own = [body.id for body in robot.bodies.values()]
    seen = np.mean(np.isin(model.geom_bodyid[met], own) & (met >= 0))
    has_shapes = ElementTree.parse(robot.path).find('.//geometry') is not None
    assert (seen > 0.005) == has_shapes


@pytest.mark.ros
@pytest.mark.slow
def test_every_link_has_a_frame_in_ros(robot, row, tmp_path, monkeypatch):
    pytest.importorskip('rclpy')
    from bridge_harness import free_domain
    from bridge_harness import LATCHED
    from bridge_harness import Listener
    from bridge_harness import wait_until
    from sensor_msgs.msg import JointState
    from std_msgs.msg import String
    from tf2_msgs.msg import TFMessage

    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path))
    for temperature in ('cold', 'warm'):
        domain = free_domain()
        monkeypatch.setenv('ROS_DOMAIN_ID', str(domain))
        listener = Listener(domain)
        # A rigid robot has no joints.
        first = (
            listener.listen(JointState, 'joint_states')
            if robot.robot.joints
            else listener.listen(TFMessage, '/tf')
        )
        text = listener.listen(String, 'robot_description', LATCHED)
        moving = listener.listen(TFMessage, '/tf')
        fixed = listener.listen(TFMessage, '/tf_static', LATCHED)
        begun = time.monotonic()
        process = start_up(robot.path, tmp_path)
        try:
            wait_until(lambda first=first: first, PATIENCE)
            row[temperature] = round(time.monotonic() - begun, 1)

            def frames(moving=moving, fixed=fixed):
                messages = [*moving, *fixed]
                return {t.child_frame_id for m in messages for t in m.transforms}

            wait_until(lambda frames=frames: set(robot.links) <= frames(), PATIENCE)
            wait_until(lambda text=text: text, PATIENCE)
            named = {
                link.get('name') for link in ElementTree.fromstring(text[-1].data).iter('link')
            }
            assert set(robot.links) <= named
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(PATIENCE)
            listener.close()


def start_up(path, folder):
    words = [f'--{name}-port={port}' for name, port in free_ports(*PORTS).items()]
    return start_process(
        [sys.executable, '-m', 'urlab_ros_bridge.cli.main', 'up', '--model', str(path),
         '--allow-missing-meshes', '--data-dir', str(folder / 'data'), *words],
        stdout=(folder / 'log').open('a'), stderr=(folder / 'log').open('a'),
    )  # fmt: skip
