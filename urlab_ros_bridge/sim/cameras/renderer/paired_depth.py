# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Depth images read from the colour image of the same view, instead of drawn a second time.

OpenGL keeps the depth of every pixel that it draws, so an RGB-D camera needs one drawing.  It is
the same depth bit for bit as that of a flat drawing, except in these cases, which are drawn twice:

- transparent things, which leave no depth in a colour image;
- multisampling, which takes depth beside the centre of a pixel;
- endless planes, whose haze has a depth;
- geoms that may be as far away as the sky: MuJoCo draws the sky as a shape around the camera, with
  a depth of its own, in colour images only.
"""

from __future__ import annotations

import mujoco
import numpy as np

# Of the distance to the far plane: MuJoCo draws the sky from 0.68 on, which a test measures.
_SKY_BEGINS = 0.6
_VIEW_FIELDS = ('cam_fovy', 'cam_sensorsize', 'cam_intrinsic')


class PairedDepth:
    """Decides which depth images can be read from colour images, for one model."""

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, samples: int) -> None:
        """
        Prepare for a model.

        :param samples: of the framebuffer, 0 without multisampling.
        """
        self._model, self._data = model, data
        self._samples = samples
        self._has_sky = bool(np.any(model.tex_type == mujoco.mjtTexture.mjTEXTURE_SKYBOX))
        self.model_changed()

    def model_changed(self) -> None:
        """Update what depends on sizes, colours and groups."""
        self._opaque: bool | None = None
        self._radii = _radii(self._model)
        self._possible = self._samples == 0 and bool(np.isfinite(self._radii).all())

    def same_view(self, one: int, other: int) -> bool:
        """Return whether two cameras (ids) have the same pose and equal lenses."""
        model, data = self._model, self._data
        return (
            bool(np.array_equal(data.cam_xpos[one], data.cam_xpos[other]))
            and bool(np.array_equal(data.cam_xmat[one], data.cam_xmat[other]))
            and all(
                np.array_equal(getattr(model, field)[one], getattr(model, field)[other])
                for field in _VIEW_FIELDS
            )
        )

    def empty_below(self, scene: mujoco.MjvScene, camera: int, aspect: float) -> float | None:
        """
        Return the depth as OpenGL has it (1 near, 0 far) up to which a pixel shows nothing.

        :param scene: that was drawn just now.
        :param camera: id of the camera that it was drawn through.
        :param aspect: width of the image over its height.
        :return: None when the depth image has to be drawn.
        """
        if not self._possible:
            return None
        if self._opaque is None:
            self._opaque = not any(geom.transparent for geom in scene.geoms[: scene.ngeom])
        if not self._opaque:
            return None
        if not self._has_sky:
            return 0.0
        lens = scene.camera[0]
        if lens.orthographic:
            return None
        near, far = float(lens.frustum_near), float(lens.frustum_far)
        begins = _SKY_BEGINS * far * _corner_cosine(lens, aspect)
        if self._reach(camera) >= begins:
            return None
        return near * far / (far - near) / begins - near / (far - near)

    def _reach(self, camera: int) -> float:
        """Return how far anything of the model is from a camera at most, m."""
        model, data = self._model, self._data
        if model.nflex or model.nskin:
            return np.inf
        here = data.cam_xpos[camera]
        geoms = np.linalg.norm(data.geom_xpos - here, axis=1) + self._radii
        # Tendons run between sites and around geoms.
        sites = np.linalg.norm(data.site_xpos - here, axis=1) + model.site_size.max(initial=0.0)
        return float(max(geoms.max(initial=0.0), sites.max(initial=0.0)))


def _corner_cosine(lens: mujoco.MjvGLCamera, aspect: float) -> float:
    """Return the cosine of the angle between the optical axis and the farthest corner."""
    high = max(abs(lens.frustum_top), abs(lens.frustum_bottom))
    half = lens.frustum_width or aspect * (lens.frustum_top - lens.frustum_bottom) / 2
    wide = abs(lens.frustum_center) + half
    return float(lens.frustum_near / np.sqrt(lens.frustum_near**2 + high**2 + wide**2))


def _radii(model: mujoco.MjModel) -> np.ndarray:
    """
    Return for each geom how far it reaches from its position, m, shape (ngeom,).

    From the sizes as they are now: `geom_rbound` does not follow them.
    """
    kinds, kind, (x, y) = model.geom_type, mujoco.mjtGeom, model.geom_size.T[:2]
    radii = np.linalg.norm(model.geom_size, axis=1)  # of a box, and more than an ellipsoid's
    for round_kind, radius in (
        (kind.mjGEOM_PLANE, np.where((x > 0) & (y > 0), np.hypot(x, y), np.inf)),
        (kind.mjGEOM_SPHERE, x),
        (kind.mjGEOM_CAPSULE, x + y),
        (kind.mjGEOM_CYLINDER, np.hypot(x, y)),
    ):
        radii = np.where(kinds == round_kind, radius, radii)
    shaped = np.isin(kinds, (kind.mjGEOM_MESH, kind.mjGEOM_HFIELD, kind.mjGEOM_SDF))
    return np.where(shaped, model.geom_rbound, radii)
