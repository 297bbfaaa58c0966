# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Models that a page can spawn: the bundled objects and robots."""

from __future__ import annotations

from dataclasses import dataclass
from xml.etree import ElementTree

from urlab_ros_bridge.models import object_names
from urlab_ros_bridge.models import object_path
from urlab_ros_bridge.models import robot_names
from urlab_ros_bridge.models import world_path
from urlab_ros_bridge.wire.errors import UnknownName

# Extension of a server that changes a running world.
SPAWN = 'spawn'
# Which of the sizes of a geom is half its height.
_HALF_HEIGHT = {'sphere': 0, 'cylinder': 1, 'box': 2}
_GAP = 0.005  # m above the supporting surface


@dataclass(frozen=True, slots=True)
class Spawnable:
    """
    A model to spawn: as text, or as a file that the server has.

    :ivar lift: height of its origin above the supporting surface, m.
    """

    xml: str | None
    file: str | None
    lift: float


def spawnables() -> list[str]:
    """Return the names of models that can be spawned: objects, then robots."""
    return [*object_names(), *robot_names()]


def spawnable(name: str) -> Spawnable:
    """
    Return a model by name.

    :raises UnknownName: when there is none of this name.
    """
    if name in object_names():
        text = object_path(name).read_text(encoding='utf-8')
        return Spawnable(text, None, _lift(text))
    if name in robot_names():
        return Spawnable(None, world_path(name).name, 0.0)
    raise UnknownName('model', name, spawnables())


def _lift(xml: str) -> float:
    """Return the height of the origin of an object above its lowest point, plus a gap."""
    lowest = 0.0
    for geom in ElementTree.fromstring(xml).iter('geom'):
        size = [float(part) for part in geom.get('size', '').split()]
        height = float(geom.get('pos', '0 0 0').split()[2])
        lowest = min(lowest, height - size[_HALF_HEIGHT[geom.get('type', 'sphere')]])
    return _GAP - lowest


__all__ = ['SPAWN', 'Spawnable', 'spawnable', 'spawnables']
