# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Write a robot of the compiled model as URDF.

Links are called as the frames on /tf and joints as in joint_states, so the text fits what the
bridge publishes without any prefix or remapping.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import xml.etree.ElementTree as ElementTree

from urlab_ros_bridge.client.replies.handshake import JointLimit
from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.geometry import rpy_of
from urlab_ros_bridge.model import Geom
from urlab_ros_bridge.model import RobotModel
from urlab_ros_bridge.model.colors import Color
from urlab_ros_bridge.ros.plan.description.control_block import ControlBlock
from urlab_ros_bridge.ros.plan.description.dynamics import inertial_of
from urlab_ros_bridge.ros.plan.description.dynamics import JointDynamics
from urlab_ros_bridge.ros.plan.description.dynamics import Mimic
from urlab_ros_bridge.ros.plan.description.dynamics import mimics
from urlab_ros_bridge.ros.plan.description.geometry import Geometry
from urlab_ros_bridge.ros.plan.description.geometry import is_endless
from urlab_ros_bridge.ros.plan.description.geometry import Shape
from urlab_ros_bridge.ros.plan.description.geometry import ShapeKind
from urlab_ros_bridge.ros.plan.description.meshes import MeshFiles
from urlab_ros_bridge.ros.plan.description.skeleton import CONTINUOUS
from urlab_ros_bridge.ros.plan.description.skeleton import FIXED
from urlab_ros_bridge.ros.plan.description.skeleton import FLOATING
from urlab_ros_bridge.ros.plan.description.skeleton import LinkFrame
from urlab_ros_bridge.ros.plan.description.skeleton import Skeleton
from urlab_ros_bridge.ros.plan.description.skeleton import UrdfJoint

Element = ElementTree.Element
_add = ElementTree.SubElement


class UrdfWriter:
    """Writes one robot; its prefix becomes its name."""

    def __init__(
        self,
        robot: RobotModel,
        skeleton: Skeleton,
        geometry: Geometry,
        meshes: MeshFiles,
        velocity_limit: float,
        limits: Mapping[str, JointLimit] | None = None,
    ) -> None:
        """
        Prepare.

        :param velocity_limit: rad/s or m/s, for joints for which the model sets none.
        :param limits: by joint, in place of those of the model.
        """
        self._prefix = robot.prefix
        self._world = robot.world
        self._skeleton = skeleton
        self._meshes = meshes
        self._geometry = geometry
        self._limits = limits or {}
        self._dynamics = JointDynamics(robot.world, velocity_limit)
        self._materials: dict[Color, str] = {}
        # A robot whose geoms are all hidden is shown by what collides.
        bodies = [link.body for link in skeleton.links if link.body >= 0]
        self._shows = (
            self._geometry.seen
            if any(self._geometry.seen(body) for body in bodies)
            else self._geometry.colliding
        )

    def text(self, control: ControlBlock | None) -> str:
        """
        Return the URDF.

        :param control: the ``<ros2_control>`` block, None for none.
        :raises MeshesUnwritable: when the folder for meshes cannot be written to.
        """
        root = Element('robot', name=self._prefix or 'robot')
        links = [self._link(link) for link in self._skeleton.links]
        for color, name in self._materials.items():
            _add(_add(root, 'material', name=name), 'color', rgba=_row(color))
        root.extend(links)
        known = {joint.joint for joint in self._skeleton.joints}
        followers = {
            joint: mimic for joint, mimic in mimics(self._world).items() if mimic.joint in known
        }
        root.extend(self._joint(joint, followers) for joint in self._skeleton.joints)
        if control is not None:
            names = (joint.name for joint in self._skeleton.joints if joint.joint in followers)
            root.append(control.element(set(names)))
        ElementTree.indent(root)
        return '<?xml version="1.0"?>\n' + ElementTree.tostring(root, encoding='unicode') + '\n'

    def _link(self, link: LinkFrame) -> Element:
        element = Element('link', name=link.name)
        if link.body < 0:
            return element
        self._inertial(element, link.body)
        geometry = self._geometry
        for shape in geometry.shapes(self._finite(self._shows(link.body)), self._prefix):
            visual = self._shape(_add(element, 'visual'), shape)
            _add(visual, 'material', name=self._material(shape.color))
        solid = self._finite(geometry.colliding(link.body))
        for shape in geometry.shapes(solid, self._prefix, hull=True):
            self._shape(_add(element, 'collision'), shape)
        return element

    @staticmethod
    def _finite(geoms: Iterable[Geom]) -> list[Geom]:
        return [geom for geom in geoms if not is_endless(geom)]

    def _inertial(self, element: Element, body: int) -> None:
        found = inertial_of(self._world.bodies[body])
        if found is None:
            return
        inertial = _add(element, 'inertial')
        _origin(inertial, Pose(found.com))
        _add(inertial, 'mass', value=_number(found.mass))
        names = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
        values = map(_number, found.inertia)
        _add(inertial, 'inertia', dict(zip(names, values, strict=True)))

    def _shape(self, element: Element, shape: Shape) -> Element:
        if shape.name:
            element.set('name', shape.name)
        _origin(element, shape.pose)
        geometry = _add(element, 'geometry')
        if shape.kind is ShapeKind.BOX:
            _add(geometry, 'box', size=_row(shape.size))
        elif shape.kind is ShapeKind.SPHERE:
            _add(geometry, 'sphere', radius=_number(0.5 * shape.size[0]))
        elif shape.kind is ShapeKind.CYLINDER:
            radius, length = _number(0.5 * shape.size[0]), _number(shape.size[2])
            _add(geometry, 'cylinder', radius=radius, length=length)
        elif shape.kind is ShapeKind.ELLIPSOID:
            uri = self._meshes.unit_sphere()
            _add(geometry, 'mesh', filename=uri, scale=_row(shape.size))
        else:
            _add(geometry, 'mesh', filename=self._meshes.uri(shape.mesh, hull=shape.hull))
        return element

    def _material(self, color: Color) -> str:
        return self._materials.setdefault(
            color,
            'rgba_'
            + ''.join(f'{round(255 * part):02x}' for part in color)
            + f'_{len(self._materials)}',
        )

    def _joint(self, joint: UrdfJoint, followers: dict[int, Mimic]) -> Element:
        element = Element('joint', name=joint.name, type=joint.kind)
        _origin(element, joint.pose)
        _add(element, 'parent', link=joint.parent)
        _add(element, 'child', link=joint.child)
        if joint.kind in (FIXED, FLOATING):
            return element
        _add(element, 'axis', xyz=_row(joint.axis))
        if joint.part:
            return element
        limits = self._dynamics.limits(joint.joint)
        reach = (
            {}
            if joint.kind == CONTINUOUS
            else {'lower': _number(limits.lower), 'upper': _number(limits.upper)}
        )
        given = self._limits.get(joint.name, JointLimit())
        most = {
            'effort': _number(given.effort or limits.effort),
            'velocity': _number(given.velocity or limits.velocity),
        }
        _add(element, 'limit', reach | most)
        damping, friction = self._dynamics.friction(joint.joint)
        _add(element, 'dynamics', damping=_number(damping), friction=_number(friction))
        if joint.joint in followers:
            self._mimic(element, followers[joint.joint])
        return element

    def _mimic(self, element: Element, mimic: Mimic) -> None:
        leader = next(j.name for j in self._skeleton.joints if j.joint == mimic.joint)
        _add(
            element,
            'mimic',
            joint=leader,
            multiplier=_number(mimic.multiplier),
            offset=_number(mimic.offset),
        )


def _origin(element: Element, pose: Pose) -> None:
    _add(element, 'origin', xyz=_row(pose.position), rpy=_row(rpy_of(pose.orientation)))


def _row(values: Sequence[float]) -> str:
    return ' '.join(map(_number, values))


def _number(value: float) -> str:
    """
    Write a number so that it comes back the same to ten digits.

    >>> _number(-0.0), _number(0.1 + 0.2), _number(3e-17)
    ('0', '0.3', '3e-17')
    """
    return f'{value + 0.0:.10g}'
