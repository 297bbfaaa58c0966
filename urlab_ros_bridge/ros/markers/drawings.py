# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""markers/drawings: what clients have drawn with the debug ops, as read_markers tells it."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
import itertools
from typing import Any

from visualization_msgs.msg import Marker

from urlab_ros_bridge.client import fields as f
from urlab_ros_bridge.client.errors import ProtocolError
from urlab_ros_bridge.ros.convert.frames import normalize
from urlab_ros_bridge.ros.description import Pose
from urlab_ros_bridge.ros.markers.messages import marker

NAMESPACE = 'drawings'
WHERE = 'read_markers_ok'
_RADIUS = 0.05
_LINE = 0.005
_LETTERS = 0.1
_HEAD = 2.5  # diameter of an arrow's head, in those of its shaft
_AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
_PARTS = 4  # markers that one drawing needs at most
_LARGEST = 2**31


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
    for drawing in drawings:
        maker = _MAKERS.get(drawing.get('kind'))
        if maker is None:
            continue
        tag = f.text(drawing, 'tag', WHERE) or NAMESPACE
        color = (*f.vector(drawing, 'color', WHERE).tolist(), 1.0)
        if len(color) != 4:
            raise ProtocolError(f'{WHERE}: color has {len(color) - 1} parts, needs 3')
        first = f.integer(drawing, 'id', WHERE) * _PARTS % _LARGEST
        for number, options in enumerate(maker(drawing, color)):
            text = options.pop('text', '')
            made = marker(frame, tag, first + number, stamp_ns=stamp_ns, **options)
            made.text = text
            found.append(made)
    return found


def _vector(drawing: Mapping[str, Any], name: str, length: int = 3) -> tuple[float, ...]:
    values = f.vector(drawing, name, WHERE)
    if len(values) != length:
        raise ProtocolError(f'{WHERE}: {name} has {len(values)} numbers, needs {length}')
    return tuple(values.tolist())


def _pose(drawing: Mapping[str, Any], place: str) -> Pose:
    turn = normalize(_vector(drawing, 'rotation_quat', 4))
    return Pose(_vector(drawing, place), turn)


def _ball(drawing: Mapping[str, Any], color: tuple) -> list[dict[str, Any]]:
    x, y, z = _vector(drawing, 'location')
    size = (2 * _RADIUS,) * 3
    made = [{'kind': Marker.SPHERE, 'pose': Pose((x, y, z)), 'scale': size, 'color': color}]
    if label := f.text(drawing, 'label', WHERE):
        above = Pose((x, y, z + 2 * _RADIUS))
        letters = {'kind': Marker.TEXT_VIEW_FACING, 'pose': above, 'text': label, 'color': color}
        made.append({**letters, 'scale': (0.0, 0.0, _LETTERS)})
    return made


def _line(drawing: Mapping[str, Any], color: tuple) -> list[dict[str, Any]]:
    width = (2 * max(f.number(drawing, 'width', WHERE, _LINE), 1e-4), 0.0, 0.0)
    ends = _vector(drawing, 'from'), _vector(drawing, 'to')
    return [{'kind': Marker.LINE_LIST, 'points': ends, 'scale': width, 'color': color}]


def _arrow(drawing: Mapping[str, Any], color: tuple) -> list[dict[str, Any]]:
    width = 2 * max(f.number(drawing, 'width', WHERE, _LINE), 1e-4)
    ends = _vector(drawing, 'from'), _vector(drawing, 'to')
    scale = (width, _HEAD * width, 0.0)
    return [{'kind': Marker.ARROW, 'points': ends, 'scale': scale, 'color': color}]


def _box(drawing: Mapping[str, Any], color: tuple) -> list[dict[str, Any]]:
    """Return the twelve edges of a box: what is inside stays in sight."""
    half = _vector(drawing, 'half_extents')
    signs = list(itertools.product((-1.0, 1.0), repeat=3))
    edges = [
        corner
        for a, b in itertools.combinations(signs, 2)
        if sum(left != right for left, right in zip(a, b, strict=True)) == 1
        for corner in (a, b)
    ]
    points = [tuple(s * h for s, h in zip(sign, half, strict=True)) for sign in edges]
    options = {'kind': Marker.LINE_LIST, 'pose': _pose(drawing, 'center'), 'points': points}
    return [{**options, 'scale': (2 * _LINE, 0.0, 0.0), 'color': color}]


def _triad(drawing: Mapping[str, Any], color: tuple) -> list[dict[str, Any]]:
    pose, length = _pose(drawing, 'location'), f.number(drawing, 'scale', WHERE, 1.0)
    scale = (0.1 * length, 0.1 * _HEAD * length, 0.0)
    return [
        {
            'kind': Marker.ARROW,
            'pose': pose,
            'points': ((0.0, 0.0, 0.0), tuple(length * part for part in axis)),
            'scale': scale,
            'color': (*axis, 1.0),
        }
        for axis in _AXES
    ]


_MAKERS = {'marker': _ball, 'line': _line, 'arrow': _arrow, 'box': _box, 'axes': _triad}
