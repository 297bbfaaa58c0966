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
from dataclasses import dataclass
import logging
import os
from pathlib import Path
import warnings

import mujoco

from urlab_ros_bridge.sim.errors import WorldError
from urlab_ros_bridge.sim.naming import name_unnamed

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
        spec = mujoco.MjSpec.from_file(str(path))
    except (ValueError, RuntimeError) as error:
        raise WorldError(f'model file {str(path)!r} is no valid MJCF: {error}') from error
    _pin_sides(spec)
    return spec


def _pin_sides(spec: mujoco.MjSpec) -> None:
    """
    Make the file names of six-sided textures absolute.

    A compiled model tells where every other file is; for these only the folder of the file that
    names them does, and attaching forgets it.
    """
    folder = Path(spec.modelfiledir, spec.texturedir)
    for texture in spec.textures:
        for side, name in enumerate(texture.cubefiles):
            if name:
                plain = Path(name).name if spec.strippath else name
                texture.cubefiles[side] = os.path.abspath(folder / plain)


def compile_spec(spec: mujoco.MjSpec, what: str, level: int = logging.WARNING) -> mujoco.MjModel:
    """
    Compile a spec.

    :param what: names it in messages.
    :param level: at which the compiler's warnings are logged.
    :raises WorldError: with MuJoCo's own message when that fails.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        try:
            model = spec.compile()
        except (ValueError, RuntimeError) as error:
            raise WorldError(f'{what} does not compile: {error}') from error
    for warning in caught:
        _LOG.log(level, '%s: %s', what, ' '.join(str(warning.message).split()))
    return model


@dataclass(frozen=True)
class Parts:
    """
    An MJCF file taken apart; both specs are uncompiled and without keyframes.

    :ivar robot: None when nothing in the file is articulated.
    :ivar whole: the file as it was, named throughout; the source of its keyframes.
    """

    scene: mujoco.MjSpec
    robot: mujoco.MjSpec | None
    whole: mujoco.MjSpec


def split_file(path: Path) -> Parts:
    """
    Take an MJCF file apart into scene and robot.

    When the robot cannot be cut out of its scene (a constraint or tendon joins them, say) the
    whole file counts as the robot.
    """
    whole = _load_named(path)
    model = compile_spec(whole.copy(), f'model file {str(path)!r}', logging.DEBUG)
    robots = _robot_roots(model)
    if not robots:
        return Parts(_without_keys(_load_named(path)), None, whole)
    if _dynamic_roots(model) - robots:
        scene, robot = (_without_keys(_load_named(path)) for _ in range(2))
        _keep(scene, lambda root: root not in robots)
        _keep(robot, lambda root: root in robots)
        _strip_world(robot)
        if _same_size(model, scene, robot):
            for part in (scene, robot):
                _prune_assets(part)
            return Parts(scene, robot, whole)
        _LOG.info('%s: the robot is joined to other bodies; the whole file is the robot', path)
    scene = mujoco.MjSpec()
    copy_settings(whole, scene)
    return Parts(scene, _without_keys(_load_named(path)), whole)


def _load_named(path: Path) -> mujoco.MjSpec:
    spec = load_spec(path)
    # Named before it is cut, so that a default name means the same element in every part.
    name_unnamed(spec)
    return spec


def _without_keys(spec: mujoco.MjSpec) -> mujoco.MjSpec:
    for key in list(spec.keys):
        spec.delete(key)
    spec.nkey = 0
    return spec


def copy_settings(source: mujoco.MjSpec, target: mujoco.MjSpec) -> None:
    """
    Copy what attaching leaves behind: options, visual settings, sizes, the mass of the whole.

    The last is the compiler's `settotalmass`, which holds for a whole model.
    """
    target.compiler.settotalmass = source.compiler.settotalmass
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
    for body in doomed:
        spec.delete(body)


def _strip_world(spec: mujoco.MjSpec) -> None:
    """Delete what stands directly in the world: it stays with the scene."""
    world = spec.worldbody
    for elements in (world.geoms, world.lights, world.cameras, world.sites):
        for element in list(elements):
            spec.delete(element)


def _prune_assets(spec: mujoco.MjSpec) -> None:
    """Delete meshes, height fields, materials and textures that only the other part uses."""
    drawn = [*spec.geoms, *spec.sites, *spec.tendons, *spec.skins]
    used = {
        'meshes': {geom.meshname for geom in spec.geoms},
        'hfields': {geom.hfieldname for geom in spec.geoms},
        'materials': {element.material for element in drawn},
    }
    for kind, names in used.items():
        for asset in list(getattr(spec, kind)):
            if asset.name not in names:
                spec.delete(asset)
    textures = {name for material in spec.materials for name in material.textures}
    for texture in list(spec.textures):
        # A skybox belongs to no material.
        if texture.name not in textures and texture.type != mujoco.mjtTexture.mjTEXTURE_SKYBOX:
            spec.delete(texture)


def _same_size(model: mujoco.MjModel, scene: mujoco.MjSpec, robot: mujoco.MjSpec) -> bool:
    """Say whether the two parts together hold all degrees of freedom, actuators and sensors."""
    try:
        parts = [compile_spec(part.copy(), 'a part', logging.DEBUG) for part in (scene, robot)]
    except WorldError:
        return False
    return all(
        sum(getattr(part, size) for part in parts) == getattr(model, size)
        for size in ('nq', 'nv', 'nu', 'na', 'neq', 'ntendon', 'nsensor')
    )
