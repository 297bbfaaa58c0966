# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Debug drawings (namespace debug), and reading them back (extension read_markers)."""

from __future__ import annotations

from typing import Any

import numpy as np

from urlab_ros_bridge.editor.drawings import box_geometry
from urlab_ros_bridge.editor.drawings import HEAD_SHARE
from urlab_ros_bridge.editor.drawings import LINE_WIDTH
from urlab_ros_bridge.editor.editor import LevelEditor
from urlab_ros_bridge.editor.ops.common import color_of
from urlab_ros_bridge.editor.transforms import need_location
from urlab_ros_bridge.editor.transforms import read_rotation
from urlab_ros_bridge.geometry import IDENTITY
from urlab_ros_bridge.sim.requests.fields import Fields
from urlab_ros_bridge.sim.requests.registry import ReplyFields
from urlab_ros_bridge.sim.requests.sessions import ServerSession

MAX_TEXT = 500  # characters of a label or of the overlay's text
MAX_THICKNESS = 1000.0
YELLOW = (1.0, 1.0, 0.0)
AXES_SCALE = 0.2  # m, stock plugin


def draw_marker(editor: LevelEditor, session: ServerSession, fields: Fields) -> ReplyFields:
    """Draw a ball of 5 cm radius, with an optional `label`."""
    label = fields.string('label')[:MAX_TEXT]
    return _draw(editor, fields, 'marker', location=_point(fields, 'location'), label=label)


def draw_line(editor: LevelEditor, session: ServerSession, fields: Fields) -> ReplyFields:
    """Draw a line; `thickness` is in cm, the stock plugin's unit."""
    return _draw(editor, fields, 'line', **_ends(fields), width=_width(fields))


def draw_arrow(editor: LevelEditor, session: ServerSession, fields: Fields) -> ReplyFields:
    """Draw an arrow; `arrow_size` is the length of its head in m, a fifth of it by default."""
    ends = _ends(fields)
    length = float(np.linalg.norm(np.subtract(ends['to'], ends['from'])))
    size = fields.number('arrow_size', 0.0, low=0.0) or HEAD_SHARE * length
    return _draw(editor, fields, 'arrow', **ends, width=_width(fields), arrow_size=size)


def draw_box(editor: LevelEditor, session: ServerSession, fields: Fields) -> ReplyFields:
    """Draw the edges of a box."""
    center, half = _point(fields, 'center'), _point(fields, 'half_extents')
    return _draw(
        editor, fields, 'box', **box_geometry(center, half, read_rotation(fields) or IDENTITY)
    )


def draw_axes(editor: LevelEditor, session: ServerSession, fields: Fields) -> ReplyFields:
    """Draw x in red, y in green and z in blue, `scale` m long."""
    scale = abs(fields.number('scale', AXES_SCALE))
    return _draw(
        editor,
        fields,
        'axes',
        location=_point(fields, 'location'),
        rotation_quat=list(read_rotation(fields) or IDENTITY),
        scale=scale,
    )


def clear_markers(editor: LevelEditor, session: ServerSession, fields: Fields) -> ReplyFields:
    """Remove all drawings, or those with a `tag`; `count` is their number."""
    return {'count': editor.drawings.clear(fields.string('tag')[:MAX_TEXT])}


def set_overlay_text(editor: LevelEditor, session: ServerSession, fields: Fields) -> ReplyFields:
    """Show a line of text for ten seconds; '' removes it."""
    editor.drawings.set_text(
        fields.string('text')[:MAX_TEXT], fields.string('anchor', 'top_left')[:MAX_TEXT]
    )
    return {}


def read_markers(editor: LevelEditor, session: ServerSession, fields: Fields) -> ReplyFields:
    """
    Return the present drawings, the text, and the viewport's camera (extension).

    It is not an op of the editor, so that viewers can always send it.
    """
    text, anchor = editor.drawings.text()
    return {
        'markers': editor.drawings.describe(),
        'text': text,
        'anchor': anchor,
        'camera': editor.viewport.describe(),
    }


def _draw(editor: LevelEditor, fields: Fields, kind: str, **geometry: Any) -> dict[str, Any]:
    ttl = fields.number('ttl', 0.0, low=-1e9, high=1e9)
    tag = fields.string('tag')[:MAX_TEXT]
    editor.drawings.add(kind, color_of(fields, YELLOW), ttl, tag, **geometry)
    return {}


def _point(fields: Fields, name: str) -> list[float]:
    return list(need_location(fields, name))


def _ends(fields: Fields) -> dict[str, list[float]]:
    return {'from': _point(fields, 'from'), 'to': _point(fields, 'to')}


def _width(fields: Fields) -> float:
    return LINE_WIDTH * fields.number('thickness', 1.0, low=0.0, high=MAX_THICKNESS)
