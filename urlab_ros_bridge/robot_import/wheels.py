# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Wheels that turn a robot as far as its drive commands.

A cylinder touches the floor with both edges, which slip against each other in a turn: a robot
with wheels as wide as an eighth of its track turns 10 % too slowly.  An ellipsoid of the same
radius and width touches it in one point, in the middle.
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from urlab_ros_bridge.robot_import.base import ground_level
from urlab_ros_bridge.robot_import.report import ImportReport
from urlab_ros_bridge.robot_import.spec import StartPose

_ROUND = 0.95  # least radius of a wheel relative to its greatest
_DIRECTIONS = 32  # in which the radius is measured
_KINDS = mujoco.mjtGeom


@dataclass(frozen=True, slots=True)
class _Wheel:
    """Centre (m, in the body), axis, radius and half the width (m)."""

    centre: np.ndarray
    axis: np.ndarray
    radius: float
    half_width: float


def round_wheels(
    spec: mujoco.MjSpec, model: mujoco.MjModel, pose: StartPose, report: ImportReport
) -> dict[str, float]:
    """
    Let the wheels on the ground touch it in one point each.

    A wheel is a round link that turns about its own axis without limits.

    :param model: compiled from the spec.
    :return: radii (m) by joint.
    """
    radii: dict[str, float] = {}
    level = ground_level(model, pose)
    for joint in range(model.njnt):
        body = int(model.jnt_bodyid[joint])
        turns = model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_HINGE
        if not turns or model.jnt_limited[joint] or pose.lowest_by_body.get(body, np.inf) > level:
            continue
        wheel = _wheel(model, joint, body)
        if wheel is None:
            continue
        name = model.body(body).name
        radii[model.joint(joint).name] = wheel.radius
        first, *others = [geom for geom in spec.body(name).geoms if _is_solid(geom)]
        if others or first.type != _KINDS.mjGEOM_SPHERE:
            _make_ellipsoid(first, wheel)
            for geom in others:
                spec.delete(geom)
            report.guessed(
                f'link {name!r}', 'it is a wheel: an ellipsoid, which touches the floor in a point'
            )
    return radii


def _is_solid(geom: mujoco.MjsGeom) -> bool:
    return bool(geom.contype or geom.conaffinity)


def _make_ellipsoid(geom: mujoco.MjsGeom, wheel: _Wheel) -> None:
    quat = np.empty(4)
    mujoco.mju_quatZ2Vec(quat, wheel.axis)
    geom.type = _KINDS.mjGEOM_ELLIPSOID
    geom.meshname = ''
    geom.size = (wheel.radius, wheel.radius, wheel.half_width)
    geom.pos, geom.quat = wheel.centre, quat


def _wheel(model: mujoco.MjModel, joint: int, body: int) -> _Wheel | None:
    """Return the wheel that a body is, None when it is not round about the axis of its joint."""
    start, count = model.body_geomadr[body], model.body_geomnum[body]
    solid = [g for g in range(start, start + count) if model.geom_contype[g]]
    corners = [_corners(model, geom) for geom in solid]
    found = [each for each in corners if each is not None]
    if not found or len(found) < len(corners):
        return None
    axis = model.jnt_axis[joint]
    points = np.concatenate(found) - model.jnt_pos[joint]
    along = points @ axis
    across = points - np.outer(along, axis)
    first = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    first /= np.linalg.norm(first)
    angles = np.linspace(0.0, 2 * np.pi, _DIRECTIONS, endpoint=False)
    directions = np.outer(np.cos(angles), first) + np.outer(np.sin(angles), np.cross(axis, first))
    reach = (across @ directions.T).max(axis=0)
    radius, half_width = float(reach.max()), float(np.ptp(along) / 2)
    if reach.min() < _ROUND * radius or not 0 < half_width <= radius * (1 + 1e-6):
        return None
    middle = float(along.max() + along.min()) / 2
    return _Wheel(model.jnt_pos[joint] + middle * axis, axis, radius, half_width)


def _corners(model: mujoco.MjModel, geom: int) -> np.ndarray | None:
    """Return points on the surface of a round shape in its body, shape (n, 3); None for others."""
    kind, size = model.geom_type[geom], model.geom_size[geom]
    angles = np.linspace(0.0, 2 * np.pi, 4 * _DIRECTIONS, endpoint=False)
    circle = np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
    if kind == _KINDS.mjGEOM_MESH:
        mesh = model.geom_dataid[geom]
        start, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
        points = model.mesh_vert[start : start + count].astype(float)
    elif kind == _KINDS.mjGEOM_CYLINDER:
        rim = size[0] * circle
        points = np.concatenate([rim + np.array([0, 0, z]) for z in (-size[1], size[1])])
    elif kind == _KINDS.mjGEOM_SPHERE:
        points = size[0] * np.concatenate([circle, circle[:, [2, 0, 1]], circle[:, [1, 2, 0]]])
    else:
        return None
    turn = np.empty(9)
    mujoco.mju_quat2Mat(turn, model.geom_quat[geom])
    return points @ turn.reshape(3, 3).T + model.geom_pos[geom]
