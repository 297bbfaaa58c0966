# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""An op: the mass of a robot."""

from urlab_ros_bridge.sim.errors import unknown
from urlab_ros_bridge.sim.extensions import Extension
from urlab_ros_bridge.sim.requests.fields import Fields
from urlab_ros_bridge.sim.requests.registry import RegisteredOp
from urlab_ros_bridge.sim.requests.registry import ReplyFields
from urlab_ros_bridge.sim.requests.sessions import ServerSession
from urlab_ros_bridge.sim.simulation import Simulation
from urlab_ros_bridge.sim.simulation import SimulationHost
from urlab_ros_bridge.wire.ops import MANAGER_REQUIRED
from urlab_ros_bridge.wire.ops import Op

ROBOT_MASS = Op(
    'robot_mass',
    MANAGER_REQUIRED,
    'runtime',
    required=('articulation',),
    reply=('articulation:string', 'mass:float'),
    extension=True,
)


def robot_mass(simulation: Simulation, session: ServerSession, fields: Fields) -> ReplyFields:
    """Return the mass of a robot (kg)."""
    world, prefix = simulation.world, fields.string('articulation')
    if prefix not in world.articulations:
        raise unknown('unknown_articulation', 'articulation', prefix, world.articulations)
    bodies = [body.id for body in world.articulations[prefix].bodies.values()]
    return {'articulation': prefix, 'mass': float(world.model.body_mass[bodies].sum())}


def extend(host: SimulationHost) -> Extension:
    """Add the op."""
    return Extension([RegisteredOp(ROBOT_MASS, robot_mass)])
