# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A URDF as a MuJoCo spec: every link a body, visual and collision shapes apart."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass
import logging
from pathlib import Path
import warnings
import xml.etree.ElementTree as ElementTree

import mujoco
import numpy as np

from urlab_ros_bridge.robot_import.errors import InvalidDescription
from urlab_ros_bridge.robot_import.links import joint_ends
from urlab_ros_bridge.robot_import.report import ImportReport

_LOG = logging.getLogger(__name__)
# As in MuJoCo Menagerie; group 3 is not drawn.
VISUAL_GROUP, COLLISION_GROUP = 2, 3
TIMESTEP = 0.002  # s
_STIFF = (2.5 * TIMESTEP, 1.0)  # time constant (s) and damping ratio of mimic joints
IMPRATIO = 10  # of the bundled worlds: with less, wheels and what fingers hold slip
_SCALAR = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
# MuJoCo's name of the frame that everything is in; a link of that name gets another one.
_WORLD = 'world'
_OPTIONS = {'fusestatic': 'false', 'discardvisual': 'false', 'strippath': 'false'}


def read_spec(robot: ElementTree.Element, path: Path) -> mujoco.MjSpec:
    """
    Return the spec of a prepared URDF, as MuJoCo's own reader makes it, uncompiled.

    :raises InvalidDescription: with the reader's message.
    """
    _set_compiler(robot)
    with _mujoco_errors(path, 'MuJoCo cannot read it'):
        spec = mujoco.MjSpec.from_string(ElementTree.tostring(robot, encoding='unicode'))
    spec.option.timestep = TIMESTEP
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.impratio = IMPRATIO
    for mesh in spec.meshes:
        # Masses come from the links, and a mesh that is not closed has no volume.
        mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
    for coupling in spec.equalities:  # as stiff as a time step allows
        coupling.solref = _STIFF
    for body in spec.bodies[1:]:
        _arrange_geoms(body)
    return spec


def _set_compiler(robot: ElementTree.Element) -> None:
    """Keep the settings that a URDF has for MuJoCo, but for those that would drop parts of it."""
    extension = robot.find('mujoco')
    if extension is None:
        extension = ElementTree.SubElement(robot, 'mujoco')
    compiler = extension.find('compiler')
    if compiler is None:
        compiler = ElementTree.SubElement(extension, 'compiler')
    compiler.attrib.update(_OPTIONS)
    compiler.attrib.pop('meshdir', None)


def rename_links(robot: ElementTree.Element, report: ImportReport) -> str:
    """
    Give links other names where MuJoCo or tf2 have no such names.

    Frames of tf2 do not begin with a slash; a link called `world` stays a body with that frame.

    :return: the new name of the link `world`, '' when there is no such link.
    """
    names = {link.get('name', '') for link in robot.findall('link')}
    for name in sorted(names):
        if name.startswith('/'):
            new = _rename(robot, name, name.lstrip('/') or 'link')
            report.repaired(f'link {name!r}', f'is called {new!r}: frames begin with no slash')
    return _rename(robot, _WORLD, 'world_link') if _WORLD in names else ''


def release_base(robot: ElementTree.Element, root: str, report: ImportReport) -> bool:
    """
    Fix links that float on others, except for a base that floats on an empty root link.

    :return: whether there is such a base; then the root link is gone.
    """
    joints = robot.findall('joint')
    links = {link.get('name', ''): link for link in robot.findall('link')}
    for joint in joints:
        if joint.get('type') != 'floating':
            continue
        on_root = [each for each in joints if joint_ends(each)[0] == root]
        if on_root == [joint] and not len(links[root]):
            robot.remove(joint)
            robot.remove(links[root])
            report.guessed('robot', f'the base floats on {root!r}, which is empty and left out')
            return True
        joint.set('type', 'fixed')
        report.repaired(f'joint {joint.get("name")!r}', 'only a base floats: it is fixed')
    return False


def _rename(robot: ElementTree.Element, old: str, new: str) -> str:
    """Rename a link, with underscores where the name is taken; return the new name."""
    names = {link.get('name') for link in robot.findall('link')}
    while new in names:
        new += '_'
    attributes = {'link': 'name', 'parent': 'link', 'child': 'link', 'gazebo': 'reference'}
    for element in robot.iter():
        attribute = attributes.get(element.tag)
        if attribute and element.get(attribute) == old:
            element.set(attribute, new)
    return new


def _arrange_geoms(body: mujoco.MjsBody) -> None:
    """Put shapes into groups, name them, and take their masses away."""
    geoms = list(body.geoms)
    has_visual = any(_is_visual(geom) for geom in geoms)
    counts = {'visual': 0, 'collision': 0}
    for geom in geoms:
        kind = 'visual' if _is_visual(geom) else 'collision'
        counts[kind] += 1
        number = '' if counts[kind] == 1 else f'_{counts[kind]}'
        geom.name = f'{body.name}_{kind}{number}'
        drawn = kind == 'visual' or not has_visual
        geom.group = VISUAL_GROUP if drawn else COLLISION_GROUP
        geom.density = 0.0


def _is_visual(geom: mujoco.MjsGeom) -> bool:
    return not (geom.contype or geom.conaffinity)


@contextmanager
def _mujoco_errors(path: Path, what: str) -> Iterator[None]:
    try:
        yield
    except (ValueError, RuntimeError, mujoco.FatalError) as error:
        raise InvalidDescription(path, f'{what}: {error}') from error


def compile_robot(spec: mujoco.MjSpec, path: Path) -> mujoco.MjModel:
    """
    Compile a spec.

    :raises InvalidDescription: with MuJoCo's own message.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        with _mujoco_errors(path, 'MuJoCo cannot compile it'):
            model = spec.compile()
    for warning in caught:
        _LOG.warning('%s: %s', path.name, ' '.join(str(warning.message).split()))
    return model


@dataclass(frozen=True, slots=True)
class StartPose:
    """
    The state that a robot starts in, at the origin.

    :ivar lowest_by_body: height of the lowest point (m) by body id, for bodies that collide.
    :ivar touching: pairs of body names whose shapes penetrate each other.
    """

    data: mujoco.MjData
    lowest_by_body: Mapping[int, float]
    touching: frozenset[tuple[str, str]]

    @property
    def lowest(self) -> float:
        """Return the height of the lowest point (m), 0 when nothing collides."""
        return min(self.lowest_by_body.values(), default=0.0)


def start_pose(model: mujoco.MjModel, initial: Mapping[str, float], path: Path) -> StartPose:
    """
    Return the pose with every joint at its initial value, else at 0 or the limit next to it.

    :param initial: positions by joint (m, rad).
    :raises InvalidDescription: when MuJoCo cannot compute it: too many shapes touch.
    """
    data = mujoco.MjData(model)
    for joint in range(model.njnt):
        if model.jnt_type[joint] not in _SCALAR:
            continue
        slot = model.jnt_qposadr[joint]
        value = initial.get(model.joint(joint).name, 0.0)
        if model.jnt_limited[joint]:
            value = float(np.clip(value, *model.jnt_range[joint]))
        data.qpos[slot] = value
    _follow(model, data)
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    with _mujoco_errors(path, 'MuJoCo cannot compute which of its shapes touch'):
        mujoco.mj_collision(model, data)
    touching = frozenset(
        (model.body(model.geom_bodyid[a]).name, model.body(model.geom_bodyid[b]).name)
        for (a, b), depth in zip(data.contact.geom, data.contact.dist, strict=True)
        if depth < 0
    )
    return StartPose(data, _lowest(model, data), touching)


def _follow(model: mujoco.MjModel, data: mujoco.MjData) -> None:
    """Put mimic joints where the joints that they follow put them."""
    for equality in range(model.neq):
        if model.eq_type[equality] == mujoco.mjtEq.mjEQ_JOINT:
            follower, leader = model.eq_obj1id[equality], model.eq_obj2id[equality]
            offset, factor = model.eq_data[equality][:2]
            position = data.qpos[model.jnt_qposadr[leader]]
            data.qpos[model.jnt_qposadr[follower]] = offset + factor * position


def _lowest(model: mujoco.MjModel, data: mujoco.MjData) -> dict[int, float]:
    """Return the lowest point of every body's shapes that collide."""
    found: dict[int, float] = {}
    for geom in np.flatnonzero(model.geom_contype | model.geom_conaffinity):
        body = int(model.geom_bodyid[geom])
        found[body] = min(found.get(body, np.inf), _lowest_point(model, data, int(geom)))
    return found


def _lowest_point(model: mujoco.MjModel, data: mujoco.MjData, geom: int) -> float:
    """Return the lowest height of a shape (m): its support in the direction of gravity."""
    kinds = mujoco.mjtGeom
    kind, size = model.geom_type[geom], model.geom_size[geom]
    down = data.geom_xmat[geom].reshape(3, 3)[2]
    height = float(data.geom_xpos[geom][2])
    if kind == kinds.mjGEOM_MESH:
        mesh = model.geom_dataid[geom]
        start, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
        return height + float((model.mesh_vert[start : start + count] @ down).min())
    if kind == kinds.mjGEOM_BOX:
        return height - float(np.abs(down) @ size)
    if kind == kinds.mjGEOM_CYLINDER:
        slope = np.sqrt(max(0.0, 1.0 - down[2] ** 2))
        return height - float(size[0] * slope + size[1] * abs(down[2]))
    if kind == kinds.mjGEOM_CAPSULE:
        return height - float(size[0] + size[1] * abs(down[2]))
    return height - float(size[0])


def exclude_contacts(spec: mujoco.MjSpec, pairs: Iterable[tuple[str, str]]) -> None:
    """Let pairs of bodies pass through each other."""
    known = {body.name for body in spec.bodies}
    for one, other in sorted({tuple(sorted(pair)) for pair in pairs}):
        if one != other and {one, other} <= known:
            spec.add_exclude(name=f'{one}-{other}', bodyname1=one, bodyname2=other)


def joined_to_base(robot: ElementTree.Element, root: str) -> set[tuple[str, str]]:
    """Return the pairs of a fixed base's links and what moves on them, which MuJoCo lets touch."""
    ends = [(joint.get('type'), *joint_ends(joint)) for joint in robot.findall('joint')]
    base = [root]
    for link in base:
        base += [child for kind, parent, child in ends if kind == 'fixed' and parent == link]
    first = [child for kind, parent, child in ends if kind != 'fixed' and parent in base]
    return {(link, child) for link in base for child in first}
