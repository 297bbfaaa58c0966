# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""hello, meta and status: sessions and what the server is doing."""

from __future__ import annotations

from typing import Any

from urlab_ros_bridge.sim.dispatcher import PreSession
from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.requests.fields import Fields
from urlab_ros_bridge.sim.requests.fields import MAX_NAME
from urlab_ros_bridge.sim.requests.registry import Registry
from urlab_ros_bridge.sim.requests.registry import ReplyFields
from urlab_ros_bridge.sim.requests.sessions import ServerSession
from urlab_ros_bridge.sim.simulation import SimulationHost
from urlab_ros_bridge.sim.streams.handshake import divergence_block
from urlab_ros_bridge.sim.streams.handshake import hello_reply
from urlab_ros_bridge.wire.ops import OBSERVATION_LEVELS
from urlab_ros_bridge.wire.stamp import ns_to_block


def pre_session_ops(registry: Registry) -> dict[str, PreSession]:
    """Return the handlers of hello and meta, which need no session."""

    def hello(host: SimulationHost, fields: Fields) -> tuple[ServerSession, dict[str, Any]]:
        revision, simulation = host.revision, host.simulation
        session = _read_session(host, fields, revision)
        reply = hello_reply(host, simulation, session, revision)
        if host.shm is not None and fields.boolean('shm_channel'):
            reply.update(shm_session_dir=host.shm_dir, shm_channel=host.shm.open_channel())
        if simulation:
            if not session.shared:
                # The first plain one promotes `auto` to direct unless a mode was set before
                # (Networking page).
                simulation.engine.run.promote_to_direct()
            session.steps_from = simulation.engine.clock.counter
        host.sessions.open(session)
        return session, reply

    def meta(host: SimulationHost, fields: Fields) -> tuple[ServerSession, dict[str, Any]]:
        try:
            session = host.sessions.find(fields.string('session_id'))
        except OpError:
            session = host.sessions.last_plain
        return session, {'ops': registry.meta()}

    return {'hello': hello, 'meta': meta}


def _read_session(host: SimulationHost, fields: Fields, revision: int) -> ServerSession:
    """
    Return the session that a hello asks for; unknown levels and encodings count as absent.

    A plain one without a level keeps that of the plain session before it, as stock servers do.  A
    shared one that names a `session_id` (extension) keeps the claims of that session.
    """
    shared = fields.boolean('shared')
    usual = 'standard' if shared else host.sessions.last_plain.observations
    level = fields.string('observations', usual)
    encoding = fields.string('encoding').lower()
    client = (fields.string('client') or fields.string('client_version'))[:64]
    return ServerSession(
        encoding='json' if encoding == 'json' else 'msgpack',
        observations=level if level in OBSERVATION_LEVELS else 'standard',
        shared=shared,
        client=client,
        camera_header=fields.string('camera_header', longest=MAX_NAME),
        include_assets=fields.boolean('include_assets'),
        published_state=fields.boolean('published_state', shared),
        revision=revision,
        owner=host.sessions.owner(fields.string('session_id')) if shared else '',
    )


def status(host: SimulationHost, session: ServerSession, fields: Fields) -> ReplyFields:
    """
    Return mode, pace and sessions; takes no lock, so it answers during a long step too.

    Without a world there are only the sessions, and `mode` is ''.  `fault` is there only when the
    live loop broke and therefore paused the world, `divergence` only when the simulation became
    unstable since the last reset.
    """
    simulation, sessions = host.simulation, host.sessions.connected()
    if simulation is None:
        return {
            'mode': '',
            'paused': True,
            'sessions': sessions,
            'cameras': 0,
            'world': '',
            'e_stop': host.e_stop,
            'world_revision': host.revision,
        }
    engine, meter = simulation.engine, simulation.live.meter
    reply = {
        'mode': engine.run.mode,
        'pinned': engine.run.pinned,
        'paused': engine.run.paused,
        'speed': engine.run.speed * 100.0,
        'real_time_factor': meter.real_time_factor,
        'tick_rate': meter.tick_rate,
        'sim_time': ns_to_block(engine.clock.stamp_ns),
        'step': engine.clock.steps,
        'sessions': sessions,
        'cameras': simulation.cameras.watched,
        'world': simulation.world.name,
        'world_revision': host.revision,
        'recording': simulation.recorder.report(),
        'control_stream': simulation.inbound.report(),
        'e_stop': host.e_stop,
        'navigation_targets': simulation.navigation.report(),
        **divergence_block(engine),
    }
    if engine.run.fault:
        reply['fault'] = engine.run.fault
    return reply


def register(registry: Registry) -> None:
    """Add the ops of this module."""
    registry.register(status)
