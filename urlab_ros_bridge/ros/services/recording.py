# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Services that record and replay; a server without these ops answers unknown_op."""

from __future__ import annotations

import math
from typing import Any

from urlab_ros_bridge.ros.features.declarations import RequestRejected
from urlab_ros_bridge.ros.features.declarations import Service
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.services.base import BAD_VALUE
from urlab_ros_bridge.ros.services.context import ServiceContext
from urlab_ros_bridge.wire.errors import count_of


def recording_start(context: ServiceContext, request: Any, response: Any) -> str:
    """Start recording."""
    limit = request.max_duration_s
    if not math.isfinite(limit) or limit < 0:
        raise RequestRejected(
            BAD_VALUE, f'max_duration_s is {limit}, must be 0 (no limit) or more'
        )
    session = context.client.recording_start(request.name or None, limit or None)
    kept = request.name and context.link.has('recording_name')
    response.name = context.recording_name = request.name if kept else session
    response.max_duration_s = limit
    return f'recording {response.name!r}'


def recording_stop(context: ServiceContext, request: Any, response: Any) -> str:
    """Stop recording."""
    recording = context.client.recording_stop()
    # The server calls the recording after its session, whatever name was given.
    response.name = context.recording_name or recording.name
    response.frame_count = recording.frame_count
    response.sim_duration_s = recording.duration
    return f'{count_of(recording.frame_count, "frame")} of {recording.duration:.6g} s'


def recording_save(context: ServiceContext, request: Any, response: Any) -> str:
    """Write the recording to the server's disk."""
    # A stock server replaces an existing file.
    response.absolute_path = context.client.recording_save(
        request.path or None, overwrite=not context.link.has('recording_overwrite')
    )
    return f'saved as {response.absolute_path}'


def recording_clear(context: ServiceContext, request: Any, response: Any) -> str:
    """Discard the recording."""
    context.client.recording_clear()
    return 'cleared'


def replay_load(context: ServiceContext, request: Any, response: Any) -> str:
    """Load a recording from the server's disk."""
    if not request.path:
        raise RequestRejected('missing_field', 'path is empty')
    loaded = context.client.replay_load(request.path)
    response.name, response.total_frames = loaded.name, loaded.total_frames
    frames = f', {count_of(loaded.total_frames, "frame")}' if loaded.total_frames else ''
    return f'loaded as {loaded.name!r}{frames}'


def replay_list_sessions(context: ServiceContext, request: Any, response: Any) -> str:
    """List the sessions that can be replayed."""
    response.sessions = list(context.client.replay_list_sessions())
    return ', '.join(response.sessions) or 'none'


def replay_set_active(context: ServiceContext, request: Any, response: Any) -> str:
    """Choose the session to replay."""
    if not request.name:
        raise RequestRejected(
            'missing_field', 'name is empty; replay_list_sessions lists the names'
        )
    context.client.replay_set_active(request.name)
    return f'active: {request.name!r}'


def replay_start(context: ServiceContext, request: Any, response: Any) -> str:
    """Replay the active session."""
    started = context.client.replay_start()
    response.active_session = started.active_session
    response.total_frames = started.total_frames
    return f'replaying {started.active_session!r}, {count_of(started.total_frames, "frame")}'


def replay_stop(context: ServiceContext, request: Any, response: Any) -> str:
    """Stop the replay."""
    context.client.replay_stop()
    return 'stopped'


SERVICES = (
    Service('recording_start', 'urlab_msgs/srv/RecordingStart', recording_start),
    Service('recording_stop', 'urlab_msgs/srv/RecordingStop', recording_stop),
    Service('recording_save', 'urlab_msgs/srv/RecordingSave', recording_save),
    Service('recording_clear', 'urlab_msgs/srv/RecordingClear', recording_clear),
    Service('replay_load', 'urlab_msgs/srv/ReplayLoad', replay_load),
    Service('replay_list_sessions', 'urlab_msgs/srv/ReplayListSessions', replay_list_sessions),
    Service('replay_set_active', 'urlab_msgs/srv/ReplaySetActive', replay_set_active),
    Service('replay_start', 'urlab_msgs/srv/ReplayStart', replay_start),
    Service('replay_stop', 'urlab_msgs/srv/ReplayStop', replay_stop),
)

FEATURE = Feature('recording', services=SERVICES)
