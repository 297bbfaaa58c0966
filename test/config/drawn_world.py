# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A world built from published messages alone, as a viewer builds it, and rays through it."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import mujoco
import numpy as np
from visualization_msgs.msg import Marker

_GEOM = mujoco.mjtGeom


def matrix(position, quaternion):
    """Return a 4x4 transform; the quaternion is xyzw."""
    found, turn = np.eye(4), np.zeros(9)
    mujoco.mju_quat2Mat(turn, np.roll(np.asarray(quaternion, float), 1))
    found[:3, :3], found[:3, 3] = turn.reshape(3, 3), position
    return found


def of_message(transform):
    """Return a geometry_msgs Transform or Pose as a 4x4 transform."""
    place = getattr(transform, 'translation', None) or transform.position
    turn = getattr(transform, 'rotation', None) or transform.orientation
    return matrix((place.x, place.y, place.z), (turn.x, turn.y, turn.z, turn.w))


def of_origin(element):
    """Return the origin of a URDF element as a 4x4 transform."""
    position, angles = (np.array(element.get(name).split(), float) for name in ('xyz', 'rpy'))
    quaternion = np.zeros(4)
    mujoco.mju_euler2Quat(quaternion, angles, 'XYZ')
    return matrix(position, np.roll(quaternion, -1))


class DrawnWorld:
    """Shapes in one frame; `frames`: name of a frame -> its transform in that frame."""

    def __init__(self, frames):
        self._frames = frames
        self._spec = mujoco.MjSpec()

    def _add(self, kind, size, place):
        turn = np.zeros(4)
        mujoco.mju_mat2Quat(turn, np.ascontiguousarray(place[:3, :3]).ravel())
        size = [*size, 0.0, 0.0][:3]
        self._spec.worldbody.add_geom(type=kind, size=size, pos=place[:3, 3], quat=turn)

    def add_marker(self, marker):
        place = self._frames[marker.header.frame_id] @ of_message(marker.pose)
        half = 0.5 * np.array([marker.scale.x, marker.scale.y, marker.scale.z])
        kinds = {
            Marker.CUBE: (_GEOM.mjGEOM_BOX, half),
            Marker.SPHERE: (_GEOM.mjGEOM_ELLIPSOID, half),
            Marker.CYLINDER: (_GEOM.mjGEOM_CYLINDER, half[1:]),
        }
        self._add(*kinds[marker.type], place)

    def add_robot(self, urdf):
        """Add what a robot description shows; the meshes of bundled robots are unit spheres."""
        for link in ElementTree.fromstring(urdf).iter('link'):
            for visual in link.iter('visual'):
                place = self._frames[link.get('name')] @ of_origin(visual.find('origin'))
                (shape,) = visual.find('geometry')
                self._add(*_of_urdf(shape), place)

    def compiled(self):
        model = self._spec.compile()
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        return model, data


def _of_urdf(shape):
    def numbers(name):
        return np.array(shape.get(name).split(), float)

    if shape.tag == 'box':
        return _GEOM.mjGEOM_BOX, 0.5 * numbers('size')
    if shape.tag == 'sphere':
        return _GEOM.mjGEOM_SPHERE, numbers('radius')
    if shape.tag == 'cylinder':
        return _GEOM.mjGEOM_CYLINDER, [*numbers('radius'), 0.5 * float(shape.get('length'))]
    assert shape.tag == 'mesh' and '/sphere-' in shape.get('filename')
    return _GEOM.mjGEOM_ELLIPSOID, 0.5 * numbers('scale')


def distances(model, data, eye, axes, fovy, shape=(48, 64)):
    """
    Return how far rays of a camera go, shape `shape`, -1 where nothing is.

    :param axes: rows are the camera's right, up and backward in the world; `fovy` in degrees.
    """
    rows, columns = shape
    top = np.tan(np.radians(fovy) / 2)
    right, up = np.meshgrid(
        np.linspace(-top, top, columns) * columns / rows, np.linspace(top, -top, rows)
    )
    rays = np.stack([right, up, -np.ones(shape)], axis=-1).reshape(-1, 3) @ axes
    rays /= np.linalg.norm(rays, axis=1, keepdims=True)
    groups = np.array([1, 1, 1, 0, 0, 0], np.uint8)
    found, hit = np.zeros(len(rays)), np.zeros(len(rays), np.int32)
    mujoco.mj_multiRay(
        model, data, eye, rays.ravel(), groups, 1, -1, hit, found, None, len(rays), 100.0
    )
    return found.reshape(shape)
