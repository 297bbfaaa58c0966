# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Which commands may be carried out: the one place that knows of the e-stop and of claims.

Whatever moves something passes here with the model's lock held, after its last wait and before its
first write: the e-stop, a claim or a reset may come while a request waits.
"""

from __future__ import annotations

from collections.abc import Iterable

from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.model.world import World
from urlab_ros_bridge.sim.requests.fields import Fields
from urlab_ros_bridge.sim.requests.sessions import ServerSession
from urlab_ros_bridge.sim.simulation import Simulation


def admit(
    simulation: Simulation,
    prefixes: Iterable[str],
    session: ServerSession | None,
    fields: Fields | None,
    *,
    moves: bool = True,
) -> None:
    """
    Admit a command, and renew the claims of its owner.  Needs the lock.

    :param prefixes: of the articulations that it is for.
    :param session: None, as `fields`, for the control stream, whose senders are unknown.
    :param moves: it moves something; what does not is also possible during an e-stop.
    :raises OpError: e_stop_engaged, not_control_owner; nothing may be written then.
    """
    if moves and was_stopped(simulation, fields):
        raise OpError(
            'e_stop_engaged', 'the e-stop is engaged; e_stop with engaged false releases it'
        )
    simulation.claims.check(prefixes, session, fields)


def was_stopped(simulation: Simulation, fields: Fields | None) -> bool:
    """Return whether the e-stop is engaged, or was at any time since the request arrived."""
    run = simulation.engine.run
    return run.e_stop or (fields is not None and run.e_stops != fields.e_stops)


def prefixes_of(world: World, bodies: Iterable[int]) -> set[str]:
    """
    Return what can be claimed of bodies (ids): the prefixes of their articulations, and entities.

    Entities can be claimed in the dialect of v0.6 alone.
    """
    bodies = set(bodies)
    prefixes = {world.tables.bodies[body].prefix for body in bodies} & set(world.articulations)
    return prefixes | {name for name, each in world.entities.items() if each.body in bodies}
