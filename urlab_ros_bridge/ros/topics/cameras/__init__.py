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
from urlab_ros_bridge.ros.topics.cameras.outputs import make_labels
from urlab_ros_bridge.ros.topics.cameras.outputs import make_outputs
from urlab_ros_bridge.ros.topics.cameras.outputs import TOPICS
from urlab_ros_bridge.ros.topics.cameras.parameters import CameraParameters
from urlab_ros_bridge.ros.topics.cameras.plan import CamerasPlan
from urlab_ros_bridge.ros.topics.cameras.plan import plan_cameras
from urlab_ros_bridge.ros.topics.cameras.publishing import ImagePublishing
from urlab_ros_bridge.ros.topics.cameras.thread import CameraThread
from urlab_ros_bridge.wire.errors import UrlabError

__all__ = ['FEATURE', 'Cameras', 'UrlabError']


class Cameras(Part):
    """All cameras of the bridge; `apply` is called by one thread, `stop` by any."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge
        self._publishers = Publishers(bridge.node)
        self._timeline = bridge.timeline
        self._settings = bridge.settings
        self._log = bridge.log
        self._plan = CamerasPlan()
        self._shm_dir = ''
        self.publishing = ImagePublishing(bridge.timeline, bridge.stream_tasks, bridge.stepping)
        self.threads: list[CameraThread] = []
        # The bridge may end while a world is being published.
        self._changing, self._stopped = threading.Lock(), False

    def take_world(self, plan: WorldPlan, handshake: Handshake | None) -> None:
        """
        Publish the cameras of a world.

        :raises UrlabError: when a topic is taken, or cannot be serialised.
        """
        if handshake is not None:
            self.apply(plan_cameras(handshake, plan, self._settings))

    def jump(self, stamp_ns: int, went_back: bool) -> None:
        """Drop images of the old epoch from now on."""
        if went_back:
            self.publishing.jump(stamp_ns)

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
        self._end_threads()
        before, self._plan = self._publishers, CamerasPlan()
        publishers = self._publishers = Publishers(self._bridge.node, before)
        run_in_stream = self._bridge.run_in_stream
        try:
            outputs = [make_outputs(each, publishers, self._settings) for each in plan.cameras]
            labels = [make_labels(each, publishers) for each in plan.cameras]
        finally:
            run_in_stream(partial(before.close, publishers))
        self._plan = plan
        for publish_labels in filter(None, labels):
            run_in_stream(publish_labels)
        for camera, topics in zip(plan.cameras, outputs, strict=True):
            thread = CameraThread(
                camera, topics, self.publishing, self._timeline, self._open, self._log
            )
            self.threads.append(thread)
            thread.start()

    def stop(self) -> None:
        """End all threads; no camera is published afterwards."""
        with self._changing:
            self._stopped = True
            self._end_threads()

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

    def _end_threads(self) -> None:
        for thread in self.threads:
            thread.stop()
        self.threads = []


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
