# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The state of the whole world at one moment of simulated time."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from urlab_ros_bridge.client.model import read_world
from urlab_ros_bridge.client.model.kinematics import LocalModel
from urlab_ros_bridge.client.replies.handshake import Handshake
from urlab_ros_bridge.client.replies.observations import ArticulationState
from urlab_ros_bridge.client.replies.observations import WorldObservation
from urlab_ros_bridge.gateways.simulation.robot import ActuatedRobot
from urlab_ros_bridge.gateways.simulation.robot import read_actuated_robot
from urlab_ros_bridge.model import WorldModel

BALL = 'ball'


class BallBody:
    """
    The ball: the free body called ``ball``, or the first whose name ends so.

    :ivar name: of its entity; `body` the id of its body.
    :ivar radius: m; that of its first sphere.
    :ivar position: of its centre, m, shape (3,); `velocity` m/s; `spin` rad/s: in the world.
    """

    def __init__(self, name: str, body: int, radius: float) -> None:
        self.name = name
        self.body = body
        self.radius = radius
        self.position = np.zeros(3)
        self.velocity = np.zeros(3)
        self.spin = np.zeros(3)


class SimSparkScene(LocalModel):
    """
    The world at one moment.  Not thread-safe; its arrays change with the next `update`.

    All values are in the world frame of MuJoCo, which is the field's: m, x to the right goal, y
    to the left as seen by the left team, z up.

    :ivar world: tables of the model; ids of bodies are rows of `positions` and `rotations`.
    :ivar robots: by prefix.
    :ivar numerics: custom numbers of the model by name, each the first of its values.
    :ivar placed: robots that were moved since the last update: x and y of their bases, m.
    :ivar ball: None where the world has none.
    :ivar time: simulated seconds; `step` the server's counter; `version` counts updates.
    """

    def __init__(self, handshake: Handshake) -> None:
        """
        Load the model.

        :raises ModelUnavailable: without a model, or with another MuJoCo than the server's.
        """
        super().__init__(handshake)
        self.world: WorldModel = read_world(handshake)
        self.robots: Mapping[str, ActuatedRobot] = {
            prefix: read_actuated_robot(handshake, prefix) for prefix in handshake.articulations
        }
        self.ball = self._find_ball(handshake)
        numbers = (self.model.numeric(index) for index in range(self.model.nnumeric))
        self.numerics = {each.name: float(each.data[0]) for each in numbers if len(each.data)}
        self.placed: dict[str, tuple[float, float]] = {}
        self.time = 0.0
        self.step = -1
        self.version = 0
        self._seen: WorldObservation | None = None

    @property
    def positions(self) -> np.ndarray:
        """Return the origins of all bodies, m, shape (nbody, 3)."""
        xpos: np.ndarray = self.data.xpos
        return xpos

    @property
    def rotations(self) -> np.ndarray:
        """Return the rotation matrices of all bodies, body to world, shape (nbody, 3, 3)."""
        xmat: np.ndarray = self.data.xmat
        return xmat.reshape(-1, 3, 3)

    @property
    def qpos(self) -> np.ndarray:
        """Return the positions of the whole model, shape (nq,); see `Joint.qpos_address`."""
        qpos: np.ndarray = self.data.qpos
        return qpos

    @property
    def gravity(self) -> np.ndarray:
        """Return the acceleration of free fall, m/s^2, shape (3,)."""
        gravity: np.ndarray = self.model.opt.gravity
        return gravity

    def state(self, robot: str) -> ArticulationState:
        """
        Return the state of a robot: qpos, qvel, sensors, ...

        :raises KeyError: for a robot that is not in the scene.
        """
        if self._seen is None:
            raise KeyError(robot)
        return self._seen.articulations[robot]

    def body(self, name: str) -> int:
        """
        Return the id of a body by its compiled name.

        :raises KeyError: when there is none.
        """
        return self.body_ids[name]

    @property
    def has_field(self) -> bool:
        """Return whether the world is a soccer field: it has the number ``field_length``."""
        return 'field_length' in self.numerics

    def nao_type(self, robot: str) -> int | None:
        """Return the type of a Nao, by the number ``nao_type`` of its model; None without one."""
        number = self.numerics.get(f'{robot}_nao_type')
        return None if number is None else int(number)

    def fastest_speed(self, robot: str, joint: str) -> float | None:
        """Return the highest speed that a model states for a joint (``speed_JOINT``), rad/s."""
        return self.numerics.get(f'{robot}_speed_{joint}')

    def update(self, seen: WorldObservation, *, cameras: bool = False) -> None:
        """
        Apply an observation.

        :raises ProtocolError: when it is not one of this world.
        """
        super().update(seen, cameras=cameras)
        self.time, self.step, self._seen = seen.time, seen.step, seen
        self.version += 1
        self.placed.clear()
        self._update_ball(seen)

    def _find_ball(self, handshake: Handshake) -> BallBody | None:
        free = [name for name, entity in handshake.entities.items() if entity.has_free_base]
        named = [name for name in free if name.lower().endswith(BALL) and name in self.body_ids]
        if not named:
            return None
        name = BALL if BALL in named else named[0]
        body = self.body_ids[name]
        spheres = [g.size[0] for g in self.world.geoms if g.body == body and g.kind == 'sphere']
        return BallBody(name, body, spheres[0] if spheres else 0.0)

    def _update_ball(self, seen: WorldObservation) -> None:
        ball = self.ball
        if ball is None:
            return
        ball.position[:] = self.positions[ball.body]
        entity = seen.entities.get(ball.name)
        if entity is not None and len(entity.qvel) == 6:
            ball.velocity[:] = entity.qvel[:3]
            # A free joint turns about the axes of its body.
            ball.spin[:] = self.rotations[ball.body] @ entity.qvel[3:]


__all__ = ['BallBody', 'SimSparkScene']
