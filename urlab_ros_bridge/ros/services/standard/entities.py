# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What there is: get_entities, get_entity_info and get_entity_bounds."""

from __future__ import annotations

from typing import Any

from geometry_msgs.msg import Vector3

from urlab_ros_bridge.client.ops.entities import EntityState
from urlab_ros_bridge.ros.services.standard.base import SimulationContext
from urlab_ros_bridge.ros.services.standard.base import standard
from urlab_ros_bridge.ros.services.standard.features import ENTITIES
from urlab_ros_bridge.ros.services.standard.features import Feature
from urlab_ros_bridge.ros.services.standard.filters import BOX
from urlab_ros_bridge.ros.services.standard.filters import category_of
from urlab_ros_bridge.ros.services.standard.filters import chosen
from urlab_ros_bridge.ros.services.standard.filters import tags_of

_KINDS = {
    'articulation': 'robot',
    'entity': 'body with joints',
    'mocap': 'body that requests move',
    'static': 'body that stands still',
}


def one(context: SimulationContext, name: str, bounds: bool = False) -> EntityState:
    """
    Return an entity.

    :raises UnknownBody: when there is none of this name.
    """
    return context.bridge.client.get_entities([name], bounds)[name]


def get_entities(context: SimulationContext, request: Any, response: Any) -> str:
    """Tell the names of robots, movable and fixed bodies, filtered."""
    response.entities = sorted(chosen(context, request.filters))
    return f'{len(response.entities)} entities'


def get_entity_info(context: SimulationContext, request: Any, response: Any) -> None:
    """Tell category, kind and tags of an entity."""
    entity = one(context, request.entity)
    response.info.category.category = category_of(entity)
    response.info.description = describe(context, entity)
    response.info.tags = tags_of(entity)


def describe(context: SimulationContext, entity: EntityState) -> str:
    """Say what an entity is."""
    text = _KINDS.get(entity.kind, entity.kind)
    robot = context.handshake.articulations.get(entity.name)
    if robot is not None and robot.actor_id not in ('', entity.name):
        text += f' (actor {robot.actor_id})'
    return text


def get_entity_bounds(context: SimulationContext, request: Any, response: Any) -> str:
    """Tell the box around an entity, along the axes of its base."""
    entity = one(context, request.entity, bounds=True)
    if entity.body_bounds is None:
        return f'{entity.name} has no geometry that ends somewhere'
    least, greatest = entity.body_bounds.tolist()
    response.bounds.type = BOX
    response.bounds.points = [Vector3(x=x, y=y, z=z) for x, y, z in (greatest, least)]
    return ''


ENTRIES = (
    standard(
        'get_entities',
        get_entities,
        {
            Feature.ENTITY_TAGS: '',
            Feature.ENTITY_BOUNDS_BOX: '',
            Feature.ENTITY_CATEGORIES: '',
        },
        needs=ENTITIES,
        ops=('get_entities',),
    ),
    standard(
        'get_entity_info',
        get_entity_info,
        {Feature.ENTITY_INFO_GETTING: ''},
        needs=ENTITIES,
        ops=('get_entities',),
    ),
    standard(
        'get_entity_bounds',
        get_entity_bounds,
        {Feature.ENTITY_BOUNDS: ''},
        needs=ENTITIES,
        ops=('get_entities',),
    ),
)
