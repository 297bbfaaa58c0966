# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What the simulator is and what it simulates: get_simulator_features, get_current_world."""

from __future__ import annotations

from typing import Any

from urlab_ros_bridge.ros.extras.standard.base import ENTITIES
from urlab_ros_bridge.ros.extras.standard.base import SimulationContext
from urlab_ros_bridge.ros.extras.standard.base import SPAWN
from urlab_ros_bridge.ros.extras.standard.base import standard
from urlab_ros_bridge.ros.extras.standard.base import StandardFeature
from urlab_ros_bridge.ros.extras.standard.results import StandardRejected
from urlab_ros_bridge.ros.extras.standard.simulation_state import present_state
from urlab_ros_bridge.ros.extras.standard.simulation_state import State
from urlab_ros_bridge.ros.features.declarations import ServiceGroup
from urlab_ros_bridge.ros.link.link_state import describe

# simulation_interfaces/srv/GetCurrentWorld.
NO_WORLD_LOADED = 101
FORMATS = ('mjcf', 'urdf')


def get_simulator_features(context: SimulationContext, request: Any, response: Any) -> None:
    """Return the supported features; none while the bridge has no server."""
    features = response.features
    features.features = [int(feature) for feature in context.features]
    features.spawn_formats = list(FORMATS) if StandardFeature.SPAWNING in context.features else []
    state = context.link.state
    if not state.connected:
        features.custom_info = describe(state, context.stream.silence)[1]
        return
    handshake = context.handshake
    features.custom_info = (
        f'urlab_ros_bridge at {state.endpoint}: {handshake.urlab_version}, '
        f'MuJoCo {handshake.mujoco_version}'
    )
    missing = [name for name in (ENTITIES, SPAWN) if not context.has(name)]
    if missing:
        features.custom_info += f'; the server lacks: {", ".join(missing)}'


def get_current_world(context: SimulationContext, request: Any, response: Any) -> None:
    """Return the name of the world, and its contents."""
    if present_state(context) is State.NO_WORLD:
        raise StandardRejected(NO_WORLD_LOADED, 'the server has no world yet')
    handshake = context.handshake
    robots, entities = (
        ', '.join(names) or 'none' for names in (handshake.articulations, handshake.entities)
    )
    response.world.name = handshake.world
    response.world.description = f'robots: {robots}; other movable bodies: {entities}'


ENTRIES = (
    standard(get_simulator_features, group=ServiceGroup.INDEPENDENT),
    standard(get_current_world, {StandardFeature.WORLD_INFO_GETTING: ''}, ops=('status',)),
)
