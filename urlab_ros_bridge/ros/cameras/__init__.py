# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Cameras: from the pictures of the wire to images, camera_info, points and compressed images."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.node import Node

from urlab_ros_bridge.client.cameras import FrameSource
from urlab_ros_bridge.client.cameras import open_camera
from urlab_ros_bridge.client.handshake import Camera
from urlab_ros_bridge.ros import qos
from urlab_ros_bridge.ros.cameras.gate import Gate
from urlab_ros_bridge.ros.cameras.outputs import make_outputs
from urlab_ros_bridge.ros.cameras.plan import CamerasPlan
from urlab_ros_bridge.ros.cameras.plan import plan_cameras
from urlab_ros_bridge.ros.cameras.thread import CameraThread
from urlab_ros_bridge.ros.convert import static_transforms_to_ros
from urlab_ros_bridge.ros.feed import Publishers
from urlab_ros_bridge.ros.reset import Timeline
from urlab_ros_bridge.ros.settings import Settings

__all__ = ['Cameras', 'plan_cameras']


class Cameras:
    """All cameras of the bridge; `apply` and `stop` are called by one thread at a time."""

    def __init__(
        self,
        node: Node,
        timeline: Timeline,
        settings: Callable[[], Settings],
        log: Callable[[str, str], None],
    ) -> None:
        self._publishers = Publishers(node)
        self._timeline = timeline
        self._settings = settings
        self._log = log
        self._plan = CamerasPlan()
        self._shm_dir = ''
        self.gate = Gate(timeline)
        self.threads: list[CameraThread] = []

    def apply(self, plan: CamerasPlan) -> None:
        """
        Publish these cameras from now on; a plan like the one before changes nothing.

        :raises UrlabError: when a topic is taken, or cannot be serialised.
        """
        moved, self._shm_dir = plan.shm_dir != self._shm_dir, plan.shm_dir
        if plan == self._plan:
            for thread in self.threads if moved else ():
                thread.reopen()
            return
        self._close()
        for camera in plan.cameras:
            outputs = make_outputs(camera, self._publishers, self._settings)
            self.threads.append(
                CameraThread(camera, outputs, self.gate, self._timeline, self._open, self._log)
            )
        if plan.static:
            message = static_transforms_to_ros(plan.static)
            self._publishers.get(type(message), '/tf_static', qos.latched).publish(message)
        self._plan = plan
        for thread in self.threads:
            thread.start()

    @property
    def watched(self) -> int:
        """Return how many cameras are received now."""
        return sum(thread.watched for thread in self.threads)

    @property
    def messages(self) -> int:
        """Return how many messages were published."""
        return sum(thread.messages for thread in self.threads)

    def stop(self) -> None:
        """End all threads."""
        self._close()

    def _open(self, camera: Camera) -> FrameSource:
        settings = self._settings()
        return open_camera(
            camera,
            settings.host,
            newest_only=False,
            shm_dir=self._shm_dir,
            transport=settings.camera_transport,
        )

    def _close(self) -> None:
        for thread in self.threads:
            thread.stop()
        self.threads = []
        self._plan = CamerasPlan()
        self._publishers.close()
