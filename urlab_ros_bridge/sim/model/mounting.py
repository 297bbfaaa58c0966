# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Scanners that a sidecar mounts on a robot whose model has none."""

from __future__ import annotations

from collections.abc import Iterable

import mujoco

from urlab_ros_bridge.schema import hint
from urlab_ros_bridge.sim.errors import WorldError
from urlab_ros_bridge.sim.model.sidecar.specs import ArticulationSpec

# Of all scanners that sidecars add to one world; models have limits of their own.
MAX_RAYS = 100_000
_GROUP = 5  # of sites that are not drawn


def mounted_rays(articulation: ArticulationSpec) -> int:
    """Return how many sensor values the scanners of a sidecar add to its robot."""
    return sum(lidar.rays or 0 for lidar in articulation.lidars.values() if lidar.rings is None)


def check_rays(articulations: Iterable[ArticulationSpec], what: str) -> None:
    """
    Check the total number of rays of the scanners of a world.

    :param what: names the world in the message.
    :raises WorldError: when they have more than MAX_RAYS rays together.
    """
    total = sum(
        (lidar.rays or 0) * (lidar.rings or 1)
        for articulation in articulations
        for lidar in articulation.lidars.values()
    )
    if total > MAX_RAYS:
        raise WorldError(f'{what}: lidars: {total} rays, at most {MAX_RAYS} are allowed')


def mount_scanners(robot: mujoco.MjSpec, articulation: ArticulationSpec) -> None:
    """
    Add the scanners that the sidecar gives `rays`: a site, and for a planar one a `user` sensor.

    Both have the name of the scanner, so this is also the name of its frame.  Neither has mass.

    :param robot: the model alone, every element with its name; it is changed.
    :raises WorldError: when the body is unknown, or a name is taken by the model.
    """
    for name, lidar in articulation.lidars.items():
        if lidar.rays is None:
            continue
        what = f'{articulation.model.name}: lidars.{name}'
        for kind, elements in (('sensor', robot.sensors), ('site', robot.sites)):
            if any(element.name == name for element in elements):
                raise WorldError(
                    f'{what}: the model has a {kind} {name!r}: leave out rays, or choose another '
                    'name'
                )
        site = _body(robot, lidar.body, what).add_site(
            name=name, pos=lidar.pose.pos, quat=lidar.pose.quat, size=[0.01] * 3, group=_GROUP
        )
        if lidar.rings is not None:
            continue
        robot.add_sensor(
            name=name,
            type=mujoco.mjtSensor.mjSENS_USER,
            objtype=mujoco.mjtObj.mjOBJ_SITE,
            objname=site.name,
            dim=lidar.rays,
            needstage=mujoco.mjtStage.mjSTAGE_POS,
        )


def _body(robot: mujoco.MjSpec, name: str, what: str) -> mujoco.MjsBody:
    bodies = robot.bodies[1:]
    for body in bodies:
        if name in ('', body.name):
            return body
    problem = f'{name!r} is unknown' if name else 'there is no body to mount it on'
    names = [body.name for body in bodies]
    raise WorldError(f'{what}.body: {problem}; {hint(name, names)}')
