# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""markers/drawings: what clients have drawn with the debug ops, as read_markers returns it."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass
import itertools
from typing import Any

from visualization_msgs.msg import Marker

from urlab_ros_bridge.client.replies.reader import read_reply
from urlab_ros_bridge.geometry import normalize
from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.ros.topics.markers.messages import marker
from urlab_ros_bridge.schema import key

NAMESPACE = 'drawings'
WHERE = 'read_markers_ok'
_RADIUS = 0.05
_LINE = 0.005
_THINNEST = 1e-4
_LETTERS = 0.1
_HEAD = 2.5  # diameter of an arrow's head, in those of its shaft
_AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
_PARTS = 4  # markers that one drawing needs at most
_LARGEST = 2**31

Triple = tuple[float, float, float]
Options = dict[str, Any]


def drawing_markers(
    frame: str, stamp_ns: int, drawings: Iterable[Mapping[str, Any]]
) -> list[Marker]:
    """
    Return the markers of drawings; the tag of a drawing is the namespace of its markers.

    :param drawings: maps with ``id``, ``kind`` (marker, line, box, arrow, axes), ``color``,
        ``tag`` and what the kind needs; unknown kinds are left out.
    :raises ProtocolError: for fields that make no sense.
    """
    found = []
    for fields in drawings:
        kind = _KINDS.get(str(fields.get('kind')))
        if kind is None:
            continue
        drawing = read_reply(kind, fields, WHERE)
        tag, first = drawing.tag or NAMESPACE, drawing.id * _PARTS % _LARGEST
        for number, options in enumerate(drawing.parts()):
            text = options.pop('text', '')
            color = options.pop('color', (*drawing.color, 1.0))
            made = marker(frame, tag, first + number, stamp_ns=stamp_ns, color=color, **options)
            made.text = text
            found.append(made)
    return found


@dataclass(frozen=True, slots=True)
class _Drawing:
    """What every drawing has; lengths in m, quaternions x, y, z, w."""

    id: int
    color: Triple
    tag: str

    def parts(self) -> list[Options]:
        """Return what `marker` needs for each marker of the drawing."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class _Ball(_Drawing):
    location: Triple
    label: str

    def parts(self) -> list[Options]:
        x, y, z = self.location
        size = (2 * _RADIUS,) * 3
        ball = {'kind': Marker.SPHERE, 'pose': Pose((x, y, z)), 'scale': size}
        if not self.label:
            return [ball]
        above = Pose((x, y, z + 2 * _RADIUS))
        letters = {'kind': Marker.TEXT_VIEW_FACING, 'pose': above, 'text': self.label}
        return [ball, {**letters, 'scale': (0.0, 0.0, _LETTERS)}]


@dataclass(frozen=True, slots=True)
class _Line(_Drawing):
    start: Triple = key(wire='from')
    end: Triple = key(wire='to')
    width: float = _LINE

    @property
    def thickness(self) -> float:
        return 2 * max(self.width, _THINNEST)

    def parts(self) -> list[Options]:
        ends, scale = (self.start, self.end), (self.thickness, 0.0, 0.0)
        return [{'kind': Marker.LINE_LIST, 'points': ends, 'scale': scale}]


@dataclass(frozen=True, slots=True)
class _Arrow(_Line):
    def parts(self) -> list[Options]:
        ends, scale = (self.start, self.end), (self.thickness, _HEAD * self.thickness, 0.0)
        return [{'kind': Marker.ARROW, 'points': ends, 'scale': scale}]


@dataclass(frozen=True, slots=True)
class _Box(_Drawing):
    center: Triple
    half_extents: Triple
    rotation_quat: tuple[float, float, float, float]

    def parts(self) -> list[Options]:
        """Return the twelve edges of the box: what is inside stays visible."""
        signs = list(itertools.product((-1.0, 1.0), repeat=3))
        edges = [
            corner
            for a, b in itertools.combinations(signs, 2)
            if sum(left != right for left, right in zip(a, b, strict=True)) == 1
            for corner in (a, b)
        ]
        points = [
            tuple(s * h for s, h in zip(sign, self.half_extents, strict=True)) for sign in edges
        ]
        pose, scale = Pose(self.center, normalize(self.rotation_quat)), (2 * _LINE, 0.0, 0.0)
        return [{'kind': Marker.LINE_LIST, 'pose': pose, 'points': points, 'scale': scale}]


@dataclass(frozen=True, slots=True)
class _Axes(_Drawing):
    location: Triple
    rotation_quat: tuple[float, float, float, float]
    scale: float = 1.0

    def parts(self) -> list[Options]:
        pose, length = Pose(self.location, normalize(self.rotation_quat)), self.scale
        shared = {
            'kind': Marker.ARROW,
            'pose': pose,
            'scale': (0.1 * length, 0.1 * _HEAD * length, 0.0),
        }
        return [
            {
                **shared,
                'points': ((0.0, 0.0, 0.0), tuple(length * part for part in axis)),
                'color': (*axis, 1.0),
            }
            for axis in _AXES
        ]


_KINDS: dict[str, type[_Drawing]] = {
    'marker': _Ball,
    'line': _Line,
    'arrow': _Arrow,
    'box': _Box,
    'axes': _Axes,
}
