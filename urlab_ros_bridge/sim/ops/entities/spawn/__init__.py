# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Adds an entity to a running world, or removes one: a new world is built and replaces it."""

from urlab_ros_bridge.sim.ops.entities.spawn.names import choose_name
from urlab_ros_bridge.sim.ops.entities.spawn.source import read_source
from urlab_ros_bridge.sim.ops.entities.spawn.state import carry
from urlab_ros_bridge.sim.ops.entities.spawn.state import check_idle
from urlab_ros_bridge.sim.ops.entities.spawn.state import write_state
from urlab_ros_bridge.sim.ops.entities.spawn.world import ARTICULATION
from urlab_ros_bridge.sim.ops.entities.spawn.world import ChangedWorld
from urlab_ros_bridge.sim.ops.entities.spawn.world import check_source
from urlab_ros_bridge.sim.ops.entities.spawn.world import ENTITY
from urlab_ros_bridge.sim.ops.entities.spawn.world import kind_of
from urlab_ros_bridge.sim.ops.entities.spawn.world import with_entity
from urlab_ros_bridge.sim.ops.entities.spawn.world import with_robot
from urlab_ros_bridge.sim.ops.entities.spawn.world import without_body
from urlab_ros_bridge.sim.ops.entities.spawn.world import without_robot

__all__ = [
    'ARTICULATION',
    'ENTITY',
    'ChangedWorld',
    'carry',
    'check_idle',
    'check_source',
    'choose_name',
    'kind_of',
    'read_source',
    'with_entity',
    'with_robot',
    'without_body',
    'without_robot',
    'write_state',
]
