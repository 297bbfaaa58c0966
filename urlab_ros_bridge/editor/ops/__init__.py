# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The editor's ops in the registry.

They may take long (files, the compiler), so they never run on the request thread,
and they keep each other out; begin_pie, stop_pie and pie_status look after that themselves.
"""

from __future__ import annotations

import functools

from urlab_ros_bridge.editor.editor import LevelEditor
from urlab_ros_bridge.editor.ops import debug as ops_debug
from urlab_ros_bridge.editor.ops import levels as ops_level
from urlab_ros_bridge.editor.ops import outliner as ops_outliner
from urlab_ros_bridge.editor.ops import play as ops_play
from urlab_ros_bridge.editor.ops import scene as ops_scene
from urlab_ros_bridge.editor.ops import viewport as ops_viewport
from urlab_ros_bridge.sim.requests.fields import Fields
from urlab_ros_bridge.sim.requests.registry import Handler
from urlab_ros_bridge.sim.requests.registry import Registry
from urlab_ros_bridge.sim.requests.registry import Reply
from urlab_ros_bridge.sim.requests.sessions import ServerSession
from urlab_ros_bridge.wire.ops import EDITOR_ONLY
from urlab_ros_bridge.wire.ops import OPS

# Where the handlers of a namespace are.
_MODULES = {
    'scene': (ops_level, ops_scene),
    'sim': (ops_play,),
    'outliner': (ops_outliner,),
    'debug': (ops_debug,),
    'viewport': (ops_viewport,),
}
_SLOW = 1.0  # s, the estimate of every op


def register(registry: Registry) -> None:
    """Add every op of the editor, and read_markers."""
    for name, op in OPS.items():
        if op.category == EDITOR_ONLY:
            handler = _handler(name, op.namespace)
            if op.namespace != 'sim':
                handler = _one_at_a_time(handler)
            registry.register(handler, seconds=lambda *_: _SLOW)
    registry.register(ops_debug.read_markers)


def _handler(name: str, namespace: str) -> Handler:
    return next(getattr(module, name) for module in _MODULES[namespace] if hasattr(module, name))


def _one_at_a_time(handler: Handler) -> Handler:
    @functools.wraps(handler)
    def call(editor: LevelEditor, session: ServerSession, fields: Fields) -> Reply:
        with editor.lock:
            return handler(editor, session, fields)

    return call
