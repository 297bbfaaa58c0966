# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The simulated world: the compiled model, its state, and the owners of its parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import mujoco
import numpy as np

from urlab_ros_bridge import models
from urlab_ros_bridge.geometry import xyzw_to_wxyz
from urlab_ros_bridge.geometry import yaw_quaternion
from urlab_ros_bridge.model import RobotModel
from urlab_ros_bridge.model import WorldModel
from urlab_ros_bridge.model.named_bodies import moving_scenery
from urlab_ros_bridge.model.named_bodies import named_bodies
from urlab_ros_bridge.model.named_bodies import NamedBody
from urlab_ros_bridge.robot_import import ImportOptions
from urlab_ros_bridge.robot_import import is_robot_description
from urlab_ros_bridge.robot_import.descriptions import import_world
from urlab_ros_bridge.robot_import.menagerie import robot_world
from urlab_ros_bridge.schema import hint
from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.errors import unknown
from urlab_ros_bridge.sim.errors import WorldError
from urlab_ros_bridge.sim.model.assembly import assemble
from urlab_ros_bridge.sim.model.assembly import assemble_file
from urlab_ros_bridge.sim.model.client_models import Sizes
from urlab_ros_bridge.sim.model.sidecar.sidecar import load_sidecar
from urlab_ros_bridge.sim.model.sidecar.specs import ArticulationSpec
from urlab_ros_bridge.sim.model.sidecar.specs import PoseSpec
from urlab_ros_bridge.sim.model.sidecar.specs import WorldSpec
from urlab_ros_bridge.wire.names import prefix_problem
from urlab_ros_bridge.wire.names import valid_prefix


@dataclass(frozen=True, slots=True)
class SpawnedModel:
    """
    Something that was spawned.

    :ivar robot: it is an articulation.
    :ivar spec: it alone, uncompiled; only copies of it are attached.
    :ivar place: of the origin of its file, in the world.
    :ivar sizes: of it alone, compiled.
    """

    name: str
    robot: bool
    spec: mujoco.MjSpec
    place: PoseSpec
    sizes: Sizes = field(default_factory=Sizes)


@dataclass(frozen=True, slots=True)
class WorldComposition:
    """
    A world that was changed while it ran.

    :ivar own: the remaining elements of its files, without keyframes; only copies are changed.
    """

    own: mujoco.MjSpec
    spawned: tuple[SpawnedModel, ...]


class World:
    """
    Model, data and index tables.

    Knows nothing of time or clients; callers that change `data` hold the engine's lock.

    :ivar source: the spec that `model` was compiled from.
    :ivar composition: its parts, when something was spawned or deleted while it was running.
    """

    def __init__(
        self,
        name: str,
        spec: WorldSpec,
        model: mujoco.MjModel,
        source: mujoco.MjSpec,
        composition: WorldComposition | None = None,
    ) -> None:
        self.name = name
        self.spec = spec
        self.model = model
        self.source = source
        self.composition = composition
        self.data = mujoco.MjData(model)
        self.tables = WorldModel(model, [robot.prefix for robot in spec.articulations])
        self.articulations = {
            robot.prefix: RobotModel(robot.prefix, self.tables, actor_id=robot.actor_id)
            for robot in spec.articulations
        }
        self.entities = moving_scenery(self.tables)
        self.restore_start()
        mujoco.mj_forward(model, self.data)

    @cached_property
    def named_bodies(self) -> dict[str, NamedBody]:
        """Return the entities of the world, by name."""
        return named_bodies(self.tables, self.articulations.values())

    @property
    def spawned(self) -> set[str]:
        """Return the names of the spawned models."""
        return (
            {item.name for item in self.composition.spawned}
            if self.composition is not None
            else set()
        )

    def articulation(self, prefix: object) -> RobotModel:
        """
        Return an articulation by prefix, else by actor id.

        :raises OpError: unknown_articulation, listing the prefixes.
        """
        found = self.articulations.get(prefix) if isinstance(prefix, str) else None
        if found is None:
            for candidate in self.articulations.values():
                if candidate.actor_id == prefix:
                    return candidate
            raise unknown('unknown_articulation', 'articulation', prefix, self.articulations)
        return found

    def body_id(self, name: str) -> int:
        """
        Return a body's id by its compiled name.

        :raises OpError: unknown_body, listing the bodies.
        """
        body = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_BODY, name)
        if body < 0:
            names = (each.compiled for each in self.tables.bodies)
            raise unknown('unknown_body', 'body', name, names)
        return body

    def keyframe_id(self, name: str) -> int:
        """
        Return a keyframe's id by its compiled name, else by ``{prefix}_{name}`` of any robot.

        :raises OpError: unknown_keyframe, listing the keyframes.
        """
        for candidate in (name, *(f'{prefix}_{name}' for prefix in self.articulations)):
            key = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_KEY, candidate)
            if key >= 0:
                return key
        names = (each.compiled for each in self.tables.keyframes)
        raise unknown('unknown_keyframe', 'keyframe', name, names)

    @property
    def keyframe_names(self) -> list[str]:
        """Return the names of keyframes as their own files have them, without prefix."""
        names = dict.fromkeys(each.name for each in self.tables.keyframes)
        return [name for name in names if name]

    def restore_start(self) -> None:
        """
        Put `data` into the state that the world starts in, at time 0; the caller derives the rest.

        It is that of mj_resetData, except for scene and robots that have the world's
        `start_keyframe`.
        """
        self._write_start(self.data)

    def start_qpos(self) -> np.ndarray | None:
        """Return the qpos that the world starts in, None where that is qpos0."""
        if not self.spec.has_start:
            return None
        data = mujoco.MjData(self.model)
        self._write_start(data)
        return np.array(data.qpos)

    def _write_start(self, data: mujoco.MjData) -> None:
        model = self.model
        key = self._key(self.spec.start_keyframe)
        if key is None:
            mujoco.mj_resetData(model, data)
        else:
            mujoco.mj_resetDataKeyframe(model, data, key)
            data.time = 0.0
        for prefix, robot in self.articulations.items():
            key = self._start_key(prefix)
            if key is not None:
                source = (getattr(model, f'key_{name}')[key] for name in _STATE)
                _copy_robot(robot, dict(zip(_STATE, source, strict=True)), data)

    def write_robot(self, robot: RobotModel, key: int | None) -> None:
        """Put one robot into a keyframe, or the state that it starts in; the rest stays."""
        if key is None:
            start = mujoco.MjData(self.model)
            self._write_start(start)
            source = {name: getattr(start, name) for name in _STATE}
        else:
            source = {name: getattr(self.model, f'key_{name}')[key] for name in _STATE}
        _copy_robot(robot, source, self.data)

    def start_ctrl(self, prefix: str) -> np.ndarray | None:
        """Return `ctrl` (shape (nu,)) of the keyframe that a robot starts in, None without one."""
        key = self._start_key(prefix)
        return None if key is None else self.model.key_ctrl[key]

    def _start_key(self, prefix: str) -> int | None:
        name = self.spec.start_keyframes.get(prefix, self.spec.start_keyframe)
        return self._key(f'{prefix}_{name}') if name else None

    def _key(self, name: str) -> int | None:
        key = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_KEY, name) if name else -1
        return key if key >= 0 else None

    def compiled_model(self) -> bytes:
        """Return the model as MuJoCo binary (what the handshake ships as `mjb`)."""
        buffer = np.empty(mujoco.mj_sizeModel(self.model), np.uint8)
        mujoco.mj_saveModel(self.model, None, buffer)
        return buffer.tobytes()


# Parts of a state, in keyframes and in MjData.
_STATE = ('qpos', 'qvel', 'ctrl', 'act')


def _copy_robot(
    robot: RobotModel,
    source: Mapping[str, np.ndarray],
    data: mujoco.MjData,
) -> None:
    """Copy one robot's part of a state (qpos, qvel, ctrl, act of the whole model)."""
    data.qpos[robot.qpos] = source['qpos'][robot.qpos]
    data.qvel[robot.qvel] = source['qvel'][robot.qvel]
    data.qacc_warmstart[robot.qvel] = 0.0
    data.ctrl[robot.ctrl] = source['ctrl'][robot.ctrl]
    for actuator in robot.actuators.values():
        slots = actuator.activation_slots
        data.act[slots] = source['act'][slots]


def load_world(config: ServerConfig) -> World:
    """
    Build the world that the configuration names.

    :raises UnknownWorld: when a bundled world does not exist.
    :raises WorldError: when a file is missing or does not compile.
    :raises SidecarError: when the YAML is wrong.
    :raises RobotImportError: when a robot description cannot be imported.
    """
    if config.robot:
        path = robot_world(config.robot)
    else:
        path = Path(config.model) if config.model else models.world_path(config.world)
    described = _described(path, config.importing)
    if config.scene is not None:
        name, described = config.scene.stem, _in_scene(described, path, config, config.scene)
    else:
        name, described = path.stem, described and _renamed(described, config)
    if described is not None:
        made = assemble(described, adopt_integrator=config.scene is not None)
        world = World(name, described, *made)
        _check_start(world)
        return world
    model, source, spec = assemble_file(path, config.prefix)
    return World(path.stem, _renamed(spec, config), model, source)


def _described(path: Path, options: ImportOptions) -> WorldSpec | None:
    """Return the world of a sidecar or description, None for an MJCF file without a sidecar."""
    if is_robot_description(path):
        path = import_world(path, options)
    sidecar = path if path.suffix in ('.yaml', '.yml') else path.with_suffix('.yaml')
    return load_sidecar(sidecar) if sidecar.is_file() else None


def _in_scene(
    robots: WorldSpec | None, path: Path, config: ServerConfig, scene: Path
) -> WorldSpec:
    """
    Return the world of a scene with robots put into it.

    :param robots: what `path` describes; None for an MJCF file, which is one robot.
    """
    if robots is None:
        prefix = config.prefix or valid_prefix(path.stem)
        robots = WorldSpec(None, (ArticulationSpec(prefix, path),), {}, path)
    if not robots.articulations:
        raise WorldError(f'{path}: there is no robot in it that could be put into {scene}')
    first, *others = _renamed(robots, config).articulations
    if config.pose is not None:
        x, y, z, yaw = config.pose
        quat = xyzw_to_wxyz(yaw_quaternion(yaw))
        first = replace(first, pose=PoseSpec((x, y, z + first.pose.pos[2]), quat))
    placed = (first, *others)
    world = _described(scene, config.importing) or WorldSpec(scene, (), {}, scene)
    for robot in placed:
        names = [other.prefix for other in world.articulations]
        if problem := prefix_problem(robot.prefix, names):
            raise WorldError(f'--prefix: {problem}')
    starts = {robot.prefix: robots.start_keyframe for robot in placed if robots.start_keyframe}
    return replace(
        world,
        articulations=(*world.articulations, *placed),
        start_keyframes={**world.start_keyframes, **robots.start_keyframes, **starts},
    )


def _check_start(world: World) -> None:
    name, names = world.spec.start_keyframe, world.keyframe_names
    if name and name not in names:
        raise WorldError(
            f'{world.spec.source}: start_keyframe: {name!r} is unknown; '
            f'{hint(name, names) if names else "there are no keyframes"}'
        )


def _renamed(spec: WorldSpec, config: ServerConfig) -> WorldSpec:
    """
    Apply --prefix and --actor-id to the first articulation.

    An actor id that is only the prefix once more follows the prefix.
    """
    if not spec.articulations or not (config.prefix or config.actor_id):
        return spec
    first, *others = spec.articulations
    prefix = config.prefix or first.prefix
    actor_id = config.actor_id or (prefix if first.actor_id == first.prefix else first.actor_id)
    problem = prefix_problem(prefix, [other.prefix for other in others])
    if problem:
        raise WorldError(f'--prefix: {problem}')
    if any(actor_id in (other.actor_id, other.prefix) for other in others):
        raise WorldError(f'--actor-id: {actor_id!r} belongs to another articulation')
    renamed = replace(first, prefix=prefix, actor_id=actor_id)
    return replace(spec, articulations=(renamed, *others))
