# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Images as OpenGL has them, and their conversion to the wire format.

OpenGL's rows run bottom-up, so every function here flips while it writes the result: one pass over
the pixels, into memory that the caller owns.
"""

from __future__ import annotations

import numpy as np

_OPAQUE = np.uint32(0xFF000000)


def bgra(source: np.ndarray, out: np.ndarray) -> None:
    """
    Write BGRA8 words with alpha 255.

    :param source: uint32 (height, width), bottom-up, any alpha.
    :param out: uint32 (height, width), top-down.
    """
    np.bitwise_or(source[::-1], _OPAQUE, out=out)


def metres(
    source: np.ndarray,
    near: float,
    far: float,
    orthographic: bool,
    out: np.ndarray,
    nothing: float = 0.0,
) -> None:
    """
    Write distances along the optical axis in m, 0 where nothing is before the far plane.

    :param source: float32 (height, width), bottom-up: 1 at the near plane, 0 at the far one
        (MuJoCo's reversed depth).  It is used up.
    :param near: distance of the near plane in m, `far` likewise.
    :param out: float32 (height, width), top-down.
    :param nothing: depth of the source up to which there is nothing.
    """
    something = source > np.float32(nothing)
    if orthographic:
        source *= np.float32(near - far)
        source += np.float32(far)
    else:
        # The inverse of the projection z -> near (far - z) / (z (far - near)).
        source += np.float32(near / (far - near))
        np.divide(np.float32(near * far / (far - near)), source, out=source)
    np.multiply(source, something, out=out[::-1])


def labelled(source: np.ndarray, table: np.ndarray, out: np.ndarray) -> None:
    """
    Write the colour of each pixel's object.

    :param source: uint32 (height, width), bottom-up BGRA words of MuJoCo's id colours: the
        segmentation id + 1, low byte in red.
    :param table: uint32 (n,): colour by segmentation id + 1; ids beyond it count as background.
    :param out: uint32 (height, width), top-down.
    """
    ids = (source >> 16 & 0xFF) | (source & 0xFF00) | (source & 0xFF) << 16
    ids[ids >= len(table)] = 0
    np.take(table, ids[::-1], out=out)
