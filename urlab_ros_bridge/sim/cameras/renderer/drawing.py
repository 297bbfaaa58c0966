# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Draws a model through its cameras; no other module calls OpenGL."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
import logging
from typing import Any
from typing import NamedTuple

import mujoco
import numpy as np
from OpenGL import GL
from OpenGL.error import GLError

from urlab_ros_bridge.sim.cameras import free_camera
from urlab_ros_bridge.sim.cameras.catalog import CameraItem
from urlab_ros_bridge.sim.cameras.catalog import DEPTH
from urlab_ros_bridge.sim.cameras.renderer import frames
from urlab_ros_bridge.sim.cameras.renderer.environment import GraphicsLost
from urlab_ros_bridge.sim.cameras.renderer.labels import label_map
from urlab_ros_bridge.sim.cameras.renderer.labels import LabelMap
from urlab_ros_bridge.sim.cameras.renderer.paired_depth import PairedDepth
from urlab_ros_bridge.sim.cameras.visual_state import apply_arrays
from urlab_ros_bridge.sim.model.sidecar.specs import RenderSpec

SOFTWARE_RENDERERS = ('llvmpipe', 'softpipe', 'swrast', 'software rasterizer', 'swr')
# Half of MuJoCo's defaults: vertices cost as much as pixels in software.
SOFTWARE_SLICES, SOFTWARE_STACKS = 16, 10


@dataclass(frozen=True, slots=True)
class Quality:
    """
    Settings of one renderer.

    :ivar samples: multisampling, 0 is off.
    :ivar slices: of cylinders and spheres around their axis, `stacks` along it; 0 = as in the
        model.
    """

    shadows: bool
    reflections: bool
    samples: int
    slices: int
    stacks: int
    sites: bool

    def prepare(self, model: mujoco.MjModel) -> None:
        """Write the settings into the renderer's own model, before its context is made."""
        settings = model.vis.quality
        settings.offsamples = self.samples
        if not self.shadows:
            settings.shadowsize = 0
        if self.slices:
            settings.numslices = min(settings.numslices, self.slices)
            settings.numstacks = min(settings.numstacks, self.stacks)


def is_software(renderer: str) -> bool:
    """Return whether OpenGL's renderer name is that of a software renderer."""
    return any(name in renderer.lower() for name in SOFTWARE_RENDERERS)


def choose_quality(model: mujoco.MjModel, spec: RenderSpec, renderer: str) -> Quality:
    """Return the settings: the sidecar's, otherwise defaults for the renderer."""
    software = is_software(renderer)
    samples = 0 if software else int(model.vis.quality.offsamples)
    return Quality(
        shadows=not software if spec.shadows is None else spec.shadows,
        reflections=not software if spec.reflections is None else spec.reflections,
        samples=samples if spec.samples is None else spec.samples,
        slices=SOFTWARE_SLICES if software else 0,
        stacks=SOFTWARE_STACKS if software else 0,
        sites=spec.sites,
    )


_LOG = logging.getLogger(__name__)
_TYPES = {
    name.removeprefix('mjGEOM_').lower(): kind
    for name, kind in mujoco.mjtGeom.__members__.items()
    if name.startswith('mjGEOM_')
}
_CONNECTORS = ('capsule', 'cylinder', 'arrow', 'arrow1', 'arrow2', 'line')


def add_overlays(scene: mujoco.MjvScene, overlays: Iterable[Mapping[str, Any]]) -> None:
    """
    Append geoms to a scene that mjv_updateScene has just filled, as far as there is room.

    An overlay is a mapping: `type` (``sphere``, ``box``, ``capsule``, ``cylinder``, ``ellipsoid``,
    ``arrow``, ``line``, ``label``), `pos` [3] m and `mat` [9] (row-major, default identity),
    `size` [1..3] m, `rgba` [4] and `label`.  Or, for long things, `from` [3], `to` [3] and
    `width` (m; pixels for a line) instead of pos, mat and size.
    """
    for overlay in overlays:
        if scene.ngeom >= scene.maxgeom:
            return
        try:
            _fill(scene.geoms[scene.ngeom], overlay)
        except (KeyError, TypeError, ValueError) as error:
            _LOG.debug('overlay %r is left out: %s', overlay, error)
            continue
        scene.ngeom += 1


def _fill(geom: mujoco.MjvGeom, overlay: Mapping[str, Any]) -> None:
    kind = overlay.get('type', 'sphere')
    size = np.zeros(3)
    given = np.atleast_1d(np.asarray(overlay.get('size', 0.05), float))[:3]
    size[: len(given)] = given
    if len(given) == 1:
        size[:] = given[0]
    rgba = np.asarray(overlay.get('rgba', (1.0, 0.0, 0.0, 1.0)), np.float32)
    if rgba.shape != (4,):
        raise ValueError('rgba must have 4 values')
    matrix = np.asarray(overlay.get('mat', np.eye(3)), float).reshape(9)
    position = np.asarray(overlay.get('pos', (0.0, 0.0, 0.0)), float).reshape(3)
    mujoco.mjv_initGeom(geom, _TYPES[kind], size, position, matrix, rgba)
    if 'from' in overlay:
        if kind not in _CONNECTORS:
            raise ValueError(f'from and to are for {", ".join(_CONNECTORS)}')
        ends = [np.asarray(overlay[end], float).reshape(3) for end in ('from', 'to')]
        mujoco.mjv_connector(geom, _TYPES[kind], float(overlay.get('width', 0.01)), *ends)
    geom.category = mujoco.mjtCatBit.mjCAT_DECOR
    geom.label = str(overlay.get('label', ''))[:99]


_SPARE_GEOMS = 2000
_FLAG = mujoco.mjtRndFlag
# Errors after which an image holds stale memory (GL_KHR_robustness, OpenGL 4.5).
_LOST = {0x0507: 'GL_CONTEXT_LOST', 0x0505: 'GL_OUT_OF_MEMORY'}


class DepthLens(NamedTuple):
    """
    How to convert OpenGL's depth to metres.

    :ivar near: distance of the near plane in m, `far` likewise.
    :ivar nothing: OpenGL depth up to which a pixel is empty.
    """

    near: float
    far: float
    orthographic: bool
    nothing: float = 0.0


class RawFrame(NamedTuple):
    """
    An image as OpenGL has it, rows bottom-up.

    :ivar words: uint32 (height, width): BGRA, or the bits of float32 depth.
    :ivar lens: of a depth camera, see `DepthLens`.
    :ivar table: of a labelling camera, see `frames.labelled`.
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
            frames.metres(raw, near, far, orthographic, depth, nothing)
        elif self.table is not None:
            labels = np.frombuffer(out, np.uint32).reshape(shape)
            frames.labelled(self.words, self.table, labels)
        else:
            frames.bgra(self.words, np.frombuffer(out, np.uint32).reshape(shape))


class SceneRenderer:
    """
    Renders one model; a context must be current in the thread that makes and uses it.

    :ivar words_needed: pixels of the largest camera.
    :ivar overlays: further geoms in images of real cameras, see `add_overlays`.
    :ivar view_mode: of the free camera, one of `free_camera.VIEW_MODES`.
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
        self.view_mode = free_camera.LIT
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
        """Free the memory of OpenGL."""
        self._context.free()

    def render(self, index: int, out: memoryview) -> None:
        """
        Draw the data as it is now through one camera.

        :param out: ``width * height * 4`` bytes: BGRA8, or float32 in m; rows top-down.
        """
        self.draw(index, self._words).write(out)

    def apply_arrays(self, content: bytes) -> None:
        """Apply what `visual_state.pack_arrays` returned to the model."""
        apply_arrays(self._model, content)
        self._paired.model_changed()

    def draw_all(
        self, indices: Sequence[int], take: Callable[[], np.ndarray]
    ) -> Iterator[tuple[RawFrame, np.ndarray, int]]:
        """
        Draw the data as it is now through several cameras.

        :param take: returns a buffer for one image, as `draw` needs it.
        :return: each image, its buffer and its camera, in an order in which the depth image of
            an RGB-D camera comes right after its colour image, and often out of it.
        """
        follows: dict[int, int] = {}  # depth camera -> colour camera that is drawn before it
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
        Draw, and read the image as OpenGL has it.

        :param words: uint32, `words_needed` of them; they belong to the result.
        """
        camera, scene = self._cameras[index], self._scene
        self._view.fixedcamid = camera.id
        mode = self.view_mode if camera.free else free_camera.LIT
        free_camera.update_scene(mode, self._model, self._data, self._option, self._view, scene)
        flat = camera.mode != 'real'
        self._set_flags(flat)
        free_camera.set_flags(mode, scene)
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
        """Read a depth image out of the colour image that was just drawn, if it holds one."""
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
        # MuJoCo does not check; a stale image would be sent as a new one.
        error = _LOST.get(GL.glGetError())
        if error:
            raise GraphicsLost(error)
        lens = self._scene.camera[0]
        near, far = lens.frustum_near, lens.frustum_far
        return RawFrame(out, DepthLens(near, far, bool(lens.orthographic), nothing))

    def _set_flags(self, flat: bool) -> None:
        """Flat images need no light: only which object, and how far."""
        flags = self._scene.flags
        flags[_FLAG.mjRND_SEGMENT] = flags[_FLAG.mjRND_IDCOLOR] = flat
        flags[_FLAG.mjRND_SKYBOX] = flags[_FLAG.mjRND_HAZE] = not flat
        # Fog is black unless a model sets it, and hides the sky: off, as is MuJoCo's default.
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
    """Return the options of a real camera: no markers, no rays of sensors."""
    option = mujoco.MjvOption()
    option.flags[mujoco.mjtVisFlag.mjVIS_RANGEFINDER] = False
    if not quality.sites:
        option.sitegroup[:] = 0
    return option
