# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import math
from types import SimpleNamespace

import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from urlab_ros_bridge.ros.reports.diagnostics import topic_statuses  # noqa: E402
from urlab_ros_bridge.ros.reports.diagnostics import value_text  # noqa: E402
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


def test_a_feed_that_was_made_anew_has_no_negative_rate():
    meter = FeedMeter()
    meter.measure([feed('/tf', 10)], 1.0)
    meter.measure([feed('/tf', 0)], 2.0)
    assert meter.streams['/tf'].rate == 0.0


def test_each_topic_has_one_status_also_where_several_feeds_publish_on_it():
    calm = {'has_subscribers': True, 'errors': 0, 'last_error': '', 'dropped': 0}
    feeds = [feed('/tf', 3), feed('/odom', 1), feed('/tf', 4)]
    for each in feeds:
        vars(each).update(calm)
    feeds[2].errors, feeds[2].last_error = 1, 'a bad row'
    meter = FeedMeter()
    meter.measure(feeds, 1.0)
    transforms, odom = topic_statuses('urlab_bridge', feeds, meter)
    assert (transforms.name, odom.name) == ('urlab_bridge: /tf', 'urlab_bridge: /odom')
    assert transforms.message == '1 error, the last: a bad row' and odom.message == 'publishing'
    assert {pair.key: pair.value for pair in transforms.values}['messages'] == '7'


def test_truth_values_are_words_in_diagnostics():
    assert (value_text(True), value_text(False), value_text(1.0), value_text('x')) == (
        'yes', 'no', '1', 'x',
    )  # fmt: skip
