# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Gymnasium environments on the typed client: any robot of any world.

    env = gymnasium.make('urlab_ros_bridge.gym:Urlab-v0', world='quadruped', reward=my_reward)

Importing this module registers them; gymnasium imports what stands before the colon.
"""

from __future__ import annotations

from gymnasium.envs.registration import register
from gymnasium.envs.registration import registry

ID = 'Urlab-v0'


def register_environments() -> None:
    """Tell gymnasium of the environments; again it does nothing."""
    if ID not in registry:
        register(
            ID,
            entry_point='urlab_ros_bridge.gym.env:UrlabEnv',
            vector_entry_point='urlab_ros_bridge.gym.vector:UrlabVectorEnv',
        )


register_environments()

__all__ = ['ID', 'register_environments']
