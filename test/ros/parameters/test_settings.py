# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace

import pytest

from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.parameters.settings import problems
from urlab_ros_bridge.ros.parameters.settings import settings_type
from urlab_ros_bridge.ros.program.features import Settings


def problem(name, value):
    return Settings.TABLE[name].problem(value)


def test_values_outside_a_range_or_choice_are_rejected():
    ranged = 0
    for name, row in Settings.TABLE.items():
        if row.key.choices:
            assert not any(problem(name, choice) for choice in row.key.choices)
            assert all(choice in problem(name, 'neither') for choice in row.key.choices)
        if row.range is not None:
            ranged += 1
            low, high = row.range
            assert problem(name, low) == problem(name, high) == ''
            for outside in (low - 1, high + 1):
                assert name in problem(name, row.kind(outside))
    assert ranged > 20


@pytest.mark.parametrize(
    ('name', 'value'),
    [
        ('rpc_port', True),
        ('robots', 'auto'),
        ('odom_frame', ''),
        ('odom_frame', '/odom'),
        ('map_frame', 'two words'),
        ('covariance.twist_stddev', (1.0, 2.0)),
        ('bag_topics', ('[',)),
        ('gps_origin', (91.0, 11.5, 520.0)),
    ],
)
def test_invalid_parameter_values_are_rejected(name, value):
    assert problem(name, value)


@pytest.mark.parametrize('value', ['', '/arm', 'my arm', 'arm/', 'arm//left', '2arms', 'ärm'])
def test_a_part_of_topic_names_is_valid_in_ros(value):
    assert problem('trajectory_controller', value)
    assert not problem('trajectory_controller', 'left_arm/controller')


def test_frames_must_differ():
    texts = problems(replace(Settings(), map_frame='odom'))
    assert len(texts) == 1 and 'map_frame' in texts[0] and 'odom_frame' in texts[0]
    assert problems(replace(Settings(), base_frame='base_footprint'))
    # An empty base_frame stands for base_link.
    assert problems(replace(Settings(), odom_frame='base_link'))


def test_a_check_that_raises_rejects_the_values_and_is_named():
    kind = settings_type((Feature('odd', check=lambda settings: [][1]),))
    (text,) = problems(kind())
    assert 'test_settings' in text and 'IndexError' in text
