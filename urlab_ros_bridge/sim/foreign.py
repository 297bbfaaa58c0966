# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
MJCF files without a sidecar: which part is the robot, and which part is the world.

The robot is every top-level body with an actuator in its subtree (or, in a file without actuators,
every one with a joint that is not a lone free joint).  Other dynamic bodies are entities and keep
their names; the robot is attached with ``{prefix}_``.  A file with nothing but a robot in it is
attached whole.
"""

from __future__ import annotations

from collections.abc import Callable
import logging
from pathlib import Path

import mujoco

from urlab_ros_bridge.sim.errors import WorldError

_SIZES = (
    'memory',
    'njmax',
    'nconmax',
    'nuserdata',
    'nuser_body',
    'nuser_jnt',
    'nuser_geom',
    'nuser_site',
    'nuser_cam',
    'nuser_tendon',
    'nuser_actuator',
    'nuser_sensor',
)
_LOG = logging.getLogger(__name__)


def load_spec(path: Path) -> mujoco.MjSpec:
    """
    Parse an MJCF file.

    :raises WorldError: with MuJoCo's own message when that fails.
    """
    if not path.is_file():
        raise WorldError(f'model file {str(path)!r} does not exist')
    try:
        return mujoco.MjSpec.from_file(str(path))
    except (ValueError, RuntimeError) as error:
        raise WorldError(f'model file {str(path)!r} is no valid MJCF: {error}') from error


def compile_spec(spec: mujoco.MjSpec, what: str) -> mujoco.MjModel:
    """
    Compile a spec.

    :raises WorldError: with MuJoCo's own message when that fails.
    """
    try:
        return spec.compile()
    except (ValueError, RuntimeError) as error:
        raise WorldError(f'{what} does not compile: {error}') from error


def split_file(path: Path) -> tuple[mujoco.MjSpec, mujoco.MjSpec | None]:
    """
    Return (scene, robot) of an MJCF file; robot is None when nothing in it is articulated.

    Both are uncompiled specs.  When the robot cannot be cut out of its scene (a constraint or
    tendon joins them, say) the whole file counts as the robot.
    """
    whole = load_spec(path)
    model = compile_spec(whole.copy(), f'model file {str(path)!r}')
    robots = _robot_roots(model)
    if not robots:
        return whole, None
    others = _dynamic_roots(model) - robots
    if others:
        scene, robot = load_spec(path), load_spec(path)
        _keep(scene, lambda root: root not in robots)
        _keep(robot, lambda root: root in robots)
        _strip_world(robot)
        if _same_size(model, scene, robot):
            return scene, robot
        _LOG.warning('%s: the robot is joined to other bodies; the whole file is the robot', path)
    scene = mujoco.MjSpec()
    copy_settings(whole, scene)
    return scene, whole


def copy_settings(source: mujoco.MjSpec, target: mujoco.MjSpec) -> None:
    """Copy physics options, visual settings and sizes, which attaching leaves behind."""
    target.option = source.option
    target.visual = source.visual
    target.stat = source.stat
    for name in _SIZES:
        setattr(target, name, getattr(source, name))


def _dynamic_roots(model: mujoco.MjModel) -> set[int]:
    roots = {int(model.body_rootid[body]) for body in model.jnt_bodyid}
    return roots | {body for body in range(model.nbody) if model.body_mocapid[body] >= 0}


def _robot_roots(model: mujoco.MjModel) -> set[int]:
    """Return ids of the top-level bodies that actuators drive, or that have inner joints."""
    bodies: set[int] = set()
    for actuator in range(model.nu):
        bodies |= _driven_bodies(model, actuator)
    if not model.nu:
        free = int(mujoco.mjtJoint.mjJNT_FREE)
        bodies = {
            int(model.jnt_bodyid[joint])
            for joint in range(model.njnt)
            if model.jnt_type[joint] != free
        }
    return {int(model.body_rootid[body]) for body in bodies} - {0}


def _driven_bodies(model: mujoco.MjModel, actuator: int) -> set[int]:
    kind = mujoco.mjtTrn(model.actuator_trntype[actuator])
    target = int(model.actuator_trnid[actuator, 0])
    if kind in (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT):
        return {int(model.jnt_bodyid[target])}
    if kind in (mujoco.mjtTrn.mjTRN_SITE, mujoco.mjtTrn.mjTRN_SLIDERCRANK):
        return {int(model.site_bodyid[target])}
    if kind == mujoco.mjtTrn.mjTRN_BODY:
        return {target}
    if kind == mujoco.mjtTrn.mjTRN_TENDON:
        return _tendon_bodies(model, target)
    return set()


def _tendon_bodies(model: mujoco.MjModel, tendon: int) -> set[int]:
    bodies = set()
    start, count = model.tendon_adr[tendon], model.tendon_num[tendon]
    for wrap in range(start, start + count):
        kind, target = mujoco.mjtWrap(model.wrap_type[wrap]), int(model.wrap_objid[wrap])
        if kind == mujoco.mjtWrap.mjWRAP_JOINT:
            bodies.add(int(model.jnt_bodyid[target]))
        elif kind == mujoco.mjtWrap.mjWRAP_SITE:
            bodies.add(int(model.site_bodyid[target]))
    return bodies


def _keep(spec: mujoco.MjSpec, wanted: Callable[[int], bool]) -> None:
    """Delete top-level bodies whose compiled id is not wanted; ids run depth-first."""
    body_id = 1
    doomed = []
    for body in spec.worldbody.bodies:
        if not wanted(body_id):
            doomed.append(body)
        body_id += 1 + len(body.find_all(mujoco.mjtObj.mjOBJ_BODY))
    for key in list(spec.keys):
        spec.delete(key)
    for body in doomed:
        spec.delete(body)


def _strip_world(spec: mujoco.MjSpec) -> None:
    """Delete what stands directly in the world: it stays with the scene."""
    world = spec.worldbody
    for elements in (world.geoms, world.lights, world.cameras, world.sites):
        for element in list(elements):
            spec.delete(element)


def _same_size(model: mujoco.MjModel, scene: mujoco.MjSpec, robot: mujoco.MjSpec) -> bool:
    """Say whether the two parts together hold all degrees of freedom, actuators and sensors."""
    try:
        parts = [scene.copy().compile(), robot.copy().compile()]
    except (ValueError, RuntimeError):
        return False
    return all(
        sum(getattr(part, size) for part in parts) == getattr(model, size)
        for size in ('nq', 'nv', 'nu', 'na', 'neq', 'ntendon', 'nsensor')
    )
