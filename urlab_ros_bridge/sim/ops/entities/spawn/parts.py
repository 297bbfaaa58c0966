# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Edits of MuJoCo specs that add or remove an entity."""

from __future__ import annotations

import logging

import mujoco

from urlab_ros_bridge.sim.model.world import SpawnedModel

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


def without_keys(spec: mujoco.MjSpec) -> mujoco.MjSpec:
    """Delete the keyframes of a spec, and return it."""
    for key in list(spec.keys):
        spec.delete(key)
    spec.nkey = 0
    return spec


def strip(spec: mujoco.MjSpec, name: str) -> None:
    """Leave out what is directly in the model's own world: a floor for viewing it, lights."""
    world = spec.worldbody
    extra = [
        element
        for elements in (world.geoms, world.lights, world.cameras, world.sites)
        for element in elements
    ]
    for element in extra:
        spec.delete(element)
    if extra:
        _LOG.info('%s: %d parts of its own world (floor, lights) are left out', name, len(extra))


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


__all__ = ['attach_spawned', 'delete_named', 'strip', 'without_keys']
