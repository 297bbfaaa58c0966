# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Cameras: images, camera_info, point clouds and compressed images."""

from __future__ import annotations

from functools import partial
import threading

from urlab_ros_bridge.client.cameras.stream import FrameSource
from urlab_ros_bridge.client.cameras.stream import open_camera
from urlab_ros_bridge.client.replies.handshake import CameraInfo
from urlab_ros_bridge.client.replies.handshake import Handshake
from urlab_ros_bridge.kept_memory import keep_freed_memory
from urlab_ros_bridge.ros.features.declarations import FrameRule
from urlab_ros_bridge.ros.features.feature import Bridge
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feature import Part
from urlab_ros_bridge.ros.features.feed import Publishers
from urlab_ros_bridge.ros.parameters.connection import ConnectionParameters
from urlab_ros_bridge.ros.plan.plan import WorldPlan
from urlab_ros_bridge.ros.topics.cameras.outputs import make_outputs
from urlab_ros_bridge.ros.topics.cameras.outputs import publish_labels
from urlab_ros_bridge.ros.topics.cameras.outputs import TOPICS
from urlab_ros_bridge.ros.topics.cameras.parameters import CameraParameters
from urlab_ros_bridge.ros.topics.cameras.plan import CamerasPlan
from urlab_ros_bridge.ros.topics.cameras.plan import plan_cameras
from urlab_ros_bridge.ros.topics.cameras.thread import CameraThread
from urlab_ros_bridge.ros.topics.cameras.thread import FrameGate
from urlab_ros_bridge.wire.errors import UrlabError

__all__ = ['FEATURE', 'Cameras']


class Cameras(Part):
    """All cameras of the bridge; `apply` is called by one thread, `stop` by any."""

    def __init__(self, bridge: Bridge) -> None:
        self._publishers = Publishers(bridge.node)
        self._timeline = bridge.timeline
        self._settings = bridge.settings
        self._log = bridge.log
        self._plan = CamerasPlan()
        self._shm_dir = ''
        self.gate = FrameGate(self._timeline)
        self.threads: list[CameraThread] = []
        # The bridge may end while a world is being published.
        self._changing, self._stopped = threading.Lock(), False

    def published(self, plan: WorldPlan, handshake: Handshake | None) -> None:
        """Publish the cameras of a world."""
        if handshake is not None:
            try:
                self.apply(plan_cameras(handshake, plan, self._settings))
            except UrlabError as error:
                self._log('warning', f'no cameras are published: {error}')

    def tick(self, stamp_ns: int) -> None:
        """Admit images of the new epoch."""
        self.gate.tick(stamp_ns)

    def jump(self, stamp_ns: int, went_back: bool) -> None:
        """Hold back images of the old epoch."""
        if went_back:
            self.gate.jump()

    def apply(self, plan: CamerasPlan) -> None:
        """
        Publish these cameras from now on; a plan like the one before changes nothing.

        :raises UrlabError: when a topic is taken, or cannot be serialised.
        """
        with self._changing:
            if not self._stopped:
                self._apply(plan)

    def _apply(self, plan: CamerasPlan) -> None:
        moved, self._shm_dir = plan.shm_dir != self._shm_dir, plan.shm_dir
        if plan == self._plan:
            for thread in self.threads if moved else ():
                thread.reopen()
            return
        self._close()
        for camera in plan.cameras:
            outputs = make_outputs(camera, self._publishers, self._settings)
            self.threads.append(
                CameraThread(
                    camera,
                    outputs,
                    self.gate,
                    self._timeline,
                    self._open,
                    self._log,
                    partial(publish_labels, camera, self._publishers),
                )
            )
        self._plan = plan
        for thread in self.threads:
            thread.start()

    def stop(self) -> None:
        """End all threads; no camera is published afterwards."""
        with self._changing:
            self._stopped = True
            self._close()

    def _open(self, camera: CameraInfo) -> FrameSource:
        keep_freed_memory()
        settings = self._settings
        return open_camera(
            camera,
            settings(ConnectionParameters).host,
            newest_only=False,
            shm_dir=self._shm_dir,
            transport=settings(CameraParameters).camera_transport,
            keys=settings(ConnectionParameters).keys,
        )

    def _close(self) -> None:
        for thread in self.threads:
            thread.stop()
        self.threads = []
        self._plan = CamerasPlan()
        self._publishers.close()


SCENE_CAMERAS = FrameRule(
    '`map_frame`',
    '`CAMERA_optical_frame`',
    'tf_static',
    'cameras of the scene',
    'publish_cameras',
)
FEATURE = Feature(
    'cameras',
    CameraParameters,
    group='Cameras',
    topics=TOPICS,
    frames=(SCENE_CAMERAS,),
    attach=Cameras,
)
