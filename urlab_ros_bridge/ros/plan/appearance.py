# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Add the appearance of robots and scene to a plan."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from urlab_ros_bridge.client.model import read_world
from urlab_ros_bridge.client.replies.handshake import Handshake
from urlab_ros_bridge.model import RobotModel
from urlab_ros_bridge.model.colors import Colors
from urlab_ros_bridge.ros.parameters.settings import SettingsReader
from urlab_ros_bridge.ros.plan.description.appearance import RobotAppearance
from urlab_ros_bridge.ros.plan.description.appearance import scene_look
from urlab_ros_bridge.ros.plan.description.control_block import ControlBlock
from urlab_ros_bridge.ros.plan.description.geometry import Geometry
from urlab_ros_bridge.ros.plan.description.meshes import MeshesUnwritable
from urlab_ros_bridge.ros.plan.description.meshes import MeshFiles
from urlab_ros_bridge.ros.plan.description.skeleton import build_skeleton
from urlab_ros_bridge.ros.plan.description.urdf import robot_description
from urlab_ros_bridge.ros.plan.parameters import DescriptionParameters
from urlab_ros_bridge.ros.plan.parameters import MarkerParameters
from urlab_ros_bridge.ros.plan.parameters import NamesParameters
from urlab_ros_bridge.ros.plan.parameters import Ros2ControlParameters
from urlab_ros_bridge.ros.plan.parameters import StaticFrameParameters
from urlab_ros_bridge.ros.plan.parameters import WheelOdometryParameters
from urlab_ros_bridge.ros.plan.plan import RobotPlan
from urlab_ros_bridge.ros.plan.plan import WorldPlan


def with_appearance(plan: WorldPlan, handshake: Handshake, settings: SettingsReader) -> WorldPlan:
    """
    Return the plan with links, URDF and shapes; its notes list what is missing.

    Meshes are written to disk here.

    :raises ModelUnavailable: when the model cannot be read here.
    """
    world = read_world(handshake)
    texts = settings(DescriptionParameters)
    folder = Path(texts.mesh_directory).expanduser() if texts.mesh_directory else None
    meshes = MeshFiles(handshake.model, folder, texts.mesh_uri)
    geometry = Geometry(world, Colors(handshake.model))
    notes = list(plan.notes)
    robots = []
    for robot in plan.robots:
        appearance = _robot_appearance(
            RobotModel(robot.prefix, world), robot, settings, geometry, meshes, notes
        )
        notes += appearance.skeleton.notes
        robots.append(replace(robot, appearance=appearance))
    plan = replace(plan, robots=tuple(robots))
    if settings(MarkerParameters).publish_markers:
        owned = [[link.body for link in robot.appearance.skeleton.links] for robot in robots]
        frame = settings(MarkerParameters).marker_frame or world_frame(plan, settings)
        try:
            scene = scene_look(geometry, frame, owned, handshake.entities, meshes)
            plan = replace(plan, scene=scene)
        except MeshesUnwritable as error:
            notes.append(f'no scene markers: {error}')
    return replace(plan, notes=tuple(dict.fromkeys(notes)))


def world_frame(plan: WorldPlan, settings: SettingsReader) -> str:
    """Return a frame at the origin of the world that transforms tie to the robots."""
    floating = [robot for robot in plan.robots if robot.base_joint]
    drifts = settings(WheelOdometryParameters).odom_source == 'wheels'
    if settings(StaticFrameParameters).publish_map_to_odom or drifts or not floating:
        return settings(NamesParameters).map_frame
    return floating[0].frames.odom


def _robot_appearance(
    robot: RobotModel,
    plan: RobotPlan,
    settings: SettingsReader,
    geometry: Geometry,
    meshes: MeshFiles,
    notes: list[str],
) -> RobotAppearance:
    frames = plan.frames
    skeleton = build_skeleton(
        robot,
        plan.tree,
        world_frame=frames.map,
        frame_prefix=settings(NamesParameters).frame_prefix.replace('{prefix}', robot.prefix),
        exclude=(frames.odom, frames.footprint),
    )
    urdf, control = '', None
    ros2_control = settings(Ros2ControlParameters)
    if ros2_control.ros2_control:
        states = ros2_control.ros2_control_states
        control = ControlBlock(plan.prefix, plan.command_interfaces(), states)
    description = settings(DescriptionParameters)
    if description.publish_robot_description:
        try:
            urdf = robot_description(
                robot,
                skeleton,
                geometry,
                meshes,
                description.description_velocity_limit,
                control,
            )
        except MeshesUnwritable as error:
            notes.append(f'no robot_description for {robot.prefix}: {error}')
    return RobotAppearance(skeleton, urdf, tuple(skeleton.static(plan.tree)))
