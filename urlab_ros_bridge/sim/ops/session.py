# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""hello, meta and status: sessions and what the server is doing."""

from __future__ import annotations

from typing import Any

from urlab_ros_bridge.sim.context import Context
from urlab_ros_bridge.sim.dispatcher import PreSession
from urlab_ros_bridge.sim.fields import Fields
from urlab_ros_bridge.sim.handshake import handshake
from urlab_ros_bridge.sim.registry import Registry
from urlab_ros_bridge.sim.sessions import Session
from urlab_ros_bridge.wire.ops import OBSERVATION_LEVELS
from urlab_ros_bridge.wire.stamp import ns_to_block


def pre_session_ops(registry: Registry) -> dict[str, PreSession]:
    """Return the handlers of hello and meta, which need no session."""
    payload: dict[str, Any] = {}

    def hello(context: Context, fields: Fields) -> tuple[Session, dict[str, Any]]:
        if not payload:
            payload.update(handshake(context))
        session = _open_session(context, fields)
        return session, {'session_id': session.id, **payload}

    def meta(context: Context, fields: Fields) -> tuple[Session, dict[str, Any]]:
        return context.sessions.last_plain, {'ops': registry.meta()}

    return {'hello': hello, 'meta': meta}


def _open_session(context: Context, fields: Fields) -> Session:
    """
    Open the session that a hello asks for; a hello never fails for what it asks.

    The first plain one promotes `auto` to direct unless a mode was set before (Networking page).
    """
    level = fields.string('observations', context.sessions.last_plain.observations)
    encoding = fields.string('encoding').lower()
    session = Session(
        encoding='json' if encoding == 'json' else 'msgpack',
        observations=level if level in OBSERVATION_LEVELS else 'standard',
        shared=fields.boolean('shared'),
        client=(fields.string('client') or fields.string('client_version'))[:64],
        step_offset=context.engine.steps,
    )
    context.sessions.open(session)
    engine = context.engine
    if not session.shared and not engine.mode_chosen:
        with engine.lock:
            if not engine.mode_chosen:
                engine.set_mode('direct')
    return session


def status(context: Context, session: Session, fields: Fields) -> dict[str, Any]:
    """Return mode, pace and sessions; takes no lock, so it answers during a long step too."""
    engine, meter = context.engine, context.live.meter
    return {
        'mode': engine.mode,
        'pinned': engine.pinned,
        'paused': engine.paused,
        'speed': engine.speed * 100.0,
        'real_time_factor': meter.real_time_factor,
        'tick_rate': meter.tick_rate,
        'sim_time': ns_to_block(engine.stamp_ns),
        'step': engine.steps,
        'sessions': context.sessions.connected(),
        'cameras': 0,
        'world': context.world.name,
    }


def register(registry: Registry) -> None:
    """Add the ops of this module."""
    registry.register('status', status, locked=False)
