# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The simulation that is served: its model, and the newest state as frames."""

from __future__ import annotations

import logging
import threading

import numpy as np

from urlab_ros_bridge.client.model import read_world
from urlab_ros_bridge.client.model.kinematics import LocalModel
from urlab_ros_bridge.client.state.stream import open_state
from urlab_ros_bridge.client.state.tick import Tick
from urlab_ros_bridge.gateways.simulation.link import SimulationLink
from urlab_ros_bridge.gateways.simulation.robot import read_served_robot
from urlab_ros_bridge.gateways.virtual_field.gltf.bodies import BodyModels
from urlab_ros_bridge.gateways.virtual_field.scene.arms import ArmShape
from urlab_ros_bridge.gateways.virtual_field.scene.arms import ArmShapes
from urlab_ros_bridge.gateways.virtual_field.scene.chains import find_arms
from urlab_ros_bridge.gateways.virtual_field.scene.frame import SceneFrame
from urlab_ros_bridge.gateways.virtual_field.scene.meshes import BodyMeshes
from urlab_ros_bridge.gateways.virtual_field.scene.pose_numbers import PoseNumbers
from urlab_ros_bridge.gateways.virtual_field.scene.positions import Positions
from urlab_ros_bridge.wire.errors import UrlabError

_LOG = logging.getLogger(__name__)


class ServedScene:
    """
    One life of one world.  `poll` and `shapes` are for one thread; everything else for any.

    :ivar link: requests to the server.
    :ivar handshake: of the server; `world` the tables of its model.
    :ivar robots: prefix -> robot; `arms` the arms of all robots.
    :ivar models: what each body looks like; `bodies` what is drawn as meshes and spheres.
    :ivar numbers: of messages, for the thread of `poll`.
    :ivar newest: the last frame, None before the first.
    :ivar unfit: how many states were left out, because they had numbers that are not finite or
        did not fit the model.
    """

    def __init__(self, link: SimulationLink, host: str, state_port: int) -> None:
        """
        Read the model and listen to the state.

        :param link: connected.
        :param state_port: of the state stream, when the server does not report it.
        :raises ModelUnavailable: when the model cannot be loaded here.
        """
        self.link = link
        self.handshake = link.handshake
        self.world = read_world(self.handshake)
        self._local = LocalModel(self.handshake)
        self._positions = Positions(self.handshake, self._local)
        data = self._local.data
        # Views of its memory.
        self._qpos = data.qpos
        self._poses = [part.reshape(-1) for part in (data.xpos, data.xquat, data.xmat)]
        self.robots = {
            p: read_served_robot(self.handshake, p) for p in self.handshake.articulations
        }
        self.arms = tuple(arm for robot in self.robots.values() for arm in find_arms(robot))
        numbers = self.numbers = PoseNumbers(len(self.world.bodies))
        self._shapes = ArmShapes(self.world, self.arms, numbers)
        self.models = BodyModels(self.handshake.model, self.world)
        self.bodies = BodyMeshes(self.models, self.world, numbers)
        self.newest: SceneFrame | None = None
        self.unfit = 0
        self._lock = threading.Lock()  # a stream that is closed must not be read
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
                if tick is not None and tick.snapshot is not None:
                    self._show(tick)
            except UrlabError as error:
                self._leave_out(str(error))
        return self.newest

    def shapes(self, frame: SceneFrame) -> list[ArmShape]:
        """Return the shapes of the arms in the newest frame, for the thread of `poll`."""
        return frame.of_poses('arm shapes', lambda: self._shapes.at(frame))

    def close(self) -> None:
        """Stop listening; safe to call twice."""
        with self._lock:
            if not self._is_closed:
                self._is_closed = True
                self._stream.close()

    def _show(self, tick: Tick) -> None:
        local = self._local
        time, step = self._positions.follow(tick)
        before = self.newest
        if before is not None and not self._positions.have_moved:
            self.newest = before.later(time, step, tick)
            return
        self._positions.show()
        local.kinematics(cameras=False)
        poses = np.concatenate(self._poses)
        self.newest = SceneFrame(time, step, tick, self._qpos.copy(), poses, local.contacts)

    def _leave_out(self, cause: str) -> None:
        if not self.unfit:
            _LOG.warning('skipped a state of the simulation: %s', cause)
        self.unfit += 1


__all__ = ['ServedScene']
