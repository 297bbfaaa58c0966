# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""get_named_poses: sites of the world, and where keyframes put the robots that can move."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from urlab_ros_bridge.client.model import read_world
from urlab_ros_bridge.geometry import pose_of
from urlab_ros_bridge.model import RobotModel
from urlab_ros_bridge.model import WorldModel
from urlab_ros_bridge.ros.extras.standard.base import MODEL
from urlab_ros_bridge.ros.extras.standard.base import PACKAGE
from urlab_ros_bridge.ros.extras.standard.base import SimulationContext
from urlab_ros_bridge.ros.extras.standard.base import standard
from urlab_ros_bridge.ros.extras.standard.base import StandardFeature
from urlab_ros_bridge.ros.extras.standard.filters import has_tags
from urlab_ros_bridge.ros.extras.standard.frames import Pose
from urlab_ros_bridge.ros.messages.geometry import pose_to_ros
from urlab_ros_bridge.ros.plan.plan import RobotPlan
from urlab_ros_bridge.ros.rclpy_tools.compat import load_interface


@dataclass(frozen=True)
class NamedPose:
    """A pose in the world that has a name."""

    name: str
    description: str
    tags: tuple[str, ...]
    pose: Pose


def get_named_poses(context: SimulationContext, request: Any, response: Any) -> str:
    """Return the sites of the world, and robot base poses in keyframes, filtered by tags."""
    message_type = load_interface(f'{PACKAGE}/msg/NamedPose')
    world = read_world(context.handshake)
    model = context.handshake.model
    poses = [*_sites(world), *_keyframes(world, model, context.plan.robots)]
    response.poses = [
        message_type(
            name=each.name,
            description=each.description,
            tags=list(each.tags),
            pose=pose_to_ros(*each.pose),
        )
        for each in poses
        if has_tags(each.tags, request.tags)
    ]
    return f'{len(response.poses)} poses'


def _sites(world: WorldModel) -> Iterator[NamedPose]:
    """Return the named sites that stand in the world itself."""
    for site in world.sites:
        if site.name and site.body == 0:
            yield NamedPose(site.compiled, 'site of the world', ('site',), site.pose)


def _keyframes(
    world: WorldModel, model: Any, robots: tuple[RobotPlan, ...]
) -> Iterator[NamedPose]:
    """Return where keyframes put the bases of robots; a keyframe of a robot has its prefix."""
    taken = {site.compiled for site in world.sites}
    floating = {robot.prefix: robot for robot in robots if robot.base_joint}
    for key in world.keyframes:
        if key.prefix not in floating or key.compiled in taken:
            continue
        base = RobotModel(key.prefix, world).base_joint
        if base is None:
            continue
        slots = model.key_qpos[key.id][base.qpos_address : base.qpos_address + 7]
        text = f'base of {key.prefix} in this keyframe'
        pose = pose_of(slots[:3], slots[3:])
        yield NamedPose(key.compiled, text, ('keyframe', key.prefix), pose)


ENTRIES = (standard(get_named_poses, {StandardFeature.NAMED_POSES: ''}, needs=MODEL),)
