# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The viewport: pose and view mode of the free camera (namespace viewport)."""

from __future__ import annotations

from urlab_ros_bridge.editor.editor import LevelEditor
from urlab_ros_bridge.editor.ops.common import actor_path
from urlab_ros_bridge.editor.ops.common import failing_as
from urlab_ros_bridge.editor.ops.common import target_of
from urlab_ros_bridge.editor.ops.common import text_of
from urlab_ros_bridge.editor.ops.common import three
from urlab_ros_bridge.editor.transforms import need_location
from urlab_ros_bridge.editor.transforms import read_rotation
from urlab_ros_bridge.editor.viewport import DEFAULT_OFFSET
from urlab_ros_bridge.editor.viewport import MAX_SMOOTHING
from urlab_ros_bridge.editor.viewport import Tracking
from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.sim.cameras.free_camera import VIEW_MODES
from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.requests.fields import bad_value
from urlab_ros_bridge.sim.requests.fields import Fields
from urlab_ros_bridge.sim.requests.registry import ReplyFields
from urlab_ros_bridge.sim.requests.sessions import ServerSession

LEAST_FOV, GREATEST_FOV = 1.0, 170.0  # degrees


def set_camera(editor: LevelEditor, session: ServerSession, fields: Fields) -> ReplyFields:
    """Place the camera; a rotation or `fov` (horizontal, degrees) that is not given stays."""
    view = editor.viewport
    fov = fields.number('fov')
    if fov is not None and fov > 0:
        if not LEAST_FOV <= fov <= GREATEST_FOV:
            raise bad_value('fov', fov, f'within [{LEAST_FOV:g}, {GREATEST_FOV:g}] degrees')
        view.fov = fov
    place = need_location(fields)
    view.pose = Pose(place, read_rotation(fields) or view.pose.orientation)
    editor.aim()
    return view.describe()


def get_camera(editor: LevelEditor, session: ServerSession, fields: Fields) -> ReplyFields:
    """Return the pose of the camera."""
    return editor.viewport.describe()


def frame_actor(editor: LevelEditor, session: ServerSession, fields: Fields) -> ReplyFields:
    """Move the camera, without turning it, until an actor is in view."""
    target = target_of(editor, fields)
    with failing_as('no_bounds'):
        bounds = editor.bounds(target, live=True)
    if bounds is None or target.kind == 'light':
        raise OpError('no_bounds', f'{target.name} has no bounded geometry')
    editor.viewport.frame(*bounds)
    editor.aim()
    return editor.viewport.describe()


def set_viewport_mode(editor: LevelEditor, session: ServerSession, fields: Fields) -> ReplyFields:
    """Set the view mode; the reply's op is set_mode_ok, as in the stock plugin."""
    mode = text_of(fields, 'mode').lower()
    if mode not in VIEW_MODES:
        raise OpError('invalid_mode', f'{mode!r:.40} is not one of {", ".join(VIEW_MODES)}')
    editor.viewport.mode = mode
    editor.aim()
    return {'op': 'set_mode_ok', 'mode': mode}


def track_actor(editor: LevelEditor, session: ServerSession, fields: Fields) -> ReplyFields:
    """
    Make the camera follow an actor from `offset` (m, in its frame), looking at it.

    `smoothing` is from 0 (immediately) to 0.99 (slowly).
    """
    target = target_of(editor, fields)
    offset = three(fields, 'offset', DEFAULT_OFFSET)
    smoothing = min(max(fields.number('smoothing', 0.0), 0.0), MAX_SMOOTHING)
    editor.viewport.track(Tracking(target.name, offset, smoothing))
    return {'tracked_actor_path': actor_path(editor.level, target.name)}


def untrack(editor: LevelEditor, session: ServerSession, fields: Fields) -> ReplyFields:
    """Stop following; the camera keeps its pose."""
    return {'was_tracking': editor.viewport.untrack()}
