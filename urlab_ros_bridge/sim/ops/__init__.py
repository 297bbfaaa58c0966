# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The ops that this server serves: one module per group, each fills the registry."""

from __future__ import annotations

from urlab_ros_bridge.sim.ops import cameras
from urlab_ros_bridge.sim.ops import contacts
from urlab_ros_bridge.sim.ops import options
from urlab_ros_bridge.sim.ops import poses
from urlab_ros_bridge.sim.ops import randomize
from urlab_ros_bridge.sim.ops import recording
from urlab_ros_bridge.sim.ops import reset
from urlab_ros_bridge.sim.ops import runtime
from urlab_ros_bridge.sim.ops import session
from urlab_ros_bridge.sim.ops import step
from urlab_ros_bridge.sim.ops import wrench
from urlab_ros_bridge.sim.ops.entities import spawning as entities_spawn
from urlab_ros_bridge.sim.ops.entities import state as entities
from urlab_ros_bridge.sim.requests.registry import Registry

__all__ = ['build_registry']

_MODULES = (
    step,
    reset,
    runtime,
    options,
    poses,
    contacts,
    cameras,
    recording,
    session,
    randomize,
    wrench,
    entities,
    entities_spawn,
)


def build_registry() -> Registry:
    """Return the registry with every op but those of extensions."""
    registry = Registry()
    for module in _MODULES:
        module.register(registry)
    return registry
