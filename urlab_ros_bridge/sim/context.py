# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What an op handler can reach."""

from __future__ import annotations

from dataclasses import dataclass

from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.engine import Engine
from urlab_ros_bridge.sim.live import LiveLoop
from urlab_ros_bridge.sim.observations import Observer
from urlab_ros_bridge.sim.paths import DataFolder
from urlab_ros_bridge.sim.recorder import Recorder
from urlab_ros_bridge.sim.replay import Replay
from urlab_ros_bridge.sim.sessions import SessionTable
from urlab_ros_bridge.sim.world import World


@dataclass(frozen=True, slots=True)
class Context:
    """The parts of a running server."""

    config: ServerConfig
    world: World
    engine: Engine
    observer: Observer
    sessions: SessionTable
    live: LiveLoop
    recorder: Recorder
    replay: Replay
    data: DataFolder
