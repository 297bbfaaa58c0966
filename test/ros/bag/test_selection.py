# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Names and expressions choose whole topics; time and transforms are always there."""

import pytest

from urlab_ros_bridge.ros.bag.bag import Selection
from urlab_ros_bridge.schema.patterns import BadPattern


def test_expressions_choose_groups():
    selection = Selection(['odom', 'front_rgb/.*'], ['.*/compressed'])
    wanted = ['/odom', '/front_rgb/image_raw', '/front_rgb/camera_info', '/clock', '/tf',
              '/tf_static', '/rover_1/tf', '/rover_1/tf_static']  # fmt: skip
    refused = ['/odom2', '/rover/odom', '/front_rgb/image_raw/compressed', '/scan', '/shtf']
    assert [topic for topic in wanted + refused if selection.wants(topic)] == wanted


def test_without_names_pictures_and_clouds_are_left_out():
    selection = Selection([], [])
    for topic in ('/odom', '/cmd_vel', '/clock', '/front/labels'):
        assert selection.wants(topic)
    for topic in (
        '/f/camera_info',
        '/f/image_raw',
        '/f/image_raw/compressed',
        '/f/points',
        '/f/points/high',
        '/r/f/image_raw',
    ):
        assert not selection.wants(topic)
        assert Selection([topic], []).wants(topic)


@pytest.mark.parametrize('text', ['(', '[a', '*', ''])
def test_what_is_no_expression_is_refused(text):
    for topics, exclude in (([text], []), ([], [text])):
        with pytest.raises(BadPattern) as refused:
            Selection(topics, exclude)
        assert repr(text) in str(refused.value)
