# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The parts of a model, and what becomes of each.

Links that joints connect are one part.  A part without movable joints and sensors is scenery: one
body, free unless the model is static.  Every other one is a robot, described as a URDF, so that
actuators, drives and sensors are those of any robot; shapes, and what a URDF cannot say of joints,
are added to MuJoCo's spec of it.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field
import logging
import xml.etree.ElementTree as ElementTree

import mujoco
import numpy as np

from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.geometry import rotate_inverse
from urlab_ros_bridge.geometry import rpy_of
from urlab_ros_bridge.geometry import xyzw_to_wxyz
from urlab_ros_bridge.robot_import.drives import plugin_words
from urlab_ros_bridge.robot_import.errors import InvalidDescription
from urlab_ros_bridge.robot_import.sdf.document import new_element
from urlab_ros_bridge.robot_import.sdf.document import SdfElement
from urlab_ros_bridge.robot_import.sdf.frames import joints_of
from urlab_ros_bridge.robot_import.sdf.frames import links_of
from urlab_ros_bridge.robot_import.sdf.frames import Placed
from urlab_ros_bridge.robot_import.sdf.frames import PlacedJoint
from urlab_ros_bridge.robot_import.sdf.frames import Scope
from urlab_ros_bridge.robot_import.sdf.frames import SEPARATOR
from urlab_ros_bridge.robot_import.sdf.shapes import Inertial
from urlab_ros_bridge.robot_import.sdf.shapes import ShapeMaker

_LOG = logging.getLogger(__name__)
_FIXED = 'fixed'
# Types of joints of SDF as URDF has them; the others are made of these, or of MuJoCo's ball.
_URDF = ('revolute', 'continuous', 'prismatic')
_BALL, _SECOND = 'ball', ('universal', 'revolute2')
_LIMIT = 1e15  # larger ones are none: SDF has 1e16
# Controllers of single joints: words of the plugin's file and name, and the interface.
_CONTROLLERS = {
    'joint-position-controller': 'position',
    'jointpositioncontroller': 'position',
    'joint-trajectory-controller': 'position',
    'jointtrajectorycontroller': 'position',
    'joint_pose_trajectory': 'position',
    'joint-controller': 'velocity',
    'jointcontroller': 'velocity',
}
_DRIVES = ('drive', 'ackermann', 'planar_move', 'velocity-control', 'velocitycontrol')


@dataclass
class Part:
    """
    Links that joints connect.

    :ivar name: of the model, with that of the root link where the model has several parts.
    :ivar root: the link that carries the others.
    :ivar links: by name, the root first; `joints` in the order of the links that they carry.
    :ivar is_fixed: the root does not move.
    :ivar frame: pose of the model in the world.
    """

    name: str
    model: SdfElement
    root: str
    links: dict[str, Placed]
    joints: list[PlacedJoint]
    is_fixed: bool
    frame: Pose
    plugins: list[SdfElement] = field(default_factory=list)

    @property
    def is_robot(self) -> bool:
        """Return whether anything of it moves by itself, or senses."""
        moves = any(joint.kind != _FIXED for joint in self.joints)
        senses = any(link.element.first('sensor') is not None for link in self.links.values())
        driven = any(word in plugin_words(plugin) for plugin in self.plugins for word in _DRIVES)
        return moves or senses or (driven and not self.is_fixed)

    def place(self, link: Placed) -> Callable[[SdfElement], Pose]:
        """Return the function that places elements of a link in it."""
        scope, name = link.scope, link.element.get('name', '')

        def placed(element: SdfElement) -> Pose:
            base = element.relative_to()
            if not base:
                return element.pose()
            here = scope.pose(name, link.element).inverse()
            try:
                there = here.then(scope.pose(base, element))
            except InvalidDescription as error:
                _LOG.warning('%s: taken as relative to its link', error)
                return element.pose()
            return there.then(element.pose())

        return placed


def parts_of(scope: Scope, frame: Pose) -> list[Part]:
    """
    Return the parts of a model.

    :param frame: pose of the model in the world.
    """
    model = scope.element
    links = {link.name: link for link in links_of(scope)}
    carried: dict[str, PlacedJoint] = {}
    for joint in joints_of(scope):
        if joint.parent not in links and joint.parent:
            raise joint.element.failure(f'the parent {joint.parent!r} is no link')
        if joint.kind == 'fixed' or joint.kind in (*_URDF, _BALL, *_SECOND, 'screw'):
            if joint.child in carried or _closes(joint, carried):
                _LOG.warning(
                    '%s: joint %r closes a loop and is left out', model.get('name'), joint.name
                )
            else:
                carried[joint.child] = joint
        else:
            _LOG.warning(
                '%s: joint %r of type %r is left out: its links move freely',
                model.get('name'), joint.name, joint.kind,
            )  # fmt: skip
    is_static = model.flag('static')
    roots = [name for name in links if name not in carried or not carried[name].parent]
    found = []
    for root in roots:
        names, joints = [root], []
        for name in names:
            below = [joint for joint in carried.values() if joint.parent == name]
            joints += below
            names += [joint.child for joint in below]
        base = carried.get(root)
        part = Part(
            model.get('name', '') if len(roots) == 1 else f'{model.get("name")}_{_flat(root)}',
            model,
            root,
            {name: links[name] for name in names},
            [] if is_static else joints,
            is_static or (base is not None and base.kind == _FIXED),
            frame,
        )
        if is_static:
            part.joints = [_as_fixed(joint) for joint in joints]
        elif base is not None and base.kind != _FIXED:
            part.joints.insert(0, base)
            part.is_fixed = True
        found.append(part)
    plugins = list(_plugins(scope))
    if found:
        max(found, key=lambda part: len(part.joints)).plugins = plugins
    return found


def _as_fixed(joint: PlacedJoint) -> PlacedJoint:
    element = new_element('joint', joint.element, {**joint.element.attrib, 'type': _FIXED})
    element.extend(joint.element)
    return PlacedJoint(joint.name, element, joint.pose, joint.parent, joint.child, ())


def _closes(joint: PlacedJoint, carried: dict[str, PlacedJoint]) -> bool:
    """Return whether the parent of a joint hangs on its child already."""
    name = joint.parent
    while name:
        if name == joint.child:
            return True
        name = carried[name].parent if name in carried else ''
    return False


def _plugins(scope: Scope) -> Iterator[SdfElement]:
    yield from scope.element.all('plugin')
    for model in scope.models.values():
        yield from _plugins(model)


def _flat(name: str) -> str:
    """Return a name without the marks of nested models."""
    return name.replace(SEPARATOR, '_')


def add_scenery(spec: mujoco.MjSpec, part: Part, shapes: ShapeMaker, name: str) -> None:
    """
    Add a part that is no robot to a spec.

    :param name: of its body.
    """
    bodies: dict[str, mujoco.MjsBody] = {}
    moves = not part.is_fixed
    if name == 'world':  # MuJoCo's name of the frame that everything is in
        name = 'world_model'
    above = {joint.child: joint.parent for joint in part.joints}
    for link in part.links.values():
        parent = above.get(link.name, '')
        if parent in part.links and link.name != part.root:
            pose = part.links[parent].pose.inverse().then(link.pose)
            holder, own = bodies[parent], f'{name}_{_flat(link.name)}'
        else:
            pose, holder, own = part.frame.then(link.pose), spec.worldbody, name
        body = bodies[link.name] = holder.add_body(
            name=own, pos=pose.position, quat=xyzw_to_wxyz(pose.orientation)
        )
        shapes.add(spec, body, link.element, part.place(link), moves=moves)
        if moves:
            shapes.inertial(link.element, part.place(link)).put(body)
            body.gravcomp = 0.0 if link.element.flag('gravity', True) else 1.0
            if link.name == part.root:
                body.add_freejoint(name=own)


def urdf_of(part: Part, shapes: ShapeMaker) -> ElementTree.Element:
    """Return the kinematics, masses, control and sensors of a robot as a URDF, without shapes."""
    robot = ElementTree.Element('robot', name=part.name)
    for link in part.links.values():
        robot.append(_urdf_link(link, shapes.inertial(link.element, part.place(link))))
        _add_sensors(robot, part, link)
    for joint in part.joints:
        if joint.child != part.root:
            robot.append(_urdf_joint(part, joint))
        for sensor in joint.element.all('sensor'):
            gazebo = ElementTree.SubElement(robot, 'gazebo', reference=_flat(joint.name))
            gazebo.append(sensor)
    _add_control(robot, part)
    return robot


def _urdf_link(link: Placed, inertial: Inertial) -> ElementTree.Element:
    made = ElementTree.Element('link', name=_flat(link.name))
    element = ElementTree.SubElement(made, 'inertial')
    ElementTree.SubElement(element, 'origin', xyz=_text(inertial.centre))
    ElementTree.SubElement(element, 'mass', value=repr(inertial.mass))
    tensor = inertial.tensor
    values = {
        f'i{"xyz"[row]}{"xyz"[column]}': repr(float(tensor[row, column]))
        for row in range(3)
        for column in range(row, 3)
    }
    ElementTree.SubElement(element, 'inertia', values)
    return made


def _urdf_joint(part: Part, joint: PlacedJoint) -> ElementTree.Element:
    kind = joint.kind if joint.kind in _URDF else _FIXED
    axis = joint.element.first('axis')
    low, high = _limits(axis)
    if kind == 'revolute' and low <= -_LIMIT and high >= _LIMIT:
        kind = 'continuous'
    made = ElementTree.Element('joint', name=_flat(joint.name), type=kind)
    ElementTree.SubElement(made, 'parent', link=_flat(joint.parent))
    ElementTree.SubElement(made, 'child', link=_flat(joint.child))
    child = part.links[joint.child].pose
    pose = part.links[joint.parent].pose.inverse().then(child)
    origin = {'xyz': _text(pose.position), 'rpy': _text(rpy_of(pose.orientation))}
    ElementTree.SubElement(made, 'origin', origin)
    if kind == _FIXED:
        return made
    direction = rotate_inverse(child.orientation, joint.axes[0].tolist())
    ElementTree.SubElement(made, 'axis', xyz=_text(direction))
    limit = {'lower': repr(low), 'upper': repr(high)} if kind != 'continuous' else {}
    for name, target in (('effort', 'effort'), ('velocity', 'velocity')):
        value = _LIMIT if axis is None else _limit(axis, name, _LIMIT)
        limit |= {target: repr(value)} if 0.0 < value < _LIMIT else {}
    ElementTree.SubElement(made, 'limit', limit)
    if axis is not None and axis.first('dynamics') is not None:
        dynamics = {
            name: repr(max(axis.number(f'dynamics/{name}', 0.0), 0.0))
            for name in ('damping', 'friction')
        }
        ElementTree.SubElement(made, 'dynamics', dynamics)
    mimic = None if axis is None else axis.first('mimic')
    if mimic is not None:
        ElementTree.SubElement(
            made, 'mimic',
            joint=_flat(mimic.get('joint', '')),
            multiplier=repr(mimic.number('multiplier', 1.0)),
            offset=repr(mimic.number('offset', 0.0)),
        )  # fmt: skip
    return made


def _limits(axis: SdfElement | None) -> tuple[float, float]:
    if axis is None:
        return -_LIMIT, _LIMIT
    return _limit(axis, 'lower', -_LIMIT), _limit(axis, 'upper', _LIMIT)


def _limit(axis: SdfElement, name: str, default: float) -> float:
    """Return a limit of a joint; infinite ones are allowed."""
    text = axis.value(f'limit/{name}').lower()
    if text in ('', 'inf', '+inf', '-inf'):
        return default
    return float(np.clip(axis.number(f'limit/{name}', default), -_LIMIT, _LIMIT))


def _text(values: object) -> str:
    return ' '.join(repr(float(value)) for value in np.ravel(values))  # type: ignore[call-overload]


def _add_sensors(robot: ElementTree.Element, part: Part, link: Placed) -> None:
    place = part.place(link)
    for sensor in link.element.all('sensor'):
        pose = sensor.first('pose')
        if pose is not None and pose.get('relative_to'):
            there = place(sensor)
            pose.attrib.clear()
            pose.text = _text((*there.position, *rpy_of(there.orientation)))
        gazebo = ElementTree.SubElement(robot, 'gazebo', reference=_flat(link.name))
        gazebo.append(sensor)


def _add_control(robot: ElementTree.Element, part: Part) -> None:
    """Add the plugins, and for each joint what commands it, nothing where nothing does."""
    names = {joint.name: _flat(joint.name) for joint in part.joints}
    names |= {joint.name.rpartition(SEPARATOR)[2]: _flat(joint.name) for joint in part.joints}
    commanded: dict[str, str] = {}
    control = part.model.all('ros2_control')
    for plugin in part.plugins:
        for element in plugin.iter():
            text = (element.text or '').strip()
            if text in names:
                element.text = names[text]
        ElementTree.SubElement(robot, 'gazebo').append(plugin)
        kind = next(
            (kind for word, kind in _CONTROLLERS.items() if word in plugin_words(plugin)),
            None,
        )
        if kind is not None:
            joints = [(item.text or '').strip() for item in plugin.iter('joint_name')]
            for name in joints or [names[joint.name] for joint in part.joints]:
                commanded[name] = kind
        control += plugin.all('ros2_control')
    robot.extend(control)
    if control:
        return
    block = ElementTree.SubElement(robot, 'ros2_control', name='sdf')
    for name, kind in commanded.items():
        joint_element = ElementTree.SubElement(block, 'joint', name=name)
        ElementTree.SubElement(joint_element, 'command_interface', name=kind)
    if not commanded:
        robot.remove(block)
        for joint in part.joints:
            transmission = ElementTree.SubElement(robot, 'transmission')
            element = ElementTree.SubElement(transmission, 'joint', name=names[joint.name])
            read = ElementTree.SubElement(element, 'hardwareInterface')
            read.text = 'hardware_interface/JointStateInterface'


def complete_robot(spec: mujoco.MjSpec, part: Part, shapes: ShapeMaker) -> None:
    """Add to the spec of a robot what its URDF could not say: shapes, and more of the joints."""
    root, place = spec.body(_flat(part.root)), part.links[part.root].pose
    root.pos, root.quat = place.position, xyzw_to_wxyz(place.orientation)
    for link in part.links.values():
        body = spec.body(_flat(link.name))
        shapes.add(spec, body, link.element, part.place(link), moves=True)
        body.gravcomp = 0.0 if link.element.flag('gravity', True) else 1.0
    for joint in part.joints:
        child = part.links[joint.child].pose
        anchor = child.inverse().then(joint.pose).position
        name = _flat(joint.name)
        if joint.kind in _URDF and joint.child != part.root:
            made = spec.joint(name)
            made.pos = anchor
            _set_spring(made, joint.element.first('axis'))
            continue
        body = spec.body(_flat(joint.child))
        axes = [rotate_inverse(child.orientation, axis.tolist()) for axis in joint.axes]
        if joint.kind == _BALL:
            body.add_joint(name=name, type=mujoco.mjtJoint.mjJNT_BALL, pos=anchor)
        elif joint.kind in _SECOND and len(axes) == 2:
            for axis, suffix, tag in zip(axes, ('', '_2'), ('axis', 'axis2'), strict=True):
                _add_hinge(spec, body, f'{name}{suffix}', anchor, axis, joint.element.first(tag))
        elif joint.kind in _URDF and axes:
            hinge = _add_hinge(spec, body, name, anchor, axes[0], joint.element.first('axis'))
            if joint.kind == 'prismatic':
                hinge.type = mujoco.mjtJoint.mjJNT_SLIDE
        elif joint.kind == 'screw' and axes:
            _add_screw(spec, body, name, anchor, axes[0], joint.element)


def _add_hinge(
    spec: mujoco.MjSpec,
    body: mujoco.MjsBody,
    name: str,
    anchor: object,
    axis: object,
    element: SdfElement | None,
) -> mujoco.MjsJoint:
    made = body.add_joint(name=name, type=mujoco.mjtJoint.mjJNT_HINGE, pos=anchor, axis=axis)
    low, high = _limits(element)
    if low > -_LIMIT and high < _LIMIT:
        made.limited = mujoco.mjtLimited.mjLIMITED_TRUE
        made.range = np.degrees((low, high)) if spec.compiler.degree else (low, high)
    _set_spring(made, element)
    return made


def _set_spring(joint: mujoco.MjsJoint, axis: SdfElement | None) -> None:
    if axis is None:
        return
    stiffness = axis.number('dynamics/spring_stiffness', 0.0)
    if stiffness > 0.0:
        joint.stiffness = np.array([stiffness, 0.0, 0.0])
        joint.springref = axis.number('dynamics/spring_reference', 0.0)


def _add_screw(
    spec: mujoco.MjSpec,
    body: mujoco.MjsBody,
    name: str,
    anchor: object,
    axis: object,
    element: SdfElement,
) -> None:
    """Add a joint that slides as it turns."""
    if element.first('screw_thread_pitch') is not None:  # m per turn
        pitch = element.number('screw_thread_pitch', 1.0) / (2 * np.pi)
    else:  # rad per m, and of the other sense
        thread = element.number('thread_pitch', 1.0)
        pitch = -1.0 / thread if thread else 0.0
    _add_hinge(spec, body, name, anchor, axis, element.first('axis'))
    slide = mujoco.mjtJoint.mjJNT_SLIDE
    body.add_joint(name=f'{name}_slide', type=slide, pos=anchor, axis=axis)
    spec.add_equality(
        name=name, type=mujoco.mjtEq.mjEQ_JOINT, name1=f'{name}_slide', name2=name,
        objtype=mujoco.mjtObj.mjOBJ_JOINT, data=[0.0, pitch, *[0.0] * (mujoco.mjNEQDATA - 2)],
    )  # fmt: skip
