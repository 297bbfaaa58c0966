# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The topics of one camera."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
import json
from typing import Any

import numpy as np
from std_msgs.msg import String

from urlab_ros_bridge.client.cameras.stream import Frame
from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feed import Publishers
from urlab_ros_bridge.ros.features.taps import TappedPublisher
from urlab_ros_bridge.ros.parameters.settings import SettingsReader
from urlab_ros_bridge.ros.topics.cameras.messages import CameraInfoTemplate
from urlab_ros_bridge.ros.topics.cameras.messages import CompressedTemplate
from urlab_ros_bridge.ros.topics.cameras.messages import fill_color
from urlab_ros_bridge.ros.topics.cameras.messages import fill_depth
from urlab_ros_bridge.ros.topics.cameras.messages import ImageTemplate
from urlab_ros_bridge.ros.topics.cameras.messages import Intrinsics
from urlab_ros_bridge.ros.topics.cameras.messages import intrinsics
from urlab_ros_bridge.ros.topics.cameras.messages import PointsTemplate
from urlab_ros_bridge.ros.topics.cameras.parameters import CameraParameters
from urlab_ros_bridge.ros.topics.cameras.plan import CameraPlan

# (stamp, frame, BGRA pixels of the colour camera with the same view) -> message.
Make = Callable[[int, Frame, np.ndarray | None], Any]


def _row(
    name: str,
    kind: str,
    when: str = 'cameras',
    profile: str = 'image',
    timing: str = "the camera's rate",
) -> Topic:
    return Topic(
        f'{{robot}}/{{camera}}/{name}',
        (kind,),
        profile,
        when=when,
        timing=timing,
        switch='publish_cameras',
    )


_COMPRESSED = 'sensor_msgs/msg/CompressedImage'
IMAGE = _row('image_raw', 'sensor_msgs/msg/Image')
CAMERA_INFO = _row('camera_info', 'sensor_msgs/msg/CameraInfo', profile='sensor')
COMPRESSED = _row('image_raw/compressed', _COMPRESSED, 'colour, semantic and instance cameras')
COMPRESSED_DEPTH = _row('image_raw/compressedDepth', _COMPRESSED, 'depth cameras')
POINTS = _row('points', 'sensor_msgs/msg/PointCloud2', 'depth cameras')
LABELS = _row('labels', 'std_msgs/msg/String', 'semantic and instance cameras', 'latched', 'once')
TOPICS = (IMAGE, CAMERA_INFO, COMPRESSED, COMPRESSED_DEPTH, POINTS, LABELS)


def _publisher(plan: CameraPlan, publishers: Publishers, topic: Topic) -> TappedPublisher:
    return publishers.of(topic, topic.named('', {'camera': plan.topic}))


class Output:
    """
    One topic.

    :ivar needs_color: the colour camera with the same view is needed.
    """

    def __init__(self, publisher: TappedPublisher, make: Make, needs_color: bool = False) -> None:
        self.publisher = publisher
        self.make = make
        self.needs_color = needs_color

    @property
    def has_subscribers(self) -> bool:
        """Return whether there are any now."""
        return bool(self.publisher.get_subscription_count())


def make_outputs(
    plan: CameraPlan, publishers: Publishers, settings: SettingsReader
) -> list[Output]:
    """
    Make the topics of a camera.

    :raises CdrError: when the middleware serialises in another way than expected.
    """
    camera, now = plan.camera, settings(CameraParameters)
    lens = intrinsics(*camera.resolution, camera.fovy)
    info = CameraInfoTemplate(plan.frame, lens)
    camera_info = _publisher(plan, publishers, CAMERA_INFO)
    outputs = [Output(camera_info, lambda stamp, frame, color: info.update(stamp))]
    if camera.mode == 'depth':
        return outputs + _depth(plan, publishers, settings, lens)
    encoding, kind = now.image_encoding, 'jpeg' if camera.mode == 'real' else 'png'
    raw = _raw(plan, publishers, encoding, fill_color(encoding))
    return [*outputs, raw, _compressed(plan, publishers, kind, encoding, settings)]


def _raw(plan: CameraPlan, publishers: Publishers, encoding: str, fill: Any) -> Output:
    raw = ImageTemplate(plan.frame, encoding, *plan.camera.resolution, fill)
    publisher = _publisher(plan, publishers, IMAGE)
    return Output(publisher, lambda stamp, frame, color: raw.update(stamp, frame.pixels))


def _compressed(
    plan: CameraPlan,
    publishers: Publishers,
    kind: str,
    encoding: str,
    settings: SettingsReader,
) -> Output:
    small = CompressedTemplate(plan.frame, kind, encoding, plan.metres)
    topic = COMPRESSED_DEPTH if kind == 'depth' else COMPRESSED
    publisher = _publisher(plan, publishers, topic)
    return Output(
        publisher,
        lambda stamp, frame, color: small.update(
            stamp, frame.pixels, settings(CameraParameters).jpeg_quality
        ),
    )


def _depth(
    plan: CameraPlan, publishers: Publishers, settings: SettingsReader, lens: Intrinsics
) -> list[Output]:
    now = settings(CameraParameters)
    colored = plan.color is not None and now.points_color
    points = PointsTemplate(plan.frame, lens, plan.metres, now.points_decimation, colored)
    cloud = _publisher(plan, publishers, POINTS)
    encoding = now.depth_encoding
    return [
        _raw(plan, publishers, encoding, fill_depth(encoding, plan.metres)),
        _compressed(plan, publishers, 'depth', encoding, settings),
        Output(
            cloud,
            lambda stamp, frame, color: points.update(stamp, frame.pixels, color),
            needs_color=colored,
        ),
    ]


def make_labels(plan: CameraPlan, publishers: Publishers) -> Callable[[], None] | None:
    """Return what publishes, as name -> [r, g, b], what each colour means; None without labels."""
    labels = {name: [red, green, blue] for (blue, green, red), name in plan.camera.labels.items()}
    if not labels:
        return None
    publisher = _publisher(plan, publishers, LABELS)
    return partial(publisher.publish, String(data=json.dumps(labels, sort_keys=True)))
