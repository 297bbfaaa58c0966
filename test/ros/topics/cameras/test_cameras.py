# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The end of the bridge may fall between the making and the starting of its cameras."""

import threading
from types import SimpleNamespace

import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from urlab_ros_bridge.client.replies.handshake import CameraInfo  # noqa: E402
from urlab_ros_bridge.ros.features.timeline import Timeline  # noqa: E402
from urlab_ros_bridge.ros.topics import cameras as module  # noqa: E402
from urlab_ros_bridge.ros.topics.cameras.plan import CameraPlan  # noqa: E402
from urlab_ros_bridge.ros.topics.cameras.plan import CamerasPlan  # noqa: E402

EYE = CameraInfo('eye', 'real', (2, 1), 45.0, 'tcp://127.0.0.1:9', 'bot/camera/eye')


def test_cameras_that_are_being_made_end_with_the_bridge(monkeypatch):
    ends = []

    def make_outputs(*_):
        ends.append(threading.Thread(target=cameras.stop))
        ends[-1].start()
        return []

    monkeypatch.setattr(module, 'make_outputs', make_outputs)
    bridge = SimpleNamespace(
        node=SimpleNamespace(destroy_publisher=None),
        timeline=Timeline(),
        settings=None,
        log=lambda *text: None,
    )
    cameras = module.Cameras(bridge)
    before = threading.active_count()
    plan = CamerasPlan(cameras=(CameraPlan(EYE, 'eye', 'eye_optical_frame', 1.0),))
    cameras.apply(plan)
    ends[0].join(30)
    assert cameras.threads == [] and threading.active_count() == before
    cameras.apply(plan)
    assert cameras.threads == []
