# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A robot described from its compiled model, read by an independent parser, both posed alike."""

from __future__ import annotations

import functools
import importlib.util
from pathlib import Path

import mujoco
import numpy as np
from odd_models import ODDS

from urlab_ros_bridge.client.replies.handshake import parse_handshake
from urlab_ros_bridge.ros.plan.from_model import plan_world
from urlab_ros_bridge.ros.plan.from_model import with_appearance
from urlab_ros_bridge.ros.program.features import Settings
from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.model.world import load_world

SHIPPED = ('rover', 'quadruped', 'bimanual')
FOREIGN = ('fetch/push.xml', 'hand/manipulate_egg_touch_sensors.xml')
ROBOTS = (*ODDS, *SHIPPED, *FOREIGN)


@functools.cache
def loaded(name):
    """Return a model, the prefix of its robot, its frames and its entities."""
    if name in ODDS:
        return mujoco.MjModel.from_xml_string(ODDS[name]), 'odd', {}, {}
    config, shipped = ServerConfig(world=name), name in SHIPPED
    if name in FOREIGN:
        found = importlib.util.find_spec('gymnasium_robotics')
        if found is None:
            raise ModuleNotFoundError('run `make setup`', name='gymnasium_robotics')
        config = ServerConfig(model=Path(found.origin).parent / 'envs/assets' / name)
    world = load_world(config)
    (robot,) = world.articulations.values()
    frames = {'base': 'base_link', 'imu': 'imu_link'} if shipped else {}
    return world.model, robot.prefix, frames, world.entities


class Described:
    """
    :ivar model, data: MuJoCo's; `urdf`: the parser's; `plan`: the robot in the bridge's plan.
    """

    def __init__(self, name, folder, **settings):
        import yourdfpy  # takes a second

        self.model, self.prefix, frames, entities = loaded(name)
        self.folder = folder
        self.data = mujoco.MjData(self.model)
        buffer = np.empty(mujoco.mj_sizeModel(self.model), np.uint8)
        mujoco.mj_saveModel(self.model, None, buffer)
        robot = {'prefix': self.prefix, 'actor_id': 'robot_0', 'frames': frames}
        reply = {
            'session_id': 's',
            'mujoco_version': mujoco.__version__,
            'mjb': buffer.tobytes(),
            'articulations': [robot],
            'entities': {key: {'id': i, 'has_free_base': True} for i, key in enumerate(entities)},
        }
        given = Settings(**{'mesh_directory': str(folder), **settings})
        handshake = parse_handshake(reply)
        self.world = with_appearance(plan_world(handshake, given), handshake, given)
        (self.plan,) = self.world.robots
        self.skeleton = self.plan.appearance.skeleton
        self.text = self.plan.appearance.urdf
        path = folder / 'robot.urdf'
        path.write_text(self.text)
        self.urdf = yourdfpy.URDF.load(
            str(path), build_scene_graph=True, load_meshes=False, filename_handler=lambda f: f
        )

    def compiled(self, local):
        """Return the id of a joint by its local name, -1 when there is none."""
        kind = mujoco.mjtObj.mjOBJ_JOINT
        return mujoco.mj_name2id(self.model, kind, f'{self.prefix}_{local}')

    def randomize(self, rng):
        """Put the robot into a random pose; followers of a joint follow exactly."""
        model, data = self.model, self.data
        for joint in range(model.njnt):
            start = model.jnt_qposadr[joint]
            if model.jnt_type[joint] in (0, 1):
                width = 7 if model.jnt_type[joint] == 0 else 4
                values = rng.normal(size=width)
                values[-4:] /= np.linalg.norm(values[-4:])
                data.qpos[start : start + width] = values
            else:
                data.qpos[start] = rng.uniform(-2, 2)
        for name, joint in self.urdf.joint_map.items():
            if joint.mimic is not None:
                leader = data.qpos[model.jnt_qposadr[self.compiled(joint.mimic.joint)]]
                mine = model.jnt_qposadr[self.compiled(name)]
                data.qpos[mine] = joint.mimic.multiplier * leader + joint.mimic.offset
        mujoco.mj_kinematics(model, data)

    def qpos(self):
        """Return the robot's own vector."""
        slots = []
        for joint in range(self.model.njnt):
            if self.model.joint(joint).name.startswith(f'{self.prefix}_'):
                first = self.model.jnt_qposadr[joint]
                width = {0: 7, 1: 4}.get(int(self.model.jnt_type[joint]), 1)
                slots += range(first, first + width)
        return self.data.qpos[slots]

    def positions(self):
        """Return the positions of the joints in joint_states."""
        ids = [self.compiled(name) for name in self.plan.joints]
        return self.data.qpos[self.model.jnt_qposadr[ids]]

    def in_world(self, body):
        """Return the pose of a body as MuJoCo has it, shape (4, 4)."""
        pose = np.eye(4)
        pose[:3, :3] = self.data.xmat[body].reshape(3, 3)
        pose[:3, 3] = self.data.xpos[body]
        return pose
