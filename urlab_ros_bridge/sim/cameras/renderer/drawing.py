# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Draws a model through its cameras.  Only here is OpenGL called."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import NamedTuple

import mujoco
import numpy as np
from OpenGL import GL
from OpenGL.error import GLError

from urlab_ros_bridge.sim.cameras.catalog import view_modes
from urlab_ros_bridge.sim.cameras.catalog.catalog import CameraItem
from urlab_ros_bridge.sim.cameras.catalog.catalog import DEPTH
from urlab_ros_bridge.sim.cameras.catalog.quality import Quality
from urlab_ros_bridge.sim.cameras.renderer import pixels
from urlab_ros_bridge.sim.cameras.renderer.gl import GraphicsLost
from urlab_ros_bridge.sim.cameras.renderer.labels import label_map
from urlab_ros_bridge.sim.cameras.renderer.labels import LabelMap
from urlab_ros_bridge.sim.cameras.renderer.overlays import add_overlays
from urlab_ros_bridge.sim.cameras.renderer.paired_depth import PairedDepth

_SPARE_GEOMS = 2000
_FLAG = mujoco.mjtRndFlag
# Errors after which a picture holds what was in the memory before (GL_KHR_robustness, OpenGL 4.5).
_LOST = {0x0507: 'GL_CONTEXT_LOST', 0x0505: 'GL_OUT_OF_MEMORY'}


class DepthLens(NamedTuple):
    """
    What OpenGL's depth means.

    :ivar near: distance of the near plane in m, `far` likewise.
    :ivar nothing: depth as OpenGL has it up to which a pixel shows nothing.
    """

    near: float
    far: float
    orthographic: bool
    nothing: float = 0.0


class RawFrame(NamedTuple):
    """
    A picture as OpenGL has it, rows bottom-up.

    :ivar words: uint32 (height, width): BGRA, or the bits of float32 depth.
    :ivar lens: of a depth camera, see `DepthLens`.
    :ivar table: of a labelling camera, see `pixels.labelled`.
    """

    words: np.ndarray
    lens: DepthLens | None = None
    table: np.ndarray | None = None

    def write(self, out: memoryview) -> None:
        """Write the frame in wire format; overwrites `words`."""
        shape = self.words.shape
        if self.lens is not None:
            depth = np.frombuffer(out, np.float32).reshape(shape)
            near, far, orthographic, nothing = self.lens
            raw = self.words.view(np.float32)
            pixels.metres(raw, near, far, orthographic, depth, nothing)
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
        self._paired = PairedDepth(model, data, self._context.offSamples)
        self._depth_of = _depth_cameras(cameras)

    def close(self) -> None:
        """Free what OpenGL holds."""
        self._context.free()

    def render(self, index: int, out: memoryview) -> None:
        """
        Draw the data as it is now through one camera.

        :param out: ``width * height * 4`` bytes: BGRA8, or float32 in m; rows top-down.
        """
        self.draw(index, self._words).write(out)

    def model_changed(self) -> None:
        """Take over that colours, sizes or lenses of the model were changed."""
        self._paired.model_changed()

    def draw_all(
        self, indices: Sequence[int], take: Callable[[], np.ndarray]
    ) -> Iterator[tuple[RawFrame, np.ndarray, int]]:
        """
        Draw the data as it is now through several cameras.

        :param take: returns a buffer for one picture, as `draw` needs it.
        :return: each picture, its buffer and its camera, in an order in which the depth picture of
            an RGB-D camera comes right after its colour picture, and often out of it.
        """
        follows: dict[int, int] = {}  # depth camera -> the colour camera that it comes after
        for index in indices:
            if self._depth_of.get(index) in indices:
                follows.setdefault(self._depth_of[index], index)
        for index in indices:
            if index in follows:
                continue
            words = take()
            yield self.draw(index, words), words, index
            depth = self._depth_of.get(index)
            if depth is not None and follows.get(depth) == index:
                words = take()
                raw = self._depth_from(index, depth, words) or self.draw(depth, words)
                yield raw, words, depth

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
            return self._read_depth(rect, source, nothing=0.0)
        try:
            self._read_color(rect, source)
        except GLError as error:
            raise GraphicsLost(_LOST.get(error.err, repr(error))) from error
        labels = self._labels.get(camera.mode)
        return RawFrame(source, None, None if labels is None else labels.table(scene))

    def _depth_from(self, color: int, depth: int, words: np.ndarray) -> RawFrame | None:
        """Read a depth picture out of the colour picture that was just drawn, if it holds one."""
        one, other = self._cameras[color], self._cameras[depth]
        if self.overlays or one.free or other.free or not self._paired.same_view(one.id, other.id):
            return None
        nothing = self._paired.empty_below(self._scene, one.id, one.width / one.height)
        if nothing is None:
            return None
        rect = mujoco.MjrRect(0, 0, one.width, one.height)
        source = words[: one.width * one.height].reshape(one.height, one.width)
        return self._read_depth(rect, source, nothing)

    def _read_depth(self, rect: mujoco.MjrRect, out: np.ndarray, nothing: float) -> RawFrame:
        mujoco.mjr_readPixels(None, out.view(np.float32), rect, self._context)
        # MuJoCo does not ask; a picture of before would go out as a new one.
        error = _LOST.get(GL.glGetError())
        if error:
            raise GraphicsLost(error)
        lens = self._scene.camera[0]
        near, far = lens.frustum_near, lens.frustum_far
        return RawFrame(out, DepthLens(near, far, bool(lens.orthographic), nothing))

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


def _depth_cameras(cameras: Sequence[CameraItem]) -> dict[int, int]:
    """Return the index of the depth camera with the same view, by that of the colour camera."""
    by_name = {(camera.prefix, camera.name): camera for camera in cameras}
    pairs = {}
    for camera in cameras:
        depth = by_name.get((camera.prefix, camera.depth_pair))
        sides = (camera.width, camera.height)
        if camera.mode == 'real' and depth is not None and sides == (depth.width, depth.height):
            pairs[camera.index] = depth.index
    return pairs


def _options(quality: Quality) -> mujoco.MjvOption:
    """Show what a real camera would see: no markers, no rays of sensors."""
    option = mujoco.MjvOption()
    option.flags[mujoco.mjtVisFlag.mjVIS_RANGEFINDER] = False
    if not quality.sites:
        option.sitegroup[:] = 0
    return option


__all__ = ['DepthLens', 'RawFrame', 'SceneRenderer']
