# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""begin_pie, stop_pie, pie_status (namespace sim): "play in editor", PIE, is a running world."""

from __future__ import annotations

from typing import Any

from urlab_ros_bridge.editor.editor import LevelEditor
from urlab_ros_bridge.editor.ops.levels import read_level
from urlab_ros_bridge.editor.play import READY
from urlab_ros_bridge.sim.requests.fields import Fields
from urlab_ros_bridge.sim.requests.registry import ReplyFields
from urlab_ros_bridge.sim.requests.sessions import ServerSession
from urlab_ros_bridge.sim.streams.handshake import hello_reply

DEFAULT_TIMEOUT = 30.0  # s, stock plugin
MAX_TIMEOUT = 3600.0


def begin_pie(editor: LevelEditor, session: ServerSession, fields: Fields) -> ReplyFields:
    """
    Compile the open level and run it; one that runs already continues.

    With `level_path` that level is opened first, and play starts over.  On ready the reply holds
    what a hello would answer, with this session's id; for a plain session it counts as a hello.
    """
    timeout = fields.number('timeout_s', DEFAULT_TIMEOUT, low=0.0, high=MAX_TIMEOUT)
    wanted = fields.string('level_path')
    with editor.lock:
        if wanted:
            editor.open(read_level(editor, wanted, 'load_level_failed'))
    state = editor.begin(timeout, promote=not session.shared)
    reply: dict[str, Any] = {'state': state, 'compile_error': editor.play.error}
    simulation = editor.host.simulation
    if state == READY and simulation is not None:
        if not session.shared:
            simulation.engine.run.promote_to_direct()
        revision = editor.host.revision
        reply['handshake_payload'] = hello_reply(editor.host, simulation, session, revision)
    return reply


def stop_pie(editor: LevelEditor, session: ServerSession, fields: Fields) -> ReplyFields:
    """Stop the running world; do nothing when none runs."""
    editor.play.stop()
    return {}


def pie_status(editor: LevelEditor, session: ServerSession, fields: Fields) -> ReplyFields:
    """Return off, compiling, compile_failed or ready, and the time of a running world."""
    reply: dict[str, Any] = {'state': editor.play.state, 'compile_error': editor.play.error}
    running = editor.running()
    if running is not None:
        reply['sim_time'] = running.sim_time
    return reply
