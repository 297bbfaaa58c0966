# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""One simulation as the gateway serves it: its scene, messages, arms and operators."""

from __future__ import annotations

from collections.abc import Mapping
import threading
import time

import numpy as np

from urlab_ros_bridge.gateways.simulation.link import SimulationLink
from urlab_ros_bridge.gateways.virtual_field.errors import NoSimulation
from urlab_ros_bridge.gateways.virtual_field.page.page_world import PageWorld
from urlab_ros_bridge.gateways.virtual_field.protocol.xr_input import HANDS
from urlab_ros_bridge.gateways.virtual_field.scene.frame import SceneFrame
from urlab_ros_bridge.gateways.virtual_field.scene.live_scene import LiveScene
from urlab_ros_bridge.gateways.virtual_field.scene.publications import Publications
from urlab_ros_bridge.gateways.virtual_field.serving.state_messages import StateMessage
from urlab_ros_bridge.gateways.virtual_field.serving.state_messages import StateMessages
from urlab_ros_bridge.gateways.virtual_field.steering.arm_pool import ArmPool
from urlab_ros_bridge.gateways.virtual_field.steering.arm_pool import Assignment
from urlab_ros_bridge.gateways.virtual_field.steering.operator import Operator
from urlab_ros_bridge.gateways.virtual_field.steering.steering import Steering
from urlab_ros_bridge.gateways.virtual_field.steering.tip_control import is_steerable
from urlab_ros_bridge.gateways.virtual_field.steering.tip_control import TipControl


class FieldWorld:
    """
    One life of one world, with its operators.

    :ivar scene: of the simulation; `messages` what clients are sent of it.
    :ivar pool: which users have which arms.
    """

    def __init__(
        self, link: SimulationLink, host: str, state_port: int, publications: Publications
    ) -> None:
        """
        Prepare the scene.

        :raises ModelUnavailable: when its model cannot be loaded here.
        """
        self.link = link
        self.scene = LiveScene(link, host, state_port)
        self.messages = StateMessages(self.scene, publications)
        self.pool = self._pool()
        self._steering: Steering | None = None
        self._lock = threading.Lock()
        self._page: PageWorld | None = None
        self._page_lock = threading.Lock()  # held for seconds; `_lock` is not
        self._is_closed = False

    def message(self, frame: SceneFrame) -> StateMessage:
        """Return the scene_state of a frame, for the thread of `scene.poll`."""
        return self.messages.message(frame, self.pool.ownership)

    def take(self, user_id: str, mode: str, count: int) -> Assignment:
        """
        Assign arms and a base to a user, see `ArmPool.take`.

        :raises NoSimulation: when the world is closed.
        :raises RobotError: when mink is not installed.
        """
        assignment = self.pool.take(user_id, mode, count)
        try:
            self._steer(assignment)
        except BaseException:
            self.pool.release(user_id)
            raise
        return assignment

    def _steer(self, assignment: Assignment) -> None:
        scene = self.scene
        model = self.scene.handshake.model
        controls = [
            TipControl(model, scene.robots[scene.arms[place].prefix], scene.arms[place])
            for place in assignment.arms[: len(HANDS)]
        ]
        drive = None
        if assignment.base:
            drive = scene.robots[assignment.base].description.twist_controller
        operator = Operator(controls, assignment.base, drive, time.monotonic())
        with self._lock:
            if self._is_closed:
                raise NoSimulation
            if self._steering is None:
                self._steering = Steering(self.link, self._positions)
            self._steering.add(assignment.user_id, operator)

    def operator(self, user_id: str) -> Operator | None:
        """Return the operator of a user, None without one."""
        return None if self._steering is None else self._steering.find(user_id)

    def release(self, user_id: str) -> None:
        """Free the arms and the base of a user: the arms hold, the base stops."""
        if self._steering is not None:
            self._steering.remove(user_id)
        self.pool.release(user_id)

    def page(self) -> PageWorld:
        """
        Return this world for our own page; it is made when it is first needed.

        :raises NoSimulation: when the world is closed.
        :raises ModelUnavailable: see `Handshake.model`.
        """
        with self._page_lock:
            if self._is_closed:
                raise NoSimulation
            if self._page is None:
                self._page = PageWorld(self.scene)
            return self._page

    @property
    def page_files(self) -> Mapping[str, bytes]:
        """Return the files of bodies that the page may request, by digest."""
        page = self._page
        return {} if page is None else page.files

    def close(self) -> None:
        """Release the simulation."""
        with self._page_lock:
            page, self._page, self._is_closed = self._page, None, True
        if page is not None:
            page.close()
        with self._lock:
            if self._steering is not None:
                self._steering.stop()
        self.scene.close()

    def _positions(self) -> np.ndarray | None:
        newest = self.scene.newest
        return None if newest is None else newest.qpos

    def _pool(self) -> ArmPool:
        scene = self.scene
        steerable: dict[str, list[int]] = {prefix: [] for prefix in scene.robots}
        for place, arm in enumerate(scene.arms):
            if is_steerable(scene.robots[arm.prefix], arm):
                steerable[arm.prefix].append(place)
        bases = [
            prefix
            for prefix, robot in scene.robots.items()
            if (drive := robot.description.twist_controller) and drive.drives
        ]
        return ArmPool(scene.name, scene.arms, steerable, bases)


__all__ = ['FieldWorld']
