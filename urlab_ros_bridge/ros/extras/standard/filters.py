# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Which entities a request asks for: names, categories, tags and bounds."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from urlab_ros_bridge.client.ops import EntityState
from urlab_ros_bridge.ros.extras.standard.base import SimulationContext
from urlab_ros_bridge.ros.extras.standard.base import StandardFeature
from urlab_ros_bridge.ros.extras.standard.results import FAILED
from urlab_ros_bridge.ros.extras.standard.results import StandardRejected
from urlab_ros_bridge.ros.extras.standard.results import UNSUPPORTED
from urlab_ros_bridge.schema.patterns import BadPattern
from urlab_ros_bridge.schema.patterns import compile_pattern
from urlab_ros_bridge.schema.patterns import Pattern

# simulation_interfaces/msg/Bounds.
EMPTY, BOX, SPHERE = 0, 1, 3
# simulation_interfaces/msg/EntityCategory by kind of an entity.
CATEGORIES = {'articulation': 1, 'entity': 4, 'mocap': 4, 'static': 5}
_OTHER = 0
# simulation_interfaces/msg/TagsFilter.
_ALL = 1


def category_of(entity: EntityState) -> int:
    """Return the category of an entity."""
    return CATEGORIES.get(entity.kind, _OTHER)


def tags_of(entity: EntityState) -> list[str]:
    """Return what one may filter by: its kind, and whether it can be moved and was spawned."""
    words = {'movable': entity.movable, 'spawned': entity.spawned}
    return [entity.kind, *(word for word, fits in words.items() if fits)]


def chosen(context: SimulationContext, filters: Any) -> dict[str, EntityState]:
    """
    Return the entities that pass all filters, by name.

    :param filters: simulation_interfaces/msg/EntityFilters.
    :raises StandardRejected: for an expression that cannot be read, or bounds of another kind.
    """
    pattern = expression(filters.filter)
    categories = {each.category for each in filters.categories}
    bounds = filters.bounds
    if bounds.type == BOX:
        context.require(StandardFeature.ENTITY_BOUNDS_BOX, 'bounds of type BOX')
    elif bounds.type not in (EMPTY, SPHERE):
        raise StandardRejected(
            UNSUPPORTED, f'bounds have type {bounds.type}, must be BOX 1 or SPHERE 3'
        )
    volume = read_bounds(bounds)
    found = context.client.get_entities(bounds=volume is not None)
    return {
        name: entity
        for name, entity in found.items()
        if pattern.search(name)
        and (not categories or category_of(entity) in categories)
        and has_tags(tags_of(entity), filters.tags)
        and (volume is None or overlap(entity, volume))
    }


def expression(text: str) -> Pattern:
    """
    Return the expression of a filter, which is searched in names.

    :raises StandardRejected: when it cannot be read.
    """
    try:
        return compile_pattern(text)
    except BadPattern as error:
        raise StandardRejected(FAILED, f'filter: {error}') from None


def has_tags(tags: Collection[str], wanted: Any) -> bool:
    """Return whether tags pass a simulation_interfaces/msg/TagsFilter."""
    if not wanted.tags:
        return True
    enough = all if wanted.filter_mode == _ALL else any
    return enough(tag in tags for tag in wanted.tags)


Volume = tuple[int, np.ndarray]


def read_bounds(bounds: Any) -> Volume | None:
    """
    Return the type of a box or sphere with its two points, shape (2, 3); None for no bounds.

    :raises StandardRejected: when the points make no such thing.
    """
    if bounds.type == EMPTY:
        return None
    points = np.array([(point.x, point.y, point.z) for point in bounds.points]).reshape(-1, 3)
    if len(points) != 2 or not np.isfinite(points).all():
        raise StandardRejected(
            FAILED, f'bounds have {len(points)} points, must have 2 finite ones'
        )
    if bounds.type == SPHERE and points[1, 0] < 0:
        raise StandardRejected(
            FAILED, f'the radius of the bounds is {points[1, 0]:g} m, must be 0 or more'
        )
    return bounds.type, points


def overlap(entity: EntityState, volume: Volume) -> bool:
    """Return whether the box around an entity, or the place of one without, is in a volume."""
    kind, points = volume
    least, greatest = (entity.pos, entity.pos) if entity.bounds is None else entity.bounds
    if kind == SPHERE:
        nearest = np.clip(points[0], least, greatest)
        return bool(np.linalg.norm(nearest - points[0]) <= points[1, 0])
    lower, upper = points.min(axis=0), points.max(axis=0)
    return bool((least <= upper).all() and (lower <= greatest).all())
