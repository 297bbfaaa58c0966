# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
A world with one thing more or less than another: made beside it, while that one goes on.

The world before is only read.  What both have keeps its order, so spawning moves no number of the
model, and deleting closes the gap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
import logging
from pathlib import Path
from typing import Any

import mujoco

from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.errors import WorldError
from urlab_ros_bridge.sim.foreign import compile_spec
from urlab_ros_bridge.sim.keyframes import KeyframeBook
from urlab_ros_bridge.sim.naming import name_unnamed
from urlab_ros_bridge.sim.spawn_keys import add_keyframes
from urlab_ros_bridge.sim.spawn_source import import_failed
from urlab_ros_bridge.sim.spawn_source import Source
from urlab_ros_bridge.sim.spawn_tags import mark
from urlab_ros_bridge.sim.spawn_tags import Same
from urlab_ros_bridge.sim.spawn_tags import survivors
from urlab_ros_bridge.sim.specs import ArticulationSpec
from urlab_ros_bridge.sim.specs import WorldSpec
from urlab_ros_bridge.sim.world import World

ARTICULATION, ENTITY = 'articulation', 'entity'
# Lists of a spec whose elements carry the name of what brought them.
_NAMED = (
    'sensors', 'actuators', 'equalities', 'pairs', 'excludes', 'tendons', 'skins', 'flexes',
    'tuples', 'texts', 'numerics', 'sites', 'cameras', 'lights', 'geoms', 'materials', 'textures',
    'meshes', 'hfields',
)  # fmt: skip
_BODY_KINDS = (mujoco.mjtObj.mjOBJ_BODY, mujoco.mjtObj.mjOBJ_XBODY)
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Changed:
    """
    A world that takes the place of another.

    :ivar same: which of its elements are which of the world before.
    """

    world: World
    same: Same


@dataclass(frozen=True, slots=True)
class Place:
    """Where the origin of a model's file goes: m, and quaternion wxyz."""

    pos: Sequence[float] = (0.0, 0.0, 0.0)
    quat: Sequence[float] = (1.0, 0.0, 0.0, 0.0)


def kind_of(source: Source) -> str:
    """
    Return what a model is unless the request says so.

    An entity has one root, free or welded, and neither actuators nor further joints.

    :raises OpError: import_failed.
    """
    spec, free = source.spec, mujoco.mjtJoint.mjJNT_FREE
    alone = len(spec.worldbody.bodies) <= 1 and not len(spec.actuators)
    if source.settings is None and alone and all(joint.type == free for joint in spec.joints):
        return ENTITY
    return ARTICULATION


def check_source(source: Source, kind: str) -> None:
    """
    Compile a model alone, and see that it can be of this kind.

    :raises OpError: import_failed, bad_value.
    """
    try:
        model = source.spec.copy().compile()
    except (ValueError, RuntimeError) as error:
        raise import_failed(error) from error
    roots = len(source.spec.worldbody.bodies)
    if kind == ARTICULATION and not roots:
        raise OpError('bad_value', 'kind: the model has no body, so it is no articulation')
    if kind == ENTITY and (roots > 1 or model.nu):
        what = f'{roots} roots' if roots > 1 else 'actuators'
        raise OpError('bad_value', f'kind: the model has {what}, so it is no entity')
    if not roots and not model.ngeom:
        raise OpError('import_failed', 'the model is empty')


def with_robot(world: World, name: str, source: Source, place: Place) -> Changed:
    """
    Return the world with one more articulation.

    :raises OpError: import_failed.
    """
    spec, book = _copied(world), KeyframeBook()
    robot = source.spec
    _strip(robot, name)
    name_unnamed(robot)
    given = {'pos': tuple(place.pos), 'quat': tuple(place.quat)}
    if source.settings is not None:
        made = replace(source.settings, prefix=name, actor_id=name, **given)
    else:
        made = ArticulationSpec(
            prefix=name, actor_id=name, model=Path(name), controller=None, twist=None,
            cameras={}, lidars={}, frames={}, covariances={}, **given,
        )  # fmt: skip
    _take_keys(book, robot, f'{name}_', place)
    _attach(spec, robot, f'{name}_', spec.worldbody.add_frame(pos=place.pos, quat=place.quat))
    description = replace(world.spec, articulations=(*world.spec.articulations, made))
    return _finished(world, spec, description, book, world.spawned | {name})


def with_entity(world: World, name: str, source: Source, place: Place) -> Changed:
    """
    Return the world with one more entity, whose root body has the name.

    :raises OpError: import_failed.
    """
    spec, thing, prefix = _copied(world), source.spec, f'{name}.'
    for key in list(thing.keys):
        thing.delete(key)
    thing.nkey = 0
    frame: Any
    if thing.worldbody.bodies:
        _strip(thing, name)
        name_unnamed(thing)
        root = thing.worldbody.bodies[0].name
        frame = spec.worldbody.add_frame(pos=place.pos, quat=place.quat)
        _attach(spec, thing, prefix, frame)
        _rename_body(spec, prefix + root, name)
    else:
        body = spec.worldbody.add_body(name=name, pos=place.pos, quat=place.quat)
        _attach(spec, thing, prefix, body.add_frame())
    return _finished(world, spec, world.spec, KeyframeBook(), world.spawned | {name})


def without_robot(world: World, prefix: str) -> Changed:
    """
    Return the world without an articulation.

    :raises OpError: destroy_failed.
    """
    spec, start = _copied(world), f'{prefix}_'
    for body in spec.worldbody.bodies:
        if body.name.startswith(start):
            spec.delete(body)
    _delete_named(spec, start)
    others = tuple(item for item in world.spec.articulations if item.prefix != prefix)
    return _deleted(world, spec, replace(world.spec, articulations=others), prefix, start)


def without_body(world: World, name: str) -> Changed:
    """
    Return the world without a body that stands directly in it.

    :raises OpError: destroy_failed.
    """
    spec = _copied(world)
    spec.delete(spec.body(name))
    _delete_named(spec, f'{name}.')
    objects = tuple(item for item in world.spec.objects if item.name != name)
    return _deleted(world, spec, replace(world.spec, objects=objects), name)


def _copied(world: World) -> mujoco.MjSpec:
    """Return a marked copy of what the world was compiled from, without keyframes."""
    if world.source.compiler.settotalmass > 0:
        raise OpError('not_ready', 'the world file sets its total mass (settotalmass)')
    spec = world.source.copy()
    mark(spec)
    for key in list(spec.keys):
        spec.delete(key)
    spec.nkey = 0
    return spec


def _take_keys(book: KeyframeBook, robot: mujoco.MjSpec, prefix: str, place: Place) -> None:
    try:
        book.take(robot, prefix, place.pos, place.quat)
    except WorldError as error:
        raise import_failed(error) from error


def _attach(spec: mujoco.MjSpec, child: mujoco.MjSpec, prefix: str, frame: Any) -> None:
    try:
        spec.attach(child, prefix=prefix, frame=frame)
    except (ValueError, RuntimeError) as error:
        raise import_failed(error) from error


def _strip(spec: mujoco.MjSpec, name: str) -> None:
    """Leave out what stands directly in the model's own world: a floor to look at it, lights."""
    world = spec.worldbody
    extra = [
        element
        for elements in (world.geoms, world.lights, world.cameras, world.sites)
        for element in elements
    ]
    for element in extra:
        spec.delete(element)
    if extra:
        _LOG.info(
            '%s: %d elements of its own world (floor, lights) are left out', name, len(extra)
        )


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


def _delete_named(spec: mujoco.MjSpec, start: str) -> None:
    for elements in _NAMED:
        for element in list(getattr(spec, elements)):
            if element.name.startswith(start):
                spec.delete(element)


def _deleted(
    world: World, spec: mujoco.MjSpec, description: WorldSpec, name: str, dropped: str = ''
) -> Changed:
    try:
        return _finished(world, spec, description, KeyframeBook(), world.spawned - {name}, dropped)
    except OpError as error:
        raise OpError('destroy_failed', f'{name}: something depends on it: {error}') from error


def _finished(
    world: World,
    spec: mujoco.MjSpec,
    description: WorldSpec,
    book: KeyframeBook,
    spawned: frozenset[str],
    dropped: str = '',
) -> Changed:
    """Compile, and add the keyframes of the world before and those of `book`."""
    try:
        model = spec.compile()
        same = survivors(spec)
        if add_keyframes(world.model, spec, model, same, dropped):
            model = compile_spec(spec, 'the changed world', logging.DEBUG)
        model = book.restore(spec, model)
    except (ValueError, RuntimeError, WorldError) as error:
        raise import_failed(error) from error
    cameras = {model.camera(index).name for index in range(model.ncam)}
    kept = {name: item for name, item in description.global_cameras.items() if name in cameras}
    description = replace(description, global_cameras=kept)
    return Changed(World(world.name, description, model, spec, spawned), same)


__all__ = [
    'ARTICULATION',
    'ENTITY',
    'Changed',
    'Place',
    'check_source',
    'kind_of',
    'with_entity',
    'with_robot',
    'without_body',
    'without_robot',
]
