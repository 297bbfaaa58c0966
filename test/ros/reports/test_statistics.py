# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import math
from types import SimpleNamespace

import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from urlab_ros_bridge.ros.reports.statistics import FeedMeter  # noqa: E402


def feed(topic, count, dropped=0):
    return SimpleNamespace(
        publisher=SimpleNamespace(topic_name=topic), count=count, dropped=dropped
    )


def test_feeds_of_one_topic_are_one_stream_with_the_rates_added():
    meter = FeedMeter()
    meter.measure([feed('/tf', 10), feed('/tf', 4, 1), feed('/odom', 0)], 1.0)
    meter.measure([feed('/tf', 20), feed('/tf', 9, 2), feed('/odom', 0)], 3.0)
    assert list(meter.streams) == ['/tf', '/odom']
    transforms = meter.streams['/tf']
    assert (transforms.count, transforms.dropped) == (29, 2)
    assert (transforms.rate, transforms.age) == (7.5, 0.0)
    assert math.isnan(meter.streams['/odom'].age)
