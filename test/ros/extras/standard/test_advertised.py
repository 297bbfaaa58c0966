# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What is advertised is served, and what is served is advertised: asked over DDS."""

from bridge_harness import wait_until
from geometry_msgs.msg import Vector3
import pytest
from simulation_interfaces import msg
from yard import fitted

from urlab_ros_bridge.ros.extras.standard import ENTRIES
from urlab_ros_bridge.ros.rclpy_tools.compat import load_interface

TYPES = {row.name: load_interface(row.type_name) for row in ENTRIES}
NUMBERS = {
    name: getattr(msg.SimulatorFeatures, name)
    for name in dir(msg.SimulatorFeatures)
    if name.isupper() and isinstance(getattr(msg.SimulatorFeatures, name), int)
}
CUBE = [Vector3(x=x, y=x, z=x) for x in (1.0, -1.0)]


def filters(**fields):
    return {'filters': msg.EntityFilters(**fields)}


def bounds(kind, points):
    return filters(bounds=msg.Bounds(type=kind, points=points))


def target(state):
    return {'state': msg.SimulationState(state=state)}


# Requests that use a feature, in an order in which they can be carried out; those for spawning
# are turned down, but not for want of the feature.
USES = {
    'SIMULATION_STATE_GETTING': ('get_simulation_state', {}),
    'SIMULATION_STATE_SETTING': ('set_simulation_state', target(1)),
    'SIMULATION_STATE_PAUSE': ('set_simulation_state', target(2)),
    'STEP_SIMULATION_SINGLE': ('step_simulation', {'steps': 1}),
    'STEP_SIMULATION_MULTIPLE': ('step_simulation', {'steps': 2}),
    'SIMULATION_RESET': ('reset_simulation', {}),
    'SIMULATION_RESET_TIME': ('reset_simulation', {'scope': 1}),
    'SIMULATION_RESET_STATE': ('reset_simulation', {'scope': 2}),
    'SIMULATION_RESET_SPAWNED': ('reset_simulation', {'scope': 4}),
    'ENTITY_TAGS': ('get_entities', filters(tags=msg.TagsFilter(tags=['static']))),
    'ENTITY_BOUNDS_BOX': ('get_entities', bounds(1, CUBE)),
    'ENTITY_BOUNDS_CONVEX': ('get_entities', bounds(2, [*CUBE, Vector3(x=2.0)])),
    'ENTITY_CATEGORIES': ('get_entities', filters(categories=[msg.EntityCategory(category=1)])),
    'ENTITY_BOUNDS': ('get_entity_bounds', {'entity': 'ball'}),
    'ENTITY_STATE_GETTING': ('get_entities_states', {}),
    'ENTITY_STATE_SETTING': ('set_entity_state', {'entity': 'ball'}),
    'ENTITY_INFO_GETTING': ('get_entity_info', {'entity': 'ball'}),
    'ENTITY_INFO_SETTING': ('set_entity_info', {'entity': 'ball'}),
    'NAMED_POSES': ('get_named_poses', {}),
    'POSE_BOUNDS': ('get_named_pose_bounds', {'name': 'dock'}),
    'SPAWNING': ('spawn_entity', {}),
    'SPAWNING_RESOURCE_STRING': ('spawn_entity', {'resource_string': '<'}),
    'SPAWNING_ENTITIES': ('spawn_entities', {'spawn_requests': [msg.SpawnEntity()]}),
    'DELETING': ('delete_entity', {'entity': 'nobody'}),
    'SPAWNABLES': ('get_spawnables', {}),
    'WORLD_INFO_GETTING': ('get_current_world', {}),
    'WORLD_LOADING': ('load_world', {'uri': 'a.xml'}),
    'WORLD_RESOURCE_STRING': ('load_world', {'resource_string': '<mujoco/>'}),
    'WORLD_TAGS': ('get_available_worlds', {}),
    'WORLD_UNLOADING': ('unload_world', {}),
    'AVAILABLE_WORLDS': ('get_available_worlds', {}),
}
# Its test is test_steps_action.py.
ACTION = 'STEP_SIMULATION_ACTION'


def served(listener):
    """Return the features whose use is not answered with FEATURE_UNSUPPORTED."""
    found = {ACTION}
    for name, (service, fields) in USES.items():
        if service in TYPES:
            kind = TYPES[service]
            answer = listener.call(kind, f'/{service}', wait=20.0, **fitted(kind, fields))
            found |= {name} if answer.result.result else set()
    return found


def advertised(listener):
    """Return name -> number of the features in the list, and the whole answer."""
    answer = listener.call(TYPES['get_simulator_features'], '/get_simulator_features', wait=20.0)
    offered = list(answer.features.features)
    assert len(offered) == len(set(offered))
    names = {number: name for name, number in NUMBERS.items()}
    return {names[number] for number in offered}, answer.features


@pytest.mark.distro
def test_what_is_advertised_is_what_is_served(yard):
    offered, features = advertised(yard.listener)
    assert offered == served(yard.listener)
    # What no other part of this suite would miss.
    assert {'SPAWNING', 'ENTITY_STATE_SETTING', 'SIMULATION_RESET_STATE'} <= offered
    assert list(features.spawn_formats) == ['mjcf', 'urdf']
    assert 'MuJoCo' in features.custom_info


def test_a_stock_server_is_advertised_with_what_it_supports(small_server, bridged):
    bridge, listener = bridged(small_server(extensions=()))
    wait_until(lambda: bridge.link.state.connected, 20.0)
    offered, features = advertised(listener)
    assert offered == served(listener)
    assert {'SIMULATION_RESET', 'STEP_SIMULATION_MULTIPLE', 'SIMULATION_STATE_PAUSE'} <= offered
    assert not offered & {'SPAWNING', 'ENTITY_STATE_GETTING', 'SIMULATION_RESET_STATE'}
    assert list(features.spawn_formats) == [] and 'lacks' in features.custom_info


def test_without_a_server_no_feature_is_advertised(small_server, bridged):
    server = small_server()
    server.close()
    _, listener = bridged(server)
    offered, features = advertised(listener)
    assert offered == set() and 'urlab server' in features.custom_info
    for name in ('get_simulation_state', 'get_entities', 'reset_simulation'):
        result = listener.call(TYPES[name], f'/{name}').result
        assert result.result == msg.Result.RESULT_INCORRECT_STATE
        assert result.error_message.startswith('not_connected: ')
