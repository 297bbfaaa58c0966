# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A plan from the compiled model: first names, frames and sensors, then links, URDF and shapes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
import math
from pathlib import Path

from urlab_ros_bridge.client.model import read_world
from urlab_ros_bridge.client.replies.handshake import Articulation
from urlab_ros_bridge.client.replies.handshake import Handshake
from urlab_ros_bridge.client.replies.handshake import TwistControllerInfo
from urlab_ros_bridge.model import Actuator
from urlab_ros_bridge.model import Body
from urlab_ros_bridge.model import RobotModel
from urlab_ros_bridge.model.colors import Colors
from urlab_ros_bridge.ros.parameters.settings import SettingsReader
from urlab_ros_bridge.ros.plan.description.appearance import RobotAppearance
from urlab_ros_bridge.ros.plan.description.appearance import scene_look
from urlab_ros_bridge.ros.plan.description.control_block import ControlBlock
from urlab_ros_bridge.ros.plan.description.geometry import Geometry
from urlab_ros_bridge.ros.plan.description.meshes import MeshesUnwritable
from urlab_ros_bridge.ros.plan.description.meshes import MeshFiles
from urlab_ros_bridge.ros.plan.description.skeleton import SkeletonBuilder
from urlab_ros_bridge.ros.plan.description.urdf import UrdfWriter
from urlab_ros_bridge.ros.plan.frame_tree import FrameTree
from urlab_ros_bridge.ros.plan.frame_tree import optical_frame
from urlab_ros_bridge.ros.plan.frame_tree import scene_camera_transforms
from urlab_ros_bridge.ros.plan.frame_tree import static_transforms
from urlab_ros_bridge.ros.plan.parameters import DescriptionParameters
from urlab_ros_bridge.ros.plan.parameters import MarkerParameters
from urlab_ros_bridge.ros.plan.parameters import NamesParameters
from urlab_ros_bridge.ros.plan.parameters import Ros2ControlParameters
from urlab_ros_bridge.ros.plan.parameters import StaticFrameParameters
from urlab_ros_bridge.ros.plan.parameters import WheelOdometryParameters
from urlab_ros_bridge.ros.plan.plan import DEFAULT_BASE
from urlab_ros_bridge.ros.plan.plan import frame_names
from urlab_ros_bridge.ros.plan.plan import LidarT
from urlab_ros_bridge.ros.plan.plan import namespaces
from urlab_ros_bridge.ros.plan.plan import PlannedActuator
from urlab_ros_bridge.ros.plan.plan import RobotPlan
from urlab_ros_bridge.ros.plan.plan import Scanner
from urlab_ros_bridge.ros.plan.plan import selected_robots
from urlab_ros_bridge.ros.plan.plan import WorldPlan
from urlab_ros_bridge.ros.plan.sensors import describe_sensors
from urlab_ros_bridge.ros.plan.sensors import group_sensors
from urlab_ros_bridge.wire.errors import UnknownName


def plan_world(handshake: Handshake, settings: SettingsReader) -> WorldPlan:
    """
    Plan from the compiled model.

    :raises ModelUnavailable: when the model cannot be read here.
    :raises UnknownName: when the parameter `robots` names one that is not there.
    """
    names = settings(NamesParameters)
    prefixes = selected_robots(handshake.articulations, names.robots)
    spaces = namespaces(prefixes, names)
    world = read_world(handshake)
    robots = tuple(
        _plan_robot(
            RobotModel(prefix, world), handshake.articulations[prefix], spaces[prefix], names
        )
        for prefix in prefixes
    )
    entities = tuple(handshake.entities)
    cameras = {name: optical_frame(name) for name in handshake.global_cameras}
    places = scene_camera_transforms(world, cameras, names.map_frame)
    return WorldPlan(robots, entities, scene_cameras=tuple(places))


def _plan_robot(
    robot: RobotModel, articulation: Articulation, namespace: str, names: NamesParameters
) -> RobotPlan:
    base, base_name = _base(robot, articulation)
    frames = frame_names(robot.prefix, names, base_name)
    start = names.frame_prefix.replace('{prefix}', robot.prefix)
    own = {base_name, *(articulation.frames.get(name, name) for name in robot.bodies)}
    reserved = {names.footprint_frame, names.odom_frame, names.map_frame}
    if names.footprint_frame in own:
        reserved.remove(names.footprint_frame)
        frames = replace(frames, footprint='')
    tree = static_transforms(
        robot,
        base,
        articulation.frames,
        base_frame=names.base_frame or base_name,
        frame_prefix=start,
        world_frame=names.map_frame,
        exclude=reserved,
        sites=[lidar.site for lidar in articulation.point_lidars.values()],
    )
    frames = replace(frames, base=tree.base)
    sensors = describe_sensors(robot, tree, names.map_frame, articulation.lidars)
    free_joint, twist = robot.base_joint, articulation.twist_controller

    def scanners(lidars: Mapping[str, LidarT]) -> tuple[Scanner[LidarT], ...]:
        return tuple(
            Scanner(lidar, _site_frame(robot, tree, lidar.site)) for lidar in lidars.values()
        )

    return RobotPlan(
        prefix=robot.prefix,
        namespace=namespace,
        tf_namespace='' if names.frame_prefix else namespace,
        frames=frames,
        joints=tuple(robot.joints),
        limits=tuple(joint.range for joint in robot.joints.values()),
        qpos=tuple(joint.slot for joint in robot.joints.values()),
        qvel=tuple(joint.dof for joint in robot.joints.values()),
        base_joint='' if free_joint is None else free_joint.name,
        base_qpos=-1 if free_joint is None else free_joint.slot,
        base_qvel=-1 if free_joint is None else free_joint.dof,
        tree=tree,
        sensors=group_sensors(sensors),
        scanners=scanners(articulation.lidars),
        point_scanners=scanners(articulation.point_lidars),
        actuators=tuple(
            PlannedActuator(name, actuator.kind, actuator.joint, _stiffness(actuator))
            for name, actuator in robot.actuators.items()
        ),
        has_controller=bool(articulation.controller),
        drives=twist is not None,
        drive='' if twist is None else twist.kind,
        wheel_matrix=_wheel_matrix(robot, twist),
        axle=twist.axle if twist and math.isfinite(twist.axle or 0.0) else None,
        # If the server does not list the driven actuators, assume that it drives.
        holds_twist=twist is not None and twist.actuators is not None and not twist.actuators,
        covariances=articulation.covariances,
        sensor_topics=articulation.sensor_topics,
        joint_limits=articulation.joint_limits,
    )


def _wheel_matrix(
    robot: RobotModel, twist: TwistControllerInfo | None
) -> tuple[tuple[float, float, float], ...]:
    """Return the rows of the drive's kinematics by joint, none where they are not usable."""
    names = () if twist is None or twist.actuators is None else twist.actuators
    matrix = () if twist is None else twist.wheel_matrix
    if len(matrix) != len(names) or not all(map(math.isfinite, chain(*matrix))):
        return ()
    known = ((robot.actuators.get(name), row) for name, row in zip(names, matrix, strict=True))
    rows = {actuator.joint: row for actuator, row in known if actuator is not None}
    return tuple(rows.get(joint, (0.0, 0.0, 0.0)) for joint in robot.joints) if rows else ()


def _stiffness(actuator: Actuator) -> float:
    """Return the stiffness of a position servo on its joint, 0 for other actuators."""
    is_servo = actuator.gain == 'fixed' and actuator.bias == 'affine' and actuator.bias_params[1]
    return abs(actuator.gain_params[0] * actuator.gear) if is_servo and actuator.joint else 0.0


def _base(robot: RobotModel, articulation: Articulation) -> tuple[Body, str]:
    """
    Return the base body, and its frame.

    :raises UnknownName: when the server names a base that is not a body of the robot.
    """
    name = articulation.frames.get('base', '')
    if not name:
        return robot.base, DEFAULT_BASE
    if robot.base_joint is None:
        if name not in robot.bodies:
            raise UnknownName('body', name, robot.bodies)
        base = robot.bodies[name]
    else:
        base = robot.base
    local = robot.name_of(base)
    return base, articulation.frames.get(local, name if name == local else DEFAULT_BASE)


def _site_frame(robot: RobotModel, tree: FrameTree, name: str) -> str:
    """Return the frame of a site by local or compiled name, the base's when it has none."""
    for index, frame in tree.sites.items():
        site = robot.world.sites[index]
        if name in (robot.name_of(site), site.compiled):
            return frame
    return tree.base


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
    spaces = [robot.namespace for robot in plan.robots if robot.namespace]
    if spaces and settings(Ros2ControlParameters).ros2_control:
        notes.append(
            f'each robot needs a controller_manager in its namespace: {", ".join(spaces)}'
        )
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
    drifts = settings(WheelOdometryParameters).drifts
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
    prefix = settings(NamesParameters).frame_prefix.replace('{prefix}', robot.prefix)
    taken = {frames.map, frames.odom, frames.footprint}
    skeleton = SkeletonBuilder(robot, plan.tree, prefix, taken).build(frames.map)
    urdf, control = '', None
    ros2_control = settings(Ros2ControlParameters)
    if ros2_control.ros2_control:
        states = ros2_control.ros2_control_states
        control = ControlBlock(plan.prefix, plan.command_interfaces(), states)
    description = settings(DescriptionParameters)
    if description.publish_robot_description:
        try:
            limit = description.description_velocity_limit
            urdf = UrdfWriter(robot, skeleton, geometry, meshes, limit, plan.joint_limits).text(
                control
            )
        except MeshesUnwritable as error:
            notes.append(f'no robot_description for {robot.prefix}: {error}')
    return RobotAppearance(skeleton, urdf, tuple(skeleton.static(plan.tree)))
