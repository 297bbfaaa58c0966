# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Cameras: from the pictures of the wire to images, camera_info, points and compressed images."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import threading

from rclpy.node import Node

from urlab_ros_bridge.client.cameras.stream import FrameSource
from urlab_ros_bridge.client.cameras.stream import open_camera
from urlab_ros_bridge.client.replies.handshake import CameraInfo
from urlab_ros_bridge.client.replies.handshake import Handshake
from urlab_ros_bridge.kept_memory import keep_freed_memory
from urlab_ros_bridge.ros.features.declarations import FrameRule
from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feature import Attached
from urlab_ros_bridge.ros.features.feature import Bridge
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feed import Publishers
from urlab_ros_bridge.ros.features.timeline import Timeline
from urlab_ros_bridge.ros.messages import static_transforms_to_ros
from urlab_ros_bridge.ros.parameters.settings import Settings
from urlab_ros_bridge.ros.plan.plan import WorldPlan
from urlab_ros_bridge.ros.rclpy_tools import qos
from urlab_ros_bridge.ros.topics.cameras.gate import FrameGate
from urlab_ros_bridge.ros.topics.cameras.images import COLOR_ENCODINGS
from urlab_ros_bridge.ros.topics.cameras.images import DEPTH_ENCODINGS
from urlab_ros_bridge.ros.topics.cameras.outputs import make_outputs
from urlab_ros_bridge.ros.topics.cameras.plan import CamerasPlan
from urlab_ros_bridge.ros.topics.cameras.plan import plan_cameras
from urlab_ros_bridge.ros.topics.cameras.thread import CameraThread
from urlab_ros_bridge.schema import key
from urlab_ros_bridge.wire.errors import UrlabError

__all__ = ['Cameras', 'plan_cameras', 'qos', 'static_transforms_to_ros']


@dataclass(frozen=True)
class CameraParameters:
    """Whether and how pictures are published."""

    publish_cameras: bool = key(True, 'Publish cameras: images, camera_info, point clouds.')
    camera_transport: str = key(
        'auto',
        'How images are received: "shm" through shared memory, "zmq" over TCP. "auto": shared '
        'memory if the server runs on this machine and offers it.',
        choices=('auto', 'zmq', 'shm'),
    )
    image_encoding: str = key(
        'rgb8',
        'Encoding of colour images. "bgra8" is sent by the server and needs no conversion.',
        choices=COLOR_ENCODINGS,
    )
    depth_encoding: str = key(
        '32FC1',
        'Encoding of depth images: "32FC1" metres, "16UC1" millimetres.',
        choices=DEPTH_ENCODINGS,
    )
    depth_unit: str = key(
        'auto',
        'Unit of the depth that the server sends. "auto": as reported by the server, which for '
        'stock URLab means centimetres.',
        choices=('auto', 'm', 'cm', 'mm'),
    )
    jpeg_quality: int = key(
        90,
        'Quality of compressed colour images.',
        low=1,
        high=100,
        live=True,
    )
    points_decimation: int = key(
        1,
        'Use only every Nth row and column of a depth image for points.',
        low=1,
        high=64,
    )
    points_color: bool = key(
        True,
        'Colour the points of a depth camera that has a colour camera at the same pose.',
    )


class Cameras:
    """All cameras of the bridge; `apply` is called by one thread, `stop` by any."""

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
        self.gate = FrameGate(timeline)
        self.threads: list[CameraThread] = []
        # The bridge may end while a world is being published.
        self._changing, self._stopped = threading.Lock(), False

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
                CameraThread(camera, outputs, self.gate, self._timeline, self._open, self._log)
            )
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
        """End all threads; no camera is published afterwards."""
        with self._changing:
            self._stopped = True
            self._close()

    def _open(self, camera: CameraInfo) -> FrameSource:
        keep_freed_memory()
        settings = self._settings()
        return open_camera(
            camera,
            settings.host,
            newest_only=False,
            shm_dir=self._shm_dir,
            transport=settings.camera_transport,
            keys=settings.keys,
        )

    def _close(self) -> None:
        for thread in self.threads:
            thread.stop()
        self.threads = []
        self._plan = CamerasPlan()
        self._publishers.close()


def attach(bridge: Bridge) -> Attached:
    """Make the cameras; each world that is published has its own."""
    cameras = bridge.add(Cameras(bridge.node, bridge.timeline, bridge.settings, bridge.log))

    def published(plan: WorldPlan, handshake: Handshake | None) -> None:
        if handshake is not None:
            try:
                cameras.apply(plan_cameras(handshake, plan, bridge.settings()))
            except UrlabError as error:
                bridge.log('warning', f'no cameras are published: {error}')

    def jump(_stamp_ns: int, went_back: bool) -> None:
        if went_back:
            cameras.gate.jump()

    return Attached(published=published, tick=cameras.gate.tick, jump=jump, stop=cameras.stop)


_COMPRESSED = 'sensor_msgs/msg/CompressedImage'
TOPICS = (
    *(
        Topic(f'{{robot}}/{{camera}}/{name}', (kind,), profile, when, rate, 'publish_cameras')
        for name, kind, profile, when, rate in (
            ('image_raw', 'sensor_msgs/msg/Image', 'image', 'cameras', "the camera's"),
            ('camera_info', 'sensor_msgs/msg/CameraInfo', 'sensor', 'cameras', "the camera's"),
            (
                'image_raw/compressed',
                _COMPRESSED,
                'image',
                'colour, semantic and instance cameras',
                "the camera's",
            ),
            (
                'image_raw/compressedDepth',
                _COMPRESSED,
                'image',
                'depth cameras',
                "the camera's",
            ),
            ('points', 'sensor_msgs/msg/PointCloud2', 'image', 'depth cameras', "the camera's"),
            (
                'labels',
                'std_msgs/msg/String',
                'latched',
                'semantic and instance cameras',
                'once',
            ),
        )
    ),
)
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
    attach=attach,
)
