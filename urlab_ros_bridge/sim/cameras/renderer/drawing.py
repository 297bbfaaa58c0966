# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Draws a model through its cameras.  Only here is OpenGL called."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import NamedTuple

import mujoco
import numpy as np
from OpenGL import GL

from urlab_ros_bridge.sim.cameras.catalog import view_modes
from urlab_ros_bridge.sim.cameras.catalog.catalog import CameraItem
from urlab_ros_bridge.sim.cameras.catalog.catalog import DEPTH
from urlab_ros_bridge.sim.cameras.catalog.quality import Quality
from urlab_ros_bridge.sim.cameras.renderer import pixels
from urlab_ros_bridge.sim.cameras.renderer.labels import label_map
from urlab_ros_bridge.sim.cameras.renderer.labels import LabelMap
from urlab_ros_bridge.sim.cameras.renderer.overlays import add_overlays

_SPARE_GEOMS = 2000
_FLAG = mujoco.mjtRndFlag


class RawFrame(NamedTuple):
    """
    A picture as OpenGL has it, rows bottom-up.

    :ivar words: uint32 (height, width): BGRA, or the bits of float32 depth.
    :ivar lens: of a depth camera: near and far plane in m, and whether it is orthographic.
    :ivar table: of a labelling camera, see `pixels.labelled`.
    """

    words: np.ndarray
    lens: tuple[float, float, bool] | None = None
    table: np.ndarray | None = None

    def write(self, out: memoryview) -> None:
        """Write the frame as it goes on the wire; uses `words` up."""
        shape = self.words.shape
        if self.lens is not None:
            depth = np.frombuffer(out, np.float32).reshape(shape)
            pixels.metres(self.words.view(np.float32), *self.lens, depth)
        elif self.table is not None:
            labels = np.frombuffer(out, np.uint32).reshape(shape)
            pixels.labelled(self.words, self.table, labels)
        else:
            pixels.bgra(self.words, np.frombuffer(out, np.uint32).reshape(shape))


class SceneRenderer:
    """
    Renders one model; a context must be current in the thread that makes and uses it.

    :ivar words_needed: pixels of the largest camera.
    :ivar overlays: further geoms that real cameras see, see `overlays.add_overlays`.
    :ivar view_mode: how the free camera sees, one of `view_modes.VIEW_MODES`.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        data: mujoco.MjData,
        cameras: Sequence[CameraItem],
        prefixes: Sequence[str],
        quality: Quality,
    ) -> None:
        self._model, self._data, self._quality = model, data, quality
        self._cameras = {camera.index: camera for camera in cameras}
        self.overlays: list[Mapping[str, Any]] = []
        self.view_mode = view_modes.LIT
        width = max((camera.width for camera in cameras), default=1)
        height = max((camera.height for camera in cameras), default=1)
        model.vis.global_.offwidth, model.vis.global_.offheight = width, height
        quality.prepare(model)
        self._context = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._context)
        self._context.readDepthMap = mujoco.mjtDepthMap.mjDEPTH_ZEROFAR
        count = model.ngeom + model.nsite + 2 * model.nwrap + model.nflex + model.nskin
        self._scene = mujoco.MjvScene(model, maxgeom=count + _SPARE_GEOMS)
        self._option = _options(quality)
        self._labels: dict[str, LabelMap] = {
            mode: label_map(model, list(prefixes), mode)
            for mode in {camera.mode for camera in cameras} - {'real', DEPTH}
        }
        self._view = mujoco.MjvCamera()
        self._view.type = mujoco.mjtCamera.mjCAMERA_FIXED
        self.words_needed = width * height
        self._words = np.empty(self.words_needed, np.uint32)

    def close(self) -> None:
        """Free what OpenGL holds."""
        self._context.free()

    def render(self, index: int, out: memoryview) -> None:
        """
        Draw the data as it is now through one camera.

        :param out: ``width * height * 4`` bytes: BGRA8, or float32 in m; rows top-down.
        """
        self.draw(index, self._words).write(out)

    def draw(self, index: int, words: np.ndarray) -> RawFrame:
        """
        Draw, and read the picture as OpenGL has it.

        :param words: uint32, `words_needed` of them; they belong to the result.
        """
        camera, scene = self._cameras[index], self._scene
        self._view.fixedcamid = camera.id
        mode = self.view_mode if camera.free else view_modes.LIT
        view_modes.update_scene(mode, self._model, self._data, self._option, self._view, scene)
        flat = camera.mode != 'real'
        self._set_flags(flat)
        view_modes.set_flags(mode, scene)
        if not flat:
            add_overlays(scene, self.overlays)
        rect = mujoco.MjrRect(0, 0, camera.width, camera.height)
        mujoco.mjr_render(rect, scene, self._context)
        source = words[: rect.width * rect.height].reshape(rect.height, rect.width)
        if camera.mode == DEPTH:
            lens = scene.camera[0]
            mujoco.mjr_readPixels(None, source.view(np.float32), rect, self._context)
            return RawFrame(source, (lens.frustum_near, lens.frustum_far, bool(lens.orthographic)))
        self._read_color(rect, source)
        labels = self._labels.get(camera.mode)
        return RawFrame(source, None, None if labels is None else labels.table(scene))

    def _set_flags(self, flat: bool) -> None:
        """Flat pictures need no light: only which object, and how far."""
        flags = self._scene.flags
        flags[_FLAG.mjRND_SEGMENT] = flags[_FLAG.mjRND_IDCOLOR] = flat
        flags[_FLAG.mjRND_SKYBOX] = flags[_FLAG.mjRND_HAZE] = not flat
        # Fog is black unless a model says otherwise, and swallows the sky: off, as MuJoCo has it.
        flags[_FLAG.mjRND_FOG] = False
        flags[_FLAG.mjRND_SHADOW] = self._quality.shadows and not flat
        flags[_FLAG.mjRND_REFLECTION] = self._quality.reflections and not flat

    def _read_color(self, rect: mujoco.MjrRect, out: np.ndarray) -> None:
        samples = self._context.offSamples
        if samples:
            self._resolve(rect)
        GL.glPixelStorei(GL.GL_PACK_ALIGNMENT, 1)
        GL.glReadPixels(
            0, 0, rect.width, rect.height, GL.GL_BGRA, GL.GL_UNSIGNED_INT_8_8_8_8_REV, out
        )
        if samples:
            GL.glBindFramebuffer(GL.GL_FRAMEBUFFER, self._context.offFBO)

    def _resolve(self, rect: mujoco.MjrRect) -> None:
        """Average the samples into the second framebuffer, which can be read."""
        GL.glBindFramebuffer(GL.GL_READ_FRAMEBUFFER, self._context.offFBO)
        GL.glReadBuffer(GL.GL_COLOR_ATTACHMENT0)
        GL.glBindFramebuffer(GL.GL_DRAW_FRAMEBUFFER, self._context.offFBO_r)
        GL.glDrawBuffer(GL.GL_COLOR_ATTACHMENT0)
        box = (0, 0, rect.width, rect.height)
        GL.glBlitFramebuffer(*box, *box, GL.GL_COLOR_BUFFER_BIT, GL.GL_NEAREST)
        GL.glBindFramebuffer(GL.GL_READ_FRAMEBUFFER, self._context.offFBO_r)
        GL.glReadBuffer(GL.GL_COLOR_ATTACHMENT0)


def _options(quality: Quality) -> mujoco.MjvOption:
    """Show what a real camera would see: no markers, no rays of sensors."""
    option = mujoco.MjvOption()
    option.flags[mujoco.mjtVisFlag.mjVIS_RANGEFINDER] = False
    if not quality.sites:
        option.sitegroup[:] = 0
    return option


__all__ = ['RawFrame', 'SceneRenderer']
