# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The features of the simulation standard, and what a server must have for them."""

from __future__ import annotations

from enum import IntEnum

# Extensions of the protocol, as in `hello_ok.extensions`.
ENTITIES = 'entities'
SPAWN = 'spawn'
KEEP_TIME = 'keep_time'
KEEP_STATE = 'keep_state'
# No extension: the compiled model can be read on this machine.
MODEL = 'model'


class StandardFeature(IntEnum):
    """Numbers of simulation_interfaces/msg/SimulatorFeatures, those that are served here."""

    SPAWNING = 0
    DELETING = 1
    NAMED_POSES = 2
    ENTITY_TAGS = 4
    ENTITY_BOUNDS = 5
    ENTITY_BOUNDS_BOX = 6
    ENTITY_CATEGORIES = 8
    SPAWNING_RESOURCE_STRING = 9
    ENTITY_STATE_GETTING = 10
    ENTITY_STATE_SETTING = 11
    ENTITY_INFO_GETTING = 12
    SPAWNABLES = 14
    SIMULATION_RESET = 20
    SIMULATION_RESET_TIME = 21
    SIMULATION_RESET_STATE = 22
    SIMULATION_RESET_SPAWNED = 23
    SIMULATION_STATE_GETTING = 24
    SIMULATION_STATE_SETTING = 25
    SIMULATION_STATE_PAUSE = 26
    STEP_SIMULATION_SINGLE = 31
    STEP_SIMULATION_MULTIPLE = 32
    STEP_SIMULATION_ACTION = 33
    WORLD_INFO_GETTING = 44
    SPAWNING_ENTITIES = 50
