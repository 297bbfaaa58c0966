# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The two files that map_server of Nav2 loads: a grey picture (PGM) and what it means (YAML).

Grey values and thresholds are those that map_saver writes in its mode `trinary`: a grey value p
is occupied from (255 - p) / 255 = 0.65 on and free up to 0.196, which keeps 205 unknown.
"""

from __future__ import annotations

import numpy as np

from urlab_ros_bridge.maps.floor_map import FloorMap
from urlab_ros_bridge.maps.floor_map import FREE
from urlab_ros_bridge.maps.floor_map import OCCUPIED

_GREY_OCCUPIED = 0
_GREY_FREE = 254
_GREY_UNKNOWN = 205


def picture(floor_map: FloorMap) -> bytes:
    """Return the binary PGM (P5); its first row has the largest y."""
    cells = floor_map.cells[::-1]
    rows, columns = cells.shape
    grey = np.full(cells.shape, _GREY_UNKNOWN, np.uint8)
    grey[cells == OCCUPIED] = _GREY_OCCUPIED
    grey[cells == FREE] = _GREY_FREE
    return f'P5\n{columns} {rows}\n255\n'.encode() + grey.tobytes()


def description(floor_map: FloorMap, picture_name: str, comment: str = '') -> str:
    """
    Return the YAML text.

    :param picture_name: file name of the picture, which is beside it.
    :param comment: one line for its head.
    """
    x, y = floor_map.origin
    head = f'# {comment}\n' if comment else ''
    return (
        f'{head}image: {picture_name}\n'
        'mode: trinary\n'
        f'resolution: {floor_map.resolution!r}  # m\n'
        f'origin: [{x!r}, {y!r}, 0.0]  # m, m, rad: the lower left corner in the frame map\n'
        'negate: 0\n'
        'occupied_thresh: 0.65\n'
        'free_thresh: 0.196\n'
    )
