# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Mode, pause, speed, control source, twist, gains, claims, navigation targets, the e-stop."""

from __future__ import annotations

import logging
import math

from urlab_ros_bridge.sim.admission import admit
from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.ops.commands import entity_of
from urlab_ros_bridge.sim.ops.commands import read_twist
from urlab_ros_bridge.sim.physics.control.controllers import InvalidControllerParameters
from urlab_ros_bridge.sim.requests.claims import DEFAULT_TTL
from urlab_ros_bridge.sim.requests.claims import MAX_TTL
from urlab_ros_bridge.sim.requests.claims import owner_of
from urlab_ros_bridge.sim.requests.fields import Fields
from urlab_ros_bridge.sim.requests.fields import MAX_MAGNITUDE
from urlab_ros_bridge.sim.requests.registry import Registry
from urlab_ros_bridge.sim.requests.registry import ReplyFields
from urlab_ros_bridge.sim.requests.sessions import ServerSession
from urlab_ros_bridge.sim.simulation import Simulation
from urlab_ros_bridge.sim.simulation import SimulationHost
from urlab_ros_bridge.wire.ops import AUTO
from urlab_ros_bridge.wire.ops import CONTROL_SOURCES
from urlab_ros_bridge.wire.ops import GOAL
from urlab_ros_bridge.wire.ops import MODE_ALIASES
from urlab_ros_bridge.wire.ops import MODES
from urlab_ros_bridge.wire.ops import NAVIGATION_KINDS
from urlab_ros_bridge.wire.ops import SPEED_PERCENT

_LOG = logging.getLogger(__name__)


def set_mode(simulation: Simulation, session: ServerSession, fields: Fields) -> ReplyFields:
    """
    Switch live, direct, puppet or auto: live until the next plain hello, which makes it direct.

    The reply has the mode that is in force, so for auto that is live.
    """
    engine = simulation.engine
    if engine.run.pinned:
        raise OpError(
            'mode_locked_by_server',
            f'the server was started in {engine.run.mode} mode, which cannot be changed',
        )
    name = fields.need('mode')
    word = name.lower() if isinstance(name, str) else ''
    mode = 'live' if word == AUTO else MODE_ALIASES.get(word)
    if mode is None:
        raise OpError('bad_mode', f'{name!r:.60} is not one of {", ".join((*MODES, AUTO))}')
    previous = engine.run.set_mode(mode)
    engine.run.mode_chosen = word != AUTO
    return {'previous_mode': previous, 'current_mode': mode}


def set_paused(simulation: Simulation, session: ServerSession, fields: Fields) -> ReplyFields:
    """Stop or resume time."""
    paused = fields.boolean('paused')
    if simulation.engine.run.set_paused(paused):
        simulation.engine.state_changed()
    return {'paused': paused}


def set_sim_speed(simulation: Simulation, session: ServerSession, fields: Fields) -> ReplyFields:
    """Set the pace of live mode in percent of real time, clamped to [5, 100]."""
    low, high = SPEED_PERCENT
    percent = min(max(fields.need_number('percent'), low), high)
    simulation.engine.run.speed = percent / 100.0
    return {'percent': percent}


def set_control_source(
    simulation: Simulation, session: ServerSession, fields: Fields
) -> ReplyFields:
    """Choose whose setpoints the actuators read, for one articulation or all."""
    fields.need('source')
    source = fields.choice('source', CONTROL_SOURCES)
    controls = simulation.engine.controls
    if 'articulation' not in fields:
        admit(simulation, controls, session, fields, moves=False)
        for control in controls.values():
            control.source = source
        return {'source': source, 'scope': 'global'}
    articulation = simulation.world.articulation(fields.need('articulation'))
    admit(simulation, (articulation.prefix,), session, fields, moves=False)
    controls[articulation.prefix].source = source
    return {'source': source, 'scope': 'articulation', 'articulation': articulation.prefix}


def set_twist(simulation: Simulation, session: ServerSession, fields: Fields) -> ReplyFields:
    """
    Command a twist: vx, vy (m/s) and yaw rate (rad/s) in the base frame; absent slots are 0.

    Without `articulation` the only one is meant.  The extension `timeout` (simulated seconds)
    stops the robot unless a new command comes; so does `wall_timeout` (s) while time is frozen.
    The reply holds what the limits leave.
    """
    articulation = simulation.world.articulation(_the_articulation(simulation, fields))
    command = read_twist(simulation, simulation.engine.controls[articulation.prefix], fields)
    if any(command.linear) or any(command.angular):  # everybody may stop a robot
        admit(simulation, (articulation.prefix,), session, fields)
    vx, vy, yaw = command.apply(simulation.world.data.time)
    return {
        'articulation': articulation.prefix,
        'linear': [vx, vy, 0.0],
        'angular': [0.0, 0.0, yaw],
    }


def configure_controller(
    simulation: Simulation, session: ServerSession, fields: Fields
) -> ReplyFields:
    """Patch the gains of a controller; the reply echoes the whole configuration."""
    articulation = simulation.world.articulation(fields.need('articulation'))
    admit(simulation, (articulation.prefix,), session, fields, moves=False)
    controller = simulation.engine.controls[articulation.prefix].controller
    if controller is None:
        raise OpError('no_controller', f'{articulation.prefix} has no controller')
    try:
        controller.configure(fields.mapping('params'))
    except InvalidControllerParameters as error:
        raise OpError('controller_schema_violation', str(error)) from error
    return {'articulation': articulation.prefix, 'params': controller.params()}


def _the_articulation(simulation: Simulation, fields: Fields) -> str:
    name = fields.string('articulation')
    if name:
        return name
    prefixes = list(simulation.world.articulations)
    if len(prefixes) != 1:
        raise OpError(
            'missing_field', 'articulation (there are ' + (', '.join(prefixes) or 'none') + ')'
        )
    return prefixes[0]


def _claimable(simulation: Simulation, fields: Fields) -> str:
    entity = entity_of(simulation, fields.need('articulation'))
    if entity is not None:
        return entity.name
    return simulation.world.articulation(fields.need('articulation')).prefix


def claim_control(simulation: Simulation, session: ServerSession, fields: Fields) -> ReplyFields:
    """
    Claim an articulation: from then on commands of others are refused with not_control_owner.

    The claim ends `ttl_s` after the owner's last claim or command, or with release_control.
    """
    prefix = _claimable(simulation, fields)
    admit(simulation, (), session, fields)
    ttl = fields.number('ttl_s', DEFAULT_TTL, low=0.1, high=MAX_TTL)
    owner = owner_of(session, fields)
    simulation.claims.claim(prefix, owner, ttl, force=fields.boolean('force'))
    shown = fields.string('control_owner') or owner.label
    return {'articulation': prefix, 'owner': shown, 'ttl_s': ttl}


def release_control(simulation: Simulation, session: ServerSession, fields: Fields) -> ReplyFields:
    """End the own claim of an articulation."""
    prefix = _claimable(simulation, fields)
    simulation.claims.release(prefix, owner_of(session, fields))
    return {'articulation': prefix}


def set_navigation_target(
    simulation: Simulation, session: ServerSession, fields: Fields
) -> ReplyFields:
    """
    Announce where a robot is to go, or where it is, to clients that navigate (extension).

    `x`, `y` (m) and `yaw` (rad) are in the world frame.  Nothing moves by itself: `status` reports
    the target for some seconds, and the ROS bridge publishes it.
    """
    prefix = simulation.world.articulation(fields.need('articulation')).prefix
    if simulation.engine.controls[prefix].twist is None:
        raise OpError('no_twist_controller', f'{prefix} has no twist controller: it cannot drive')
    fields.need('kind')
    kind = fields.choice('kind', NAVIGATION_KINDS)
    x, y, yaw = (
        fields.need_number(name, low=-MAX_MAGNITUDE, high=MAX_MAGNITUDE)
        for name in ('x', 'y', 'yaw')
    )
    admit(simulation, (prefix,), session, fields, moves=kind == GOAL)
    target = {'articulation': prefix, 'kind': kind, 'x': x, 'y': y, 'yaw': yaw}
    return {'id': simulation.navigation.announce(target)}


def e_stop(host: SimulationHost, session: ServerSession, fields: Fields) -> ReplyFields:
    """
    Engage or release the e-stop of the server (extension).

    Engaging stops all robots with the next sub-step, also within a running step request: bases
    come to rest, moving joints hold their position, speeds and forces become zero.  Until it is
    released, commands that move something are refused; steps advance time without their commands.
    Engaging takes no lock, so nothing delays it.  Releasing starts nothing.
    """
    engaged = fields.boolean('engaged')
    if engaged is not host.e_stop:
        what = 'engaged' if engaged else 'released'
        _LOG.warning('%s %s the e-stop', session.client or 'a client', what)
    if engaged:
        host.engage_e_stop()
    else:
        host.release_e_stop()
    return {'engaged': host.e_stop}


def register(registry: Registry) -> None:
    """Add the ops of this module."""
    registry.register(set_mode, set_paused, set_control_source, set_twist, urgent=True)
    registry.register(configure_controller, set_sim_speed, claim_control, release_control)
    registry.register(set_navigation_target)
    # Releasing may wait for the model's lock, so it must not keep the request thread.
    registry.register(
        e_stop,
        locked=False,
        seconds=lambda host, fields: 0.0 if fields.boolean('engaged') else math.inf,
    )
