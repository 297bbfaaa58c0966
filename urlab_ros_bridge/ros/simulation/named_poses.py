# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""get_named_poses: sites of the world, and where keyframes put the robots that can move."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from urlab_ros_bridge.ros.compat import load_interface
from urlab_ros_bridge.ros.convert import pose_to_ros
from urlab_ros_bridge.ros.convert.frames import wxyz_to_xyzw
from urlab_ros_bridge.ros.plan import RobotPlan
from urlab_ros_bridge.ros.simulation.base import Entry
from urlab_ros_bridge.ros.simulation.base import PACKAGE
from urlab_ros_bridge.ros.simulation.base import SimulationContext
from urlab_ros_bridge.ros.simulation.features import Feature
from urlab_ros_bridge.ros.simulation.features import MODEL
from urlab_ros_bridge.ros.simulation.filters import has_tags
from urlab_ros_bridge.ros.simulation.frames import Pose


@dataclass(frozen=True)
class NamedPose:
    """A pose in the world that has a name."""

    name: str
    description: str
    tags: tuple[str, ...]
    pose: Pose


def get_named_poses(context: SimulationContext, request: Any, response: Any) -> str:
    """Tell the sites of the world, and the bases of robots in keyframes, filtered by tags."""
    message_type = load_interface(f'{PACKAGE}/msg/NamedPose')
    model = context.handshake.model
    poses = [*_sites(model), *_keyframes(model, context.bridge.plan().robots)]
    response.poses = [
        message_type(
            name=each.name,
            description=each.description,
            tags=list(each.tags),
            pose=pose_to_ros(0, '', *each.pose).pose,
        )
        for each in poses
        if has_tags(each.tags, request.tags)
    ]
    return f'{len(response.poses)} poses'


def _sites(model: Any) -> Iterator[NamedPose]:
    """Return the named sites that stand in the world itself."""
    for index in range(model.nsite):
        name = model.site(index).name
        if name and model.site_bodyid[index] == 0:
            pose = tuple(model.site_pos[index].tolist()), _quaternion(model.site_quat[index])
            yield NamedPose(name, 'site of the world', ('site',), pose)


def _keyframes(model: Any, robots: tuple[RobotPlan, ...]) -> Iterator[NamedPose]:
    """Return where keyframes put the bases of robots; a keyframe of a robot has its prefix."""
    taken = {model.site(index).name for index in range(model.nsite)}
    for index in range(model.nkey):
        name = model.key(index).name
        owners = [robot for robot in robots if name.startswith(f'{robot.prefix}_')]
        for robot in owners:
            if not robot.base_joint or name in taken:
                continue
            start = int(model.joint(f'{robot.prefix}_{robot.base_joint}').qposadr[0])
            slots = model.key_qpos[index][start : start + 7]
            pose = tuple(slots[:3].tolist()), _quaternion(slots[3:])
            text = f'base of {robot.prefix} in this keyframe'
            yield NamedPose(name, text, ('keyframe', robot.prefix), pose)


def _quaternion(wxyz: Any) -> tuple[float, float, float, float]:
    return wxyz_to_xyzw(wxyz.tolist())


ENTRIES = (
    Entry(
        'get_named_poses',
        get_named_poses,
        {Feature.NAMED_POSES: ''},
        needs=MODEL,
    ),
)
