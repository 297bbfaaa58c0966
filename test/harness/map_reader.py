# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Read a map as map_server of Nav2 does (map_io.cpp, mode trinary), with other means than ours."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from PIL import Image
import yaml


class ReadMap:
    """
    :ivar data: (rows, columns) as in nav_msgs/OccupancyGrid: 100, 0, -1; row 0 has the smallest y.
    """

    def __init__(self, text, picture):
        info = yaml.safe_load(text)
        assert info['mode'] == 'trinary' and info['negate'] == 0 and info['origin'][2] == 0.0
        self.image_name = info['image']
        self.resolution = info['resolution']
        self.origin = np.array(info['origin'][:2])
        grey = np.asarray(Image.open(io.BytesIO(picture)))
        shade = (255 - grey.astype(np.float32)) / 255
        self.data = np.full(grey.shape, -1)
        self.data[shade <= info['free_thresh']] = 0
        self.data[shade >= info['occupied_thresh']] = 100
        self.data = self.data[::-1]

    def value(self, points):
        """Return the values at points (n, 2) in the frame of the map, -1 outside."""
        cells = np.floor((np.asarray(points) - self.origin) / self.resolution + 1e-9).astype(int)
        rows, columns = self.data.shape
        inside = (cells >= 0).all(axis=1) & (cells[:, 0] < columns) & (cells[:, 1] < rows)
        found = np.full(len(cells), -1)
        found[inside] = self.data[cells[inside, 1], cells[inside, 0]]
        return found

    def ranges(self, place, angles, longest, aside=0.0):
        """
        Return how far it is from a place to the first occupied cell at each angle, or inf.

        :param aside: how far to the left of the place each ray begins (m).
        """
        steps = np.arange(0.0, longest, self.resolution / 5)
        rays = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        starts = place + aside * np.stack([-rays[:, 1], rays[:, 0]], axis=1)
        points = starts[:, None, :] + rays[:, None, :] * steps[:, None]
        hit = self.value(points.reshape(-1, 2)).reshape(len(angles), -1) == 100
        return np.where(hit.any(axis=1), steps[hit.argmax(axis=1)], np.inf)


def read_map(path):
    """Read the two files of a map."""
    text = Path(path).read_text()
    picture = Path(path).with_name(yaml.safe_load(text)['image'])
    return ReadMap(text, picture.read_bytes())
