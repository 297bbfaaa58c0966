# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Builds a world with an entity added or removed, while the previous one keeps running.

The world before is only read.  What is spawned is attached to a new copy of the world's own spec
at each change: copies of copies would grow.  What both worlds have keeps its order, so spawning
moves no number of the model, and deleting closes the gap.
"""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import replace
import logging
from pathlib import Path
import uuid

import mujoco

from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.errors import WorldError
from urlab_ros_bridge.sim.model.client_models import check_total
from urlab_ros_bridge.sim.model.client_models import import_failed
from urlab_ros_bridge.sim.model.keyframes import KeyframeMerger
from urlab_ros_bridge.sim.model.mjcf_import import compile_spec
from urlab_ros_bridge.sim.model.mjcf_import import strip_world
from urlab_ros_bridge.sim.model.mjcf_import import without_keys
from urlab_ros_bridge.sim.model.mounting import mount_scanners
from urlab_ros_bridge.sim.model.naming import name_unnamed
from urlab_ros_bridge.sim.model.sidecar.specs import ArticulationSpec
from urlab_ros_bridge.sim.model.sidecar.specs import PoseSpec
from urlab_ros_bridge.sim.model.sidecar.specs import WorldSpec
from urlab_ros_bridge.sim.model.world import SpawnedModel
from urlab_ros_bridge.sim.model.world import World
from urlab_ros_bridge.sim.model.world import WorldComposition
from urlab_ros_bridge.sim.ops.entities.carried_state import add_keyframes
from urlab_ros_bridge.sim.ops.entities.carried_state import common
from urlab_ros_bridge.sim.ops.entities.carried_state import mark
from urlab_ros_bridge.sim.ops.entities.carried_state import marks
from urlab_ros_bridge.sim.ops.entities.carried_state import Same
from urlab_ros_bridge.sim.ops.entities.source import SpawnSource

# Lists of a spec whose elements carry the name of what brought them.
_NAMED = (
    'sensors',
    'actuators',
    'equalities',
    'pairs',
    'excludes',
    'tendons',
    'skins',
    'flexes',
    'tuples',
    'texts',
    'numerics',
    'sites',
    'cameras',
    'lights',
    'geoms',
    'materials',
    'textures',
    'meshes',
    'hfields',
)
_BODY_KINDS = (mujoco.mjtObj.mjOBJ_BODY, mujoco.mjtObj.mjOBJ_XBODY)
_LOG = logging.getLogger(__name__)


def strip(spec: mujoco.MjSpec, name: str) -> None:
    """Leave out what is directly in the model's own world: a floor for viewing it, lights."""
    count = strip_world(spec)
    if count:
        _LOG.info('%s: %d parts of its own world (floor, lights) are left out', name, count)


def attach_spawned(spec: mujoco.MjSpec, item: SpawnedModel) -> None:
    """
    Put something into the world of a spec.

    :raises ValueError: with MuJoCo's own message when it cannot be attached.
    """
    child, world = item.spec.copy(), spec.worldbody
    if item.robot:
        frame = world.add_frame(pos=item.place.pos, quat=item.place.quat)
        spec.attach(child, prefix=f'{item.name}_', frame=frame)
        return
    prefix = f'{item.name}.'
    if not child.worldbody.bodies:
        body = world.add_body(name=item.name, pos=item.place.pos, quat=item.place.quat)
        spec.attach(child, prefix=prefix, frame=body.add_frame())
        return
    root = child.worldbody.bodies[0].name
    frame = world.add_frame(pos=item.place.pos, quat=item.place.quat)
    spec.attach(child, prefix=prefix, frame=frame)
    _rename_body(spec, prefix + root, item.name)


def _rename_body(spec: mujoco.MjSpec, old: str, new: str) -> None:
    """Rename a body and whatever refers to it."""
    spec.body(old).name = new
    for sensor in spec.sensors:
        if sensor.objtype in _BODY_KINDS and sensor.objname == old:
            sensor.objname = new
        if sensor.reftype in _BODY_KINDS and sensor.refname == old:
            sensor.refname = new
    for holders, fields in (
        (spec.excludes, ('bodyname1', 'bodyname2')),
        (spec.equalities, ('name1', 'name2')),
        ((*spec.cameras, *spec.lights), ('targetbody',)),
    ):
        for holder in holders:
            for field in fields:
                if getattr(holder, field) == old:
                    setattr(holder, field, new)


def delete_named(spec: mujoco.MjSpec, start: str) -> None:
    """Delete what is left of something whose bodies were deleted: assets, sensors and so on."""
    for elements in _NAMED:
        for element in list(getattr(spec, elements)):
            if element.name.startswith(start):
                spec.delete(element)


ARTICULATION, ENTITY = 'articulation', 'entity'
_OWN = 'world'  # owner of the marks of what the world's own files brought


@dataclass(frozen=True, slots=True)
class ChangedWorld:
    """
    A world that takes the place of another.

    :ivar same: which of its elements are which of the world before.
    """

    world: World
    same: Same


def kind_of(source: SpawnSource) -> str:
    """
    Return the kind of a model for a request that does not name it.

    An entity has one root, free or welded, and neither actuators nor further joints.
    """
    spec, free = source.spec, mujoco.mjtJoint.mjJNT_FREE
    alone = len(spec.worldbody.bodies) <= 1 and not len(spec.actuators)
    if source.settings is None and alone and all(joint.type == free for joint in spec.joints):
        return ENTITY
    return ARTICULATION


def check_source(source: SpawnSource, kind: str) -> None:
    """
    See that a model can be of this kind.

    :raises OpError: import_failed, bad_value.
    """
    roots, controls = len(source.spec.worldbody.bodies), source.sizes['nu']
    if kind == ARTICULATION and not roots:
        raise OpError('bad_value', 'kind: the model has no body, so it is not an articulation')
    if kind == ENTITY and (roots > 1 or controls):
        what = f'{roots} roots' if roots > 1 else 'actuators'
        raise OpError('bad_value', f'kind: the model has {what}, so it is not an entity')
    if not roots and not source.sizes['ngeom']:
        raise OpError('import_failed', 'the model is empty')


def with_robot(world: World, name: str, source: SpawnSource, place: PoseSpec) -> ChangedWorld:
    """
    Return the world with one more articulation.

    :raises OpError: import_failed.
    """
    keyframes, robot = KeyframeMerger(), source.spec
    strip(robot, name)
    name_unnamed(robot)
    try:
        if source.settings is not None:
            mount_scanners(robot, source.settings)
        keyframes.collect(robot, f'{name}_', place.pos, place.quat)
    except WorldError as error:
        raise import_failed(error) from error
    if source.settings is not None:
        made = replace(source.settings, prefix=name, actor_id=name, pose=place)
    else:
        made = ArticulationSpec(name, Path(name), pose=place)
    robots = (*world.spec.articulations, made)
    starts = dict(world.spec.start_keyframes)
    if source.start_keyframe:
        starts[name] = source.start_keyframe
    spawned = _spawned(name, source, place, robot=True)
    description = replace(world.spec, articulations=robots, start_keyframes=starts)
    return _added(world, spawned, description, keyframes)


def with_entity(world: World, name: str, source: SpawnSource, place: PoseSpec) -> ChangedWorld:
    """
    Return the world with one more entity, whose root body has the name.

    :raises OpError: import_failed.
    """
    thing = without_keys(source.spec)
    if thing.worldbody.bodies:
        strip(thing, name)
        name_unnamed(thing)
    spawned = _spawned(name, source, place, robot=False)
    return _added(world, spawned, world.spec, KeyframeMerger())


def without_robot(world: World, prefix: str) -> ChangedWorld:
    """
    Return the world without an articulation.

    :raises OpError: destroy_failed.
    """
    start = f'{prefix}_'
    others = tuple(item for item in world.spec.articulations if item.prefix != prefix)
    starts = {name: key for name, key in world.spec.start_keyframes.items() if name != prefix}
    description = replace(world.spec, articulations=others, start_keyframes=starts)
    return _removed(world, prefix, start, description, start)


def without_body(world: World, name: str) -> ChangedWorld:
    """
    Return the world without a body whose parent is the world.

    :raises OpError: destroy_failed.
    """
    objects = tuple(item for item in world.spec.objects if item.name != name)
    return _removed(world, name, f'{name}.', replace(world.spec, objects=objects), '')


def _spawned(name: str, source: SpawnSource, place: PoseSpec, robot: bool) -> SpawnedModel:
    mark(source.spec, uuid.uuid4().hex[:12])
    return SpawnedModel(name, robot, source.spec, place, source.sizes)


def _composition_of(world: World) -> WorldComposition:
    """
    Return what a world consists of.

    :raises OpError: not_ready.
    """
    if world.composition is not None:
        return world.composition
    if world.source.compiler.settotalmass > 0:
        raise OpError(
            'not_ready', 'the world cannot change: its file sets the total mass (settotalmass)'
        )
    own = without_keys(world.source.copy())
    mark(own, _OWN)
    return WorldComposition(own, ())


def _added(
    world: World, item: SpawnedModel, description: WorldSpec, keyframes: KeyframeMerger
) -> ChangedWorld:
    composition = _composition_of(world)
    check_total(sum((other.sizes for other in composition.spawned), start=item.sizes))
    made = replace(composition, spawned=(*composition.spawned, item))
    return _finished(world, made, description, keyframes, '')


def _removed(
    world: World, name: str, start: str, description: WorldSpec, keys: str
) -> ChangedWorld:
    """Return the world without what has a name, or names that begin with `start`."""
    composition = _composition_of(world)
    others = tuple(item for item in composition.spawned if item.name != name)
    if len(others) < len(composition.spawned):
        made = replace(composition, spawned=others)
    else:
        own = composition.own.copy()
        for body in own.worldbody.bodies:
            if body.name == name or (keys and body.name.startswith(start)):
                own.delete(body)
        delete_named(own, start)
        made = replace(composition, own=own)
    try:
        return _finished(world, made, description, KeyframeMerger(), keys)
    except OpError as error:
        raise OpError('destroy_failed', f'{name}: something depends on it: {error}') from error


def _finished(
    world: World,
    composition: WorldComposition,
    description: WorldSpec,
    keyframes: KeyframeMerger,
    dropped: str,
) -> ChangedWorld:
    """Compile, and add the keyframes of the world before and those of `keyframes`."""
    spec = composition.own.copy()
    try:
        for item in composition.spawned:
            attach_spawned(spec, item)
        model = spec.compile()
        before = marks(world.source, '' if world.composition is not None else _OWN)
        same = common(before, marks(spec))
        if add_keyframes(world.model, spec, model, same, dropped):
            model = compile_spec(spec, 'the changed world', logging.DEBUG)
        model = keyframes.merge_into(spec, model)
        cameras = {model.camera(index).name for index in range(model.ncam)}
        kept = {name: item for name, item in description.global_cameras.items() if name in cameras}
        description = replace(description, global_cameras=kept)
        return ChangedWorld(World(world.name, description, model, spec, composition), same)
    except (ValueError, RuntimeError, MemoryError, WorldError) as error:
        raise import_failed(error) from error
