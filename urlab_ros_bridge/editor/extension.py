# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The editor as an extension of the server (`sim/extensions.py`): `urlab server --editor`."""

from __future__ import annotations

from urlab_ros_bridge.editor.drawings import OverlayUpdater
from urlab_ros_bridge.editor.editor import LevelEditor
from urlab_ros_bridge.editor.ops import editor_ops
from urlab_ros_bridge.models import world_path
from urlab_ros_bridge.sim.extensions import Extension
from urlab_ros_bridge.sim.simulation import SimulationHost


def extend(host: SimulationHost) -> Extension:
    """Return an editor that runs the world of the server's options as a level, if there is one."""
    return extension_of(LevelEditor(host))


def extension_of(editor: LevelEditor) -> Extension:
    """Return what an editor adds to its server."""
    config = editor.host.config

    def open_world() -> None:
        if config.model or config.world:
            editor.open_and_play(config.model or world_path(config.world))

    return Extension(
        ops=editor_ops(editor),
        services=(
            lambda simulation: OverlayUpdater(editor.drawings, simulation.cameras),
            editor.open_camera,
        ),
        open_world=open_world,
        close=editor.close,
    )
