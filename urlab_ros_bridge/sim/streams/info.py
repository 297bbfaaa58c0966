# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The info stream: which actuators and cameras there are (port 5557 of the stock plugin).

One JSON message per articulation, in live mode only: every 50 turns of the live loop for the first
2500, then every 500, and at once for a new subscriber.  Nothing is built without subscribers.
"""

from __future__ import annotations

import mujoco

from urlab_ros_bridge.model import RobotModel
from urlab_ros_bridge.sim.model.sidecar.specs import ArticulationSpec
from urlab_ros_bridge.sim.physics.live import IDLE_BEAT
from urlab_ros_bridge.sim.simulation import Simulation
from urlab_ros_bridge.sim.streams.handshake import articulation_block
from urlab_ros_bridge.transport.publisher import Publisher
from urlab_ros_bridge.wire.control import ActuatorList
from urlab_ros_bridge.wire.control import pack_info
from urlab_ros_bridge.wire.control import UNLIMITED

EARLY_PERIOD, EARLY_TURNS, LATE_PERIOD = 50, 2500, 500
SUBSCRIPTION_PERIOD = 25  # turns between two checks for new subscribers


class InfoPublisher:
    """Publishes the actuator lists of one world."""

    def __init__(self, simulation: Simulation, publisher: Publisher) -> None:
        self._simulation = simulation
        self._engine = simulation.engine
        self._publisher = publisher
        self._generation = publisher.generation
        self._turns = self._next_check = self._next_info = 0
        simulation.engine.hooks.publish.append(self.beat)

    def close(self) -> None:
        """End the stream of this world; the socket is the server's."""

    def beat(self, rows: bool) -> None:
        """
        Count a turn of the live loop and publish when it is time; see `EngineHooks.publish`.

        Nothing is published while time is stepped.
        """
        if rows:
            self._count_turn()

    def _count_turn(self) -> None:
        self._turns += self._turns_of_a_beat()
        if self._turns < self._next_check:
            return
        self._next_check = self._turns + SUBSCRIPTION_PERIOD
        self._publisher.read_subscriptions()
        new = self._publisher.generation != self._generation
        self._generation = self._publisher.generation
        if self._turns < self._next_info and not new:
            return
        period = EARLY_PERIOD if self._turns < EARLY_TURNS else LATE_PERIOD
        self._next_info = self._turns + period
        if self._publisher.has_subscribers:
            for message in self._simulation.cached('info', self._messages):
                self._publisher.send_single(message)

    def _turns_of_a_beat(self) -> int:
        """Return 1, or while paused what a stock loop, which keeps spinning, would count."""
        if not self._engine.run.paused:
            return 1
        return max(round(IDLE_BEAT / self._engine.world.model.opt.timestep), 1)

    def _messages(self) -> list[bytes]:
        world = self._simulation.world
        specs = {spec.prefix: spec for spec in world.spec.articulations}
        return [
            pack_info(self._describe(articulation, specs[prefix]))
            for prefix, articulation in world.articulations.items()
        ]

    def _describe(self, articulation: RobotModel, spec: ArticulationSpec) -> ActuatorList:
        model = self._simulation.world.model
        ids = [actuator.id for actuator in articulation.actuators.values()]
        limits = [actuator_limits(model, actuator) for actuator in ids]
        cameras = articulation_block(self._simulation, articulation, spec)['camera_topics']
        return ActuatorList(
            robot=articulation.prefix,
            names=[actuator.compiled for actuator in articulation.actuators.values()],
            ids=ids,
            mins=[low for low, _ in limits],
            maxs=[high for _, high in limits],
            cameras={
                name: str(camera.get('zmq_endpoint') or '') for name, camera in cameras.items()
            },
        )


def actuator_limits(model: mujoco.MjModel, actuator: int) -> tuple[float, float]:
    """Return the control range; +-100 for an actuator without one, as stock servers report."""
    if not model.actuator_ctrllimited[actuator]:
        return UNLIMITED
    low, high = model.actuator_ctrlrange[actuator].tolist()
    return low, high
