# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The two files of a map for map_server of Nav2: a grey image (PGM) and its description (YAML).

Grey values and thresholds are those of map_saver in its mode `trinary`: a grey value p is occupied
from (255 - p) / 255 = 0.65 on and free up to 0.196, which keeps 205 unknown.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import yaml

from urlab_ros_bridge.files.whole_file import write_whole
from urlab_ros_bridge.maps.floor_map import FloorMap
from urlab_ros_bridge.maps.floor_map import FREE
from urlab_ros_bridge.maps.floor_map import OCCUPIED
from urlab_ros_bridge.wire.errors import UrlabError

_GREY_OCCUPIED = 0
_GREY_FREE = 254
_GREY_UNKNOWN = 205


class NotAMap(UrlabError):
    """A file that a map would replace is no map."""

    def __init__(self, path: Path) -> None:
        super().__init__(f'{path} exists and is not a map: give the map another name (--output)')


def pgm_image(floor_map: FloorMap) -> bytes:
    """Return the binary PGM (P5); its first row has the largest y."""
    cells = floor_map.cells[::-1]
    rows, columns = cells.shape
    grey = np.full(cells.shape, _GREY_UNKNOWN, np.uint8)
    grey[cells == OCCUPIED] = _GREY_OCCUPIED
    grey[cells == FREE] = _GREY_FREE
    return f'P5\n{columns} {rows}\n255\n'.encode() + grey.tobytes()


def description(floor_map: FloorMap, image_name: str, comment: str = '') -> str:
    """
    Return the YAML text.

    :param image_name: name of the image file in the same folder.
    :param comment: first line, as a comment.
    """
    x, y = floor_map.origin
    head = f'# {comment}\n' if comment else ''
    return (
        f'{head}image: {image_name}\n'
        'mode: trinary\n'
        f'resolution: {floor_map.resolution!r}  # m\n'
        f'origin: [{x!r}, {y!r}, 0.0]  # m, m, rad: the lower left corner in the frame map\n'
        'negate: 0\n'
        'occupied_thresh: 0.65\n'
        'free_thresh: 0.196\n'
    )


def write_map(floor_map: FloorMap, target: Path, comment: str = '') -> list[Path]:
    """
    Write both files, TARGET.pgm and TARGET.yaml; return their paths.  An older map is replaced.

    :raises NotAMap: when another kind of file has the name, such as a sidecar.
    :raises OSError: when one cannot be written.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    image, text = (target.with_name(target.name + suffix) for suffix in ('.pgm', '.yaml'))
    if text.exists() and not _describes_a_map(text):
        raise NotAMap(text)
    write_whole(image, pgm_image(floor_map))
    write_whole(text, description(floor_map, image.name, comment).encode())
    return [image, text]


def _describes_a_map(path: Path) -> bool:
    try:
        found = yaml.safe_load(path.read_bytes())
    except (yaml.YAMLError, UnicodeDecodeError):
        return False
    return isinstance(found, dict) and {'image', 'resolution'} <= set(found)
