# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The scene of a simulation: its model, and its newest state as frames."""

from __future__ import annotations

import logging
import threading

import numpy as np

from urlab_ros_bridge.client.errors import ProtocolError
from urlab_ros_bridge.client.model import read_world
from urlab_ros_bridge.client.replies.observations import Snapshot
from urlab_ros_bridge.client.state.stream import open_state
from urlab_ros_bridge.gateways.simulation.link import SimulationLink
from urlab_ros_bridge.gateways.simulation.robot import read_actuated_robot
from urlab_ros_bridge.gateways.simulation.scene import MirroredScene
from urlab_ros_bridge.gateways.virtual_field.gltf.bodies import BodyModels
from urlab_ros_bridge.gateways.virtual_field.scene.arms import ArmShape
from urlab_ros_bridge.gateways.virtual_field.scene.arms import ArmShapes
from urlab_ros_bridge.gateways.virtual_field.scene.chains import find_arms
from urlab_ros_bridge.gateways.virtual_field.scene.frame import SceneFrame
from urlab_ros_bridge.gateways.virtual_field.scene.meshes import BodyMeshes
from urlab_ros_bridge.wire.errors import UrlabError

_LOG = logging.getLogger(__name__)

# Larger numbers (m, s) are rejected like infinity: results computed from them could overflow.
_FARTHEST = 1e150


class LiveScene:
    """
    One life of one world.  `poll` and `shapes` are for one thread; everything else for any.

    :ivar link: requests to the server.
    :ivar handshake: of the server; `world` the tables of its model.
    :ivar robots: prefix -> robot; `arms` the arms of all robots, `radii` those of each (m).
    :ivar models: the appearance of each body; `bodies` the meshes and spheres.
    :ivar newest: the last frame, None before the first.
    :ivar unfit: how many states were skipped because they were not finite or did not fit the
        model.
    """

    def __init__(self, link: SimulationLink, host: str, state_port: int) -> None:
        """
        Read the model and subscribe to the state.

        :param link: connected.
        :param state_port: of the state stream, when the server does not report it.
        :raises ModelUnavailable: when the model cannot be loaded here.
        """
        self.link = link
        self.handshake = link.handshake
        self.world = read_world(self.handshake)
        self._mirror = MirroredScene(self.handshake)
        self.robots = {
            p: read_actuated_robot(self.handshake, p) for p in self.handshake.articulations
        }
        self.arms = tuple(arm for robot in self.robots.values() for arm in find_arms(robot))
        self.radii = [list(arm.radii) for arm in self.arms]
        self._shapes = ArmShapes(self.world, self.arms)
        self.models = BodyModels(self.handshake.model, self.world)
        self.bodies = BodyMeshes(self.models, self.world)
        self.newest: SceneFrame | None = None
        self.unfit = 0
        self._lock = threading.Lock()  # a closed stream must not be read
        port = self.handshake.ports.get('state') or state_port
        self._stream = open_state(
            self.handshake.shm_session_dir, host, port, keys=link.keys, stamped=False
        )
        self._is_closed = False

    @property
    def name(self) -> str:
        """Return the name of the world, or that of a robot when the server reports none."""
        return self.handshake.world or next(iter(self.handshake.articulations), 'world')

    def poll(self) -> SceneFrame | None:
        """Return the newest frame: the same object as before when nothing has changed."""
        with self._lock:
            if self._is_closed:
                return self.newest
            try:
                tick = self._stream.receive(0)
                seen = None if tick is None else tick.state()
                if seen is not None:
                    self.newest = self._mirrored(seen)
            except UrlabError as error:
                self._skip(str(error))
        return self.newest

    def shapes(self, frame: SceneFrame) -> list[ArmShape]:
        """Return the shapes of the arms in the newest frame, for the thread of `poll`."""
        return frame.shared('arm shapes', lambda: self._shapes.at(frame))

    def close(self) -> None:
        """End the subscription; safe to call twice."""
        with self._lock:
            if not self._is_closed:
                self._is_closed = True
                self._stream.close()

    def _mirrored(self, seen: Snapshot) -> SceneFrame:
        """
        Return the frame of a state.

        :raises UrlabError: when it does not fit the model or is not finite.
        """
        mirror = self._mirror
        mirror.update(seen, cameras=False)
        positions, quaternions, matrices = mirror.body_poses()
        parts = (positions, quaternions, np.array(seen.time))
        if not all((np.abs(part) < _FARTHEST).all() for part in parts):
            raise ProtocolError('a state that is not finite')
        return SceneFrame(
            seen.time, seen.step, seen, mirror.qpos.copy(), positions, quaternions, matrices,
            mirror.contacts,
        )  # fmt: skip

    def _skip(self, cause: str) -> None:
        if not self.unfit:
            _LOG.warning('skipped a state of the simulation: %s', cause)
        self.unfit += 1


__all__ = ['LiveScene']
