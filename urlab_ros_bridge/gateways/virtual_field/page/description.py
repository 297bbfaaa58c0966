# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The description of a world that a page needs before it can draw it."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from urlab_ros_bridge.client.model import read_robot
from urlab_ros_bridge.client.replies.handshake import Articulation
from urlab_ros_bridge.client.replies.handshake import CameraInfo
from urlab_ros_bridge.client.replies.handshake import Handshake
from urlab_ros_bridge.gateways.virtual_field.page.channels import Channel
from urlab_ros_bridge.gateways.virtual_field.page.spawning import SPAWN
from urlab_ros_bridge.gateways.virtual_field.page.spawning import spawnables
from urlab_ros_bridge.gateways.virtual_field.scene.axes import y_up_pose
from urlab_ros_bridge.model import Joint
from urlab_ros_bridge.model import WorldModel

# Speed limits of a robot that reports none (m/s, m/s, rad/s).
_SPEEDS = {'linear': 1.0, 'lateral': 0.0, 'angular': 1.5}


@dataclass(frozen=True)
class Bodies:
    """
    The files of bodies.

    :ivar seen: id of a body -> digest of its file; bodies without visible geoms are omitted.
    :ivar colliding: likewise, of the geoms that collide.
    """

    seen: Mapping[int, str]
    colliding: Mapping[int, str]


def describe(
    handshake: Handshake,
    world: WorldModel,
    bodies: Bodies,
    channels: Sequence[Channel],
    tips: Sequence[Mapping[str, Any]],
    cameras: Mapping[str, CameraInfo],
) -> dict[str, Any]:
    """
    Return the world as a page needs it; lengths in m, angles in rad, y up.

    :param tips: see `describe_tips`.
    :param cameras: those that can be streamed, by a name that is unique in the world.
    """
    return {
        'type': 'world',
        'name': handshake.world or next(iter(handshake.articulations), 'world'),
        'server': handshake.urlab_version,
        'mujoco': handshake.mujoco_version,
        'extensions': sorted(handshake.extensions),
        'timestep': handshake.timestep,
        'bodies': [_body(world, body.id, bodies) for body in world.bodies],
        'moving': moving_bodies(world),
        'robots': [_robot(handshake, prefix) for prefix in handshake.articulations],
        'entities': _entities(handshake, world),
        'joints': [_joint(joint) for joint in world.joints if joint.is_scalar],
        'cameras': [_camera(world, name, camera) for name, camera in cameras.items()],
        'channels': [channel.describe(number) for number, channel in enumerate(channels)],
        'tips': list(tips),
        'lidars': [
            lidar
            for prefix, robot in handshake.articulations.items()
            for lidar in _lidars(handshake, prefix, robot, channels)
        ],
        'spawnables': spawnables() if SPAWN in handshake.extensions else [],
        'keyframes': [key.compiled for key in world.keyframes if key.name],
    }


def moving_bodies(world: WorldModel) -> list[int]:
    """Return the ids of the bodies whose poses a state contains, in order."""
    return [body.id for body in world.bodies if not world.is_static(body.id)]


def _body(world: WorldModel, number: int, bodies: Bodies) -> dict[str, Any]:
    body = world.bodies[number]
    found: dict[str, Any] = {
        'id': number,
        'name': body.compiled or f'body {number}',
        'local': body.name,
        'robot': body.prefix,
        'parent': body.parent,
        'root': body.root,
        'mass': round(body.mass, 6),
        'joints': [joint.id for joint in world.joints_of(number) if joint.is_scalar],
        'seen': bodies.seen.get(number),
        'colliding': bodies.colliding.get(number),
    }
    if world.is_static(number):
        found['pose'] = y_up_pose(world.reference_pose(number))
    if body.mocap:
        found['mocap'] = True
    return found


def _joint(joint: Joint) -> dict[str, Any]:
    return {
        'id': joint.id,
        'name': joint.name,
        'robot': joint.prefix,
        'kind': joint.kind,
        'body': joint.body,
        'range': list(joint.range) if joint.limited else None,
    }


def _robot(handshake: Handshake, prefix: str) -> dict[str, Any]:
    description, robot = handshake.articulations[prefix], read_robot(handshake, prefix)
    own = [body.id for body in robot.bodies.values()]
    return {
        'prefix': prefix,
        'base': robot.base.id,
        'free': robot.free is not None,
        'bodies': own,
        'joints': len(robot.joints),
        'mass': round(sum(body.mass for body in robot.bodies.values()), 3),
        'drive': _drive(description),
        'controller': description.controller.get('kind', ''),
        'actuators': [
            {
                'name': actuator.name,
                'kind': actuator.kind,
                'joint': actuator.joint,
                'range': [actuator.low, actuator.high]
                if actuator.high < float('inf') and actuator.low > -float('inf')
                else None,
            }
            for actuator in robot.actuators.values()
        ],
    }


def _drive(robot: Articulation) -> dict[str, Any] | None:
    """Return the limits of a robot with a drive of its own, None without one."""
    twist = robot.twist_controller
    if twist is None or not twist.drives:
        return None
    return {'kind': twist.kind} | {
        name: float(twist.limits.get(name, speed)) for name, speed in _SPEEDS.items()
    }


def _entities(handshake: Handshake, world: WorldModel) -> list[dict[str, Any]]:
    by_name = {body.compiled: body.id for body in world.bodies}
    return [
        {'name': name, 'body': by_name[name], 'free': entity.has_free_base}
        for name, entity in handshake.entities.items()
        if name in by_name
    ]


def _camera(world: WorldModel, name: str, camera: CameraInfo) -> dict[str, Any]:
    found: dict[str, Any] = {
        'name': name,
        'mode': camera.mode,
        'resolution': list(camera.resolution),
        'fovy': camera.fovy,
    }
    for element in world.cameras:
        names = (element.compiled, element.name, f'{element.prefix}/{element.name}')
        if name in names and element.is_fixed:
            found |= {'body': element.body, 'pose': y_up_pose(element.pose), 'fovy': element.fovy}
            break
    return found


def _lidars(
    handshake: Handshake, prefix: str, robot: Articulation, channels: Sequence[Channel]
) -> list[dict[str, Any]]:
    sites = read_robot(handshake, prefix).sites
    numbers = {
        channel.name: number
        for number, channel in enumerate(channels)
        if channel.robot == prefix and channel.kind == 'scan'
    }
    return [
        {
            'robot': prefix,
            'name': lidar.name,
            'channel': numbers[lidar.name],
            'body': sites[lidar.site].body,
            'pose': y_up_pose(sites[lidar.site].pose),
            'angle_min': lidar.angle_min,
            'angle_max': lidar.angle_max,
            'rays': lidar.rays,
        }
        for lidar in robot.lidars.values()
        if lidar.site in sites and lidar.name in numbers
    ]


__all__ = ['Bodies', 'describe', 'moving_bodies']
