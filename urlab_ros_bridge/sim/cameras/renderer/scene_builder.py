# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What the renderer process draws: its own copy of the model, and how it changes."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np

from urlab_ros_bridge.sim.cameras.capture.changes import apply_arrays
from urlab_ros_bridge.sim.cameras.capture.state import VisualState
from urlab_ros_bridge.sim.cameras.catalog.catalog import CameraItem
from urlab_ros_bridge.sim.cameras.catalog.quality import choose_quality
from urlab_ros_bridge.sim.cameras.renderer.drawing import RawFrame
from urlab_ros_bridge.sim.cameras.renderer.drawing import SceneRenderer
from urlab_ros_bridge.sim.model.sidecar.specs import RenderSpec

_MODEL_FILE = 'model.mjb'


class SceneBuilder:
    """A model, its data and its renderer."""

    def __init__(
        self,
        settings: Mapping[str, Any],
        cameras: Sequence[CameraItem],
        mjb: bytes,
        gl_renderer: str,
    ) -> None:
        self._model = mujoco.MjModel.from_binary_path(_MODEL_FILE, {_MODEL_FILE: mjb})
        data = mujoco.MjData(self._model)
        quality = choose_quality(self._model, RenderSpec(**settings['rendering']), gl_renderer)
        self._state = VisualState(self._model, data, cameras)
        self._renderer = SceneRenderer(self._model, data, cameras, settings['prefixes'], quality)
        self.set_overlays(settings.get('overlays', []))

    @property
    def words_needed(self) -> int:
        """Return the pixels of the largest camera."""
        return self._renderer.words_needed

    @property
    def state_size(self) -> int:
        """Return the bytes of a state."""
        return self._state.size

    def change_arrays(self, content: bytes) -> None:
        """Take over what `changes.pack_arrays` made."""
        apply_arrays(self._model, content)
        self._renderer.model_changed()

    def set_overlays(self, overlays: Sequence[Mapping[str, Any]]) -> None:
        """Draw these geoms too, see `overlays.add_overlays`."""
        self._renderer.overlays = list(overlays)

    def put(self, state: memoryview) -> None:
        """Move everything to where a state says."""
        self._state.put(state)
        if self._state.free is not None:
            self._renderer.view_mode = self._state.free.view_mode

    def draw(
        self, cameras: Sequence[int], take: Callable[[], np.ndarray]
    ) -> Iterator[tuple[RawFrame, np.ndarray, int]]:
        """Draw a frame for each camera, see `SceneRenderer.draw_all`."""
        return self._renderer.draw_all(cameras, take)


__all__ = ['SceneBuilder']
