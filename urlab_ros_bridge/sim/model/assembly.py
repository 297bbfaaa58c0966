# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""From a world description to one compiled model."""

from __future__ import annotations

import logging
from pathlib import Path

import mujoco

from urlab_ros_bridge.sim.errors import WorldError
from urlab_ros_bridge.sim.model.keyframes import KeyframeMerger
from urlab_ros_bridge.sim.model.mjcf_import import compile_spec
from urlab_ros_bridge.sim.model.mjcf_import import copy_settings
from urlab_ros_bridge.sim.model.mjcf_import import FileParts
from urlab_ros_bridge.sim.model.mjcf_import import ModelFiles
from urlab_ros_bridge.sim.model.mjcf_import import OPERATOR
from urlab_ros_bridge.sim.model.mjcf_import import split_file
from urlab_ros_bridge.sim.model.mounting import check_rays
from urlab_ros_bridge.sim.model.mounting import mount_scanners
from urlab_ros_bridge.sim.model.naming import name_unnamed
from urlab_ros_bridge.sim.model.naming import names_with
from urlab_ros_bridge.sim.model.scenery import add_free_camera
from urlab_ros_bridge.sim.model.scenery import add_scenery
from urlab_ros_bridge.sim.model.sidecar.specs import ArticulationSpec
from urlab_ros_bridge.sim.model.sidecar.specs import WorldSpec
from urlab_ros_bridge.wire.names import prefix_problem
from urlab_ros_bridge.wire.names import valid_prefix

_LOG = logging.getLogger(__name__)
_EXPLICIT = (mujoco.mjtIntegrator.mjINT_EULER, mujoco.mjtIntegrator.mjINT_RK4)
# MuJoCo's warning where `_with_rest` reassembles a file; it is harmless.
EMPTY_PREFIX = 'Attaching a spec with an empty prefix'


def assemble(
    world: WorldSpec, files: ModelFiles = OPERATOR, *, adopt_integrator: bool = False
) -> tuple[mujoco.MjModel, mujoco.MjSpec]:
    """
    Attach every articulation of `world` to its scene and compile.

    Each robot is its own spec attached with ``{prefix}_``, so that compiled names are
    ``{prefix}_{local}``.  Without a scene the first robot's physics options hold.  The compiler's
    `settotalmass` of a robot holds only where the robot is the whole world.

    :param files: reads the files that the world names.
    :param adopt_integrator: whether a scene with an explicit integrator gets the implicit one of a
        robot, whose servos may be too stiff for it.
    :return: the model, and the spec that it was compiled from.
    :raises WorldError: when a file is missing or something does not compile.
    """
    check_rays(world.articulations, str(world.source))
    scene = files.model(world.scene) if world.scene else mujoco.MjSpec()
    if world.scene:
        name_unnamed(scene)
    keyframes = KeyframeMerger()
    keyframes.collect(scene)
    add_scenery(scene, world.objects, world.lights, files)
    alone = len(world.articulations) == 1 and world.scene is None and not world.objects
    for index, articulation in enumerate(world.articulations):
        robot = files.model(articulation.model)
        if index == 0 and world.scene is None:
            copy_settings(robot, scene)
        if adopt_integrator:
            _adopt_integrator(scene, robot, articulation.prefix)
        if robot.compiler.settotalmass > 0 and not alone:
            scene.compiler.settotalmass = -1
            _LOG.warning(
                '%s: settotalmass is ignored in a world of several models', articulation.model
            )
        check_free(scene, articulation.prefix, str(world.source))
        _attach(scene, robot, articulation, keyframes)
    if world.free_camera:
        add_free_camera(scene, world.free_camera)
    model = compile_spec(scene, f'world {str(world.source)!r}')
    return keyframes.merge_into(scene, model), scene


def _adopt_integrator(scene: mujoco.MjSpec, robot: mujoco.MjSpec, prefix: str) -> None:
    if scene.option.integrator in _EXPLICIT and robot.option.integrator not in _EXPLICIT:
        scene.option.integrator = robot.option.integrator
        _LOG.info('the scene gets the integrator of %s, for whose servos its own fails', prefix)


def assemble_file(
    path: Path, prefix: str | None
) -> tuple[mujoco.MjModel, mujoco.MjSpec, WorldSpec]:
    """
    Build a world from an MJCF file that has no sidecar.

    :param prefix: articulation prefix; default: the model's name, else the file's.
    :return: the model, the spec that it was compiled from, and the description that a sidecar
        would have given.
    """
    parts = split_file(path)
    keyframes = KeyframeMerger()
    if parts.robot is None:
        keyframes.collect(parts.whole)
        model = compile_spec(parts.scene, f'model file {str(path)!r}')
        model = keyframes.merge_into(parts.scene, model)
        return model, parts.scene, WorldSpec(path, (), {}, path)
    stem = _prefix_of(parts, path, prefix)
    articulation = ArticulationSpec(stem, path)
    keyframes.collect(parts.whole, f'{stem}_')
    for part in parts.scenery:
        for sensor in part.sensors:
            # Sensors of objects count as the robot's: entities have none on the wire.
            sensor.name = f'{stem}_{sensor.name}'
    scene = parts.scene
    _attach(scene, parts.robot, articulation, keyframes)
    if parts.after is not None:
        scene = _with_rest(scene, parts.after, path)
    model = compile_spec(scene, f'model file {str(path)!r}')
    model = keyframes.merge_into(scene, model)
    return model, scene, WorldSpec(path, (articulation,), {}, path)


def check_free(scene: mujoco.MjSpec, prefix: str, what: str) -> None:
    """
    Check that no name in the scene begins with the prefix of a robot.

    :raises WorldError: with these names.
    """
    names = names_with(scene, prefix)
    if names:
        raise WorldError(
            f'{what}: {", ".join(names[:5])} would count as part of the robot {prefix!r}; '
            'choose another prefix'
        )


def _prefix_of(parts: FileParts, path: Path, given: str | None) -> str:
    """Return the robot's prefix: the given one, else one from the model's or the file's name."""
    if given:
        problem = prefix_problem(given)
        if problem:
            raise WorldError(f'--prefix: {problem}')
        for part in parts.scenery:
            check_free(part, given, str(path))
        return given
    name = parts.whole.modelname
    prefix = valid_prefix(path.stem if name in ('', 'MuJoCo Model') else name)
    while any(names_with(part, prefix) for part in parts.scenery):
        prefix = f'robot_{prefix}'
    return prefix


def _with_rest(scene: mujoco.MjSpec, after: mujoco.MjSpec, path: Path) -> mujoco.MjSpec:
    """Return the scene with the bodies that follow the robot in the file."""
    try:
        scene.attach(after, prefix='', frame=scene.worldbody.add_frame())
    except (ValueError, RuntimeError) as error:
        raise WorldError(f'cannot reassemble {str(path)!r}: {error}') from error
    # MuJoCo warns of an empty prefix whenever the spec is compiled, but not its copy.
    return scene.copy()


def _attach(
    scene: mujoco.MjSpec,
    robot: mujoco.MjSpec,
    articulation: ArticulationSpec,
    keyframes: KeyframeMerger,
) -> None:
    prefix = f'{articulation.prefix}_'
    name_unnamed(robot)
    mount_scanners(robot, articulation)
    keyframes.collect(robot, prefix, articulation.pos, articulation.quat)
    frame = scene.worldbody.add_frame(pos=articulation.pos, quat=articulation.quat)
    try:
        scene.attach(robot, prefix=prefix, frame=frame)
    except (ValueError, RuntimeError) as error:
        raise WorldError(
            f'cannot attach {str(articulation.model)!r} as {articulation.prefix!r}: {error}'
        ) from error
