# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Geoms that are not in the model: markers and arrows of an editor, drawn into real pictures."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
import logging
from typing import Any

import mujoco
import numpy as np

_LOG = logging.getLogger(__name__)
_TYPES = {
    name.removeprefix('mjGEOM_').lower(): kind
    for name, kind in mujoco.mjtGeom.__members__.items()
    if name.startswith('mjGEOM_')
}
_CONNECTORS = ('capsule', 'cylinder', 'arrow', 'arrow1', 'arrow2', 'line')


def add_overlays(scene: mujoco.MjvScene, overlays: Iterable[Mapping[str, Any]]) -> None:
    """
    Append geoms to a scene that mjv_updateScene has just filled; what has no room is left out.

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


__all__ = ['add_overlays']
