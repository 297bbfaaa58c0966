# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
MJCF files without a sidecar, split into robot and scene.

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
from typing import TypeVar
import warnings
import xml.etree.ElementTree as ElementTree

import mujoco

from urlab_ros_bridge.schema import Place
from urlab_ros_bridge.sim.errors import WorldError
from urlab_ros_bridge.sim.model.naming import name_unnamed

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
# Elements that may belong to a class of defaults.
_WITH_CLASS = (
    'bodies', 'joints', 'geoms', 'sites', 'cameras', 'lights', 'materials', 'meshes',
    'actuators', 'tendons', 'equalities', 'pairs', 'flexes',
)  # fmt: skip
MIN_TIMESTEP, MAX_TIMESTEP = 1e-9, 100.0  # s; stamps count nanoseconds
Compiled = TypeVar('Compiled')
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
        raise WorldError(f'model file {str(path)!r} is not valid MJCF: {error}') from error
    _pin_sides(spec)
    return spec


class ModelFiles:
    """Reads the files that a world is made of: these are the operator's, and read as they are."""

    def model(self, path: Path) -> mujoco.MjSpec:
        """
        Return the uncompiled model of a file.

        :raises WorldError: with MuJoCo's own message when that fails.
        """
        return load_spec(path)

    def mesh(self, path: Path) -> Path:
        """Return the file that MuJoCo shall read for a mesh file."""
        return path

    def check_sidecar(self, top: Place) -> None:
        """
        Make sure that all files which a sidecar names may be read.

        :raises WorldError: naming the one that must not.
        """

    def work(self, compile_all: Callable[[], Compiled]) -> Compiled:
        """Run a compilation of these files, which may take long, and return its result."""
        return compile_all()


OPERATOR = ModelFiles()


def _pin_sides(spec: mujoco.MjSpec) -> None:
    """
    Make the file names of six-sided textures absolute.

    A compiled model records where every other file is; for these only the folder of the file that
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
    timestep = model.opt.timestep
    if not MIN_TIMESTEP <= timestep <= MAX_TIMESTEP:  # NaN compares false
        raise WorldError(
            f'{what}: timestep {timestep:g} s is not from {MIN_TIMESTEP:g} to {MAX_TIMESTEP:g} s'
        )
    for warning in caught:
        _LOG.log(level, '%s: %s', what, ' '.join(str(warning.message).split()))
    return model


@dataclass(frozen=True)
class FileParts:
    """
    The parts of an MJCF file; the specs are uncompiled and without keyframes.

    :ivar robot: None when nothing in the file is articulated.
    :ivar after: bodies of the scene that come after the robot in the file, None without any that
        move.  They are attached after the robot, so that qpos has the order of the file.
    :ivar whole: the file as it was, named throughout; the source of its keyframes.
    """

    scene: mujoco.MjSpec
    robot: mujoco.MjSpec | None
    whole: mujoco.MjSpec
    after: mujoco.MjSpec | None = None

    @property
    def scenery(self) -> tuple[mujoco.MjSpec, ...]:
        """The parts other than the robot."""
        return (self.scene,) if self.after is None else (self.scene, self.after)


def split_file(path: Path, files: ModelFiles = OPERATOR) -> FileParts:
    """
    Split an MJCF file into scene and robot.

    When the robot cannot be cut out of its scene (a constraint or tendon joins them, say) the
    whole file counts as the robot.
    """
    whole = _load_named(path, files)
    model = compile_spec(whole.copy(), f'model file {str(path)!r}', logging.DEBUG)
    robots = _robot_roots(model)
    if not robots:
        return FileParts(without_keys(_load_named(path, files)), None, whole)
    others = _dynamic_roots(model) - robots
    if others:
        follow = any(root > min(robots) for root in others)
        parts = _split(path, whole, model, robots, files, in_order=True) if follow else None
        if parts is None:
            parts = _split(path, whole, model, robots, files, in_order=False)
            if parts is not None and follow:
                _LOG.warning(
                    '%s: in qpos the robot comes after all other bodies, unlike in the file', path
                )
        if parts is not None:
            return parts
        _LOG.info(
            '%s: the robot is connected to other bodies, so the whole file is the robot', path
        )
    scene = mujoco.MjSpec()
    copy_settings(whole, scene)
    return FileParts(scene, without_keys(_load_named(path, files)), whole)


def _split(
    path: Path,
    whole: mujoco.MjSpec,
    model: mujoco.MjModel,
    robots: set[int],
    files: ModelFiles,
    *,
    in_order: bool,
) -> FileParts | None:
    """
    Split a file into scene and robot; None when that fails.

    :param in_order: the bodies after the robot are a part of their own; else they belong to the
        scene, and come before the robot in qpos.
    """
    parts = [without_keys(_load_named(path, files)) for _ in range(3 if in_order else 2)]
    scene, robot, *rest = parts
    first = min(robots)
    _keep_bodies(scene, lambda root: root not in robots and (root < first or not in_order))
    _keep_bodies(robot, lambda root: root in robots)
    for after in rest:
        _keep_bodies(after, lambda root: root not in robots and root > first)
    for part in (robot, *rest):
        strip_world(part)
    if not _same_size(model, *parts):
        return None
    # A copy has no sensors and the like whose objects were deleted.
    rest = [after.copy() for after in rest]
    for part in (scene, robot, *rest):
        _prune_assets(part)
    for after in rest:
        _merge_assets(after, scene, _classes(whole))
    return FileParts(scene, robot, whole, *rest)


def _classes(spec: mujoco.MjSpec) -> list[str]:
    """Return the names of all classes of defaults but the outermost."""
    copy = spec.copy()
    compile_spec(copy, 'a file', logging.DEBUG)
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        root = ElementTree.fromstring(copy.to_xml())
    return [child.get('class', '') for child in root.findall('default//default')]


def _merge_assets(part: mujoco.MjSpec, scene: mujoco.MjSpec, classes: list[str]) -> None:
    """
    Prepare a part of a file to be attached, without a prefix, to another part of the file.

    Assets of both are deleted here; their names then refer to the scene's.  Elements already have
    the values of their defaults, so the classes can go.
    """
    for kind in ('materials', 'textures', 'meshes', 'hfields', 'numerics', 'texts', 'tuples'):
        names = {element.name for element in getattr(scene, kind)}
        for element in list(getattr(part, kind)):
            if element.name in names:
                part.delete(element)
    for kind in _WITH_CLASS:
        for element in getattr(part, kind):
            element.classname = part.default
    for name in classes:
        found = part.find_default(name)
        if found is not None:
            part.delete(found)


def _load_named(path: Path, files: ModelFiles) -> mujoco.MjSpec:
    spec = files.model(path)
    # Named before it is cut, so that a default name means the same element in every part.
    name_unnamed(spec)
    return spec


def without_keys(spec: mujoco.MjSpec) -> mujoco.MjSpec:
    """Delete the keyframes of a spec, and return it."""
    for key in list(spec.keys):
        spec.delete(key)
    spec.nkey = 0
    return spec


def copy_settings(source: mujoco.MjSpec, target: mujoco.MjSpec) -> None:
    """
    Copy what attaching omits: options, visual settings, sizes, the total mass.

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


def _keep_bodies(spec: mujoco.MjSpec, wanted: Callable[[int], bool]) -> None:
    """Delete top-level bodies whose compiled id is not wanted; ids run depth-first."""
    body_id = 1
    doomed = []
    for body in spec.worldbody.bodies:
        if not wanted(body_id):
            doomed.append(body)
        body_id += 1 + len(body.find_all(mujoco.mjtObj.mjOBJ_BODY))
    for body in doomed:
        spec.delete(body)


def strip_world(spec: mujoco.MjSpec) -> int:
    """Delete what is attached to the world body (a floor, lights); return how many those were."""
    world = spec.worldbody
    extra = [*world.geoms, *world.lights, *world.cameras, *world.sites]
    for element in extra:
        spec.delete(element)
    return len(extra)


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


def _same_size(model: mujoco.MjModel, *specs: mujoco.MjSpec) -> bool:
    """Return whether the parts together hold all degrees of freedom, actuators and sensors."""
    try:
        parts = [compile_spec(part.copy(), 'a part', logging.DEBUG) for part in specs]
    except WorldError:
        return False
    return all(
        sum(getattr(part, size) for part in parts) == getattr(model, size)
        for size in ('nq', 'nv', 'nu', 'na', 'neq', 'ntendon', 'nsensor')
    )
