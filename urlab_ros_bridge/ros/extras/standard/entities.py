# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Listing and posing: get_entities and related services, and states of entities.

States are given in the world.  Both parts of a twist are along the axes of the header's frame, as
the standard has it, so not as in nav_msgs/Odometry.
"""

from __future__ import annotations

from functools import partial
import math
from typing import Any

from geometry_msgs.msg import Vector3

from urlab_ros_bridge.client.ops import EntityState
from urlab_ros_bridge.ros.extras.standard.base import ENTITIES
from urlab_ros_bridge.ros.extras.standard.base import PACKAGE
from urlab_ros_bridge.ros.extras.standard.base import SimulationContext
from urlab_ros_bridge.ros.extras.standard.base import standard
from urlab_ros_bridge.ros.extras.standard.base import StandardFeature
from urlab_ros_bridge.ros.extras.standard.filters import BOX
from urlab_ros_bridge.ros.extras.standard.filters import category_of
from urlab_ros_bridge.ros.extras.standard.filters import chosen
from urlab_ros_bridge.ros.extras.standard.filters import tags_of
from urlab_ros_bridge.ros.extras.standard.frames import frame_pose
from urlab_ros_bridge.ros.extras.standard.frames import into_world
from urlab_ros_bridge.ros.extras.standard.frames import pose_from_ros
from urlab_ros_bridge.ros.extras.standard.frames import pose_of
from urlab_ros_bridge.ros.extras.standard.frames import turned
from urlab_ros_bridge.ros.extras.standard.results import FAILED
from urlab_ros_bridge.ros.extras.standard.results import StandardRejected
from urlab_ros_bridge.ros.messages.base import header_to_ros
from urlab_ros_bridge.ros.messages.geometry import pose_to_ros
from urlab_ros_bridge.ros.plan.parameters import NamesParameters
from urlab_ros_bridge.ros.rclpy_tools.compat import load_interface

_KINDS = {
    'articulation': 'robot',
    'entity': 'body with joints',
    'mocap': 'body that requests can move',
    'static': 'static body',
}


def one(context: SimulationContext, name: str, bounds: bool = False) -> EntityState:
    """
    Return an entity.

    :raises UnknownBody: when there is none of this name.
    """
    return context.client.get_entities([name], bounds)[name]


def get_entities(context: SimulationContext, request: Any, response: Any) -> str:
    """Return the names of robots, movable bodies and fixed bodies, filtered."""
    response.entities = sorted(chosen(context, request.filters))
    return f'{len(response.entities)} entities'


def get_entity_info(context: SimulationContext, request: Any, response: Any) -> None:
    """Return category, kind and tags of an entity."""
    entity = one(context, request.entity)
    response.info.category.category = category_of(entity)
    response.info.description = describe(context, entity)
    response.info.tags = tags_of(entity)


def describe(context: SimulationContext, entity: EntityState) -> str:
    """Return what an entity is, as text."""
    text = _KINDS.get(entity.kind, entity.kind)
    robot = context.handshake.articulations.get(entity.name)
    if robot is not None and robot.actor_id not in ('', entity.name):
        text += f' (actor {robot.actor_id})'
    return text


def get_entity_bounds(context: SimulationContext, request: Any, response: Any) -> str:
    """Return the box around an entity, along the axes of its base."""
    entity = one(context, request.entity, bounds=True)
    if entity.body_bounds is None:
        return f'{entity.name} has no bounded geometry'
    least, greatest = entity.body_bounds.tolist()
    response.bounds.type = BOX
    response.bounds.points = [Vector3(x=x, y=y, z=z) for x, y, z in (greatest, least)]
    return ''


# simulation_interfaces/srv/SetEntityState.
INVALID_POSE = 101


def get_entity_state(context: SimulationContext, request: Any, response: Any) -> None:
    """Return pose and twist of an entity in the world."""
    fill_in(
        response.state, one(context, request.entity), context.settings(NamesParameters).map_frame
    )


def get_entities_states(context: SimulationContext, request: Any, response: Any) -> str:
    """Return pose and twist of entities in the world, filtered."""
    found = chosen(context, request.filters)
    message_type = load_interface(f'{PACKAGE}/msg/EntityState')
    response.entities = sorted(found)
    response.states = [
        fill_in(message_type(), found[name], context.settings(NamesParameters).map_frame)
        for name in response.entities
    ]
    return f'{len(response.entities)} entities'


def fill_in(message: Any, entity: EntityState, frame: str) -> Any:
    """Write a state into a simulation_interfaces/msg/EntityState, and return it."""
    message.header = header_to_ros(entity.sim_time_ns, frame)
    message.pose = pose_to_ros(*pose_of(entity))
    for part, values in (('linear', entity.linear), ('angular', entity.angular)):
        vector = getattr(message.twist, part)
        vector.x, vector.y, vector.z = values.tolist()
    return message


def set_entity_state(context: SimulationContext, request: Any, response: Any) -> str:
    """Set the pose and velocity of an entity."""
    wanted = request.state
    # Since version 2 of the standard, flags select the fields that count.
    pose_meant, twist_meant, pushed = (
        getattr(request, name, True) for name in ('set_pose', 'set_twist', 'set_acceleration')
    )
    entity = one(context, request.entity)
    frame = frame_pose(context, wanted.header.frame_id, INVALID_POSE)
    values: dict[str, Any] = {}
    if pose_meant:
        position, (x, y, z, w) = into_world(frame, pose_from_ros(wanted.pose, INVALID_POSE))
        values.update(pos=position, quat=(w, x, y, z))
    twist = {part: _vector(wanted.twist, part) for part in ('linear', 'angular')}
    pushes = pushed and any(map(any, (_vector(wanted.acceleration, part) for part in twist)))
    if twist_meant:
        values.update((part, turned(frame, vector)) for part, vector in twist.items())
    moving = any(any(values.get(part, ())) for part in twist)
    if entity.kind in ('mocap', 'static') and (moving or pushes):
        raise StandardRejected(
            FAILED, f'{entity.name} is a {entity.kind} body: it has no velocity'
        )
    if values:
        mark = context.timeline.mark()
        state = context.client.set_entity_state(entity.name, **values)
        context.catch_up(state.sim_time_ns, mark)
    return 'the acceleration is ignored' if pushes else ''


def _vector(owner: Any, part: str) -> tuple[float, float, float]:
    vector = getattr(owner, part)
    values = (vector.x, vector.y, vector.z)
    if not all(map(math.isfinite, values)):
        raise StandardRejected(FAILED, f'{part} is not finite: {values}')
    return values


_reading = partial(standard, needs=ENTITIES, ops=('get_entities',))
ENTRIES = (
    _reading(
        get_entities,
        {
            StandardFeature.ENTITY_TAGS: '',
            StandardFeature.ENTITY_BOUNDS_BOX: '',
            StandardFeature.ENTITY_CATEGORIES: '',
        },
    ),
    _reading(get_entity_info, {StandardFeature.ENTITY_INFO_GETTING: ''}),
    _reading(get_entity_bounds, {StandardFeature.ENTITY_BOUNDS: ''}),
    _reading(get_entity_state, {StandardFeature.ENTITY_STATE_GETTING: ''}),
    _reading(get_entities_states, {StandardFeature.ENTITY_STATE_GETTING: ''}),
    standard(
        set_entity_state,
        {StandardFeature.ENTITY_STATE_SETTING: ''},
        needs=ENTITIES,
        ops=('get_entities', 'set_entity_state'),
    ),
)
