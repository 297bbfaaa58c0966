# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The ops of the editor.

They may take long (files, the compiler), so they never run on the request thread, and one waits
for another; begin_pie, stop_pie and pie_status do their own locking.
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
from urlab_ros_bridge.sim.requests.registry import RegisteredOp
from urlab_ros_bridge.sim.requests.registry import Reply
from urlab_ros_bridge.sim.requests.sessions import ServerSession
from urlab_ros_bridge.sim.simulation import SimulationHost
from urlab_ros_bridge.wire.ops import EDITOR_ONLY
from urlab_ros_bridge.wire.ops import Op
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


def editor_ops(editor: LevelEditor) -> list[RegisteredOp]:
    """Return every op of the editor, and read_markers."""
    ops = [
        RegisteredOp(op, _handler(op, editor), seconds=lambda *_: _SLOW, zmq_only=True)
        for op in OPS.values()
        if op.category == EDITOR_ONLY
    ]
    read_markers = functools.partial(_call, ops_debug.read_markers, editor)
    return [*ops, RegisteredOp(OPS['read_markers'], read_markers)]


def _handler(op: Op, editor: LevelEditor) -> Handler:
    modules = _MODULES[op.namespace]
    handler = next(getattr(module, op.name) for module in modules if hasattr(module, op.name))
    call = _call if op.namespace == 'sim' else _call_alone
    return functools.partial(call, handler, editor)


def _call(
    handler: Handler,
    editor: LevelEditor,
    host: SimulationHost,
    session: ServerSession,
    fields: Fields,
) -> Reply:
    return handler(editor, session, fields)


def _call_alone(
    handler: Handler,
    editor: LevelEditor,
    host: SimulationHost,
    session: ServerSession,
    fields: Fields,
) -> Reply:
    with editor.lock:
        return handler(editor, session, fields)
