# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
import pytest

from urlab_ros_bridge.ros.parameters.settings import problems
from urlab_ros_bridge.ros.program.features import Settings

RANGED = [name for name, row in Settings.TABLE.items() if row.range is not None]
CHOSEN = [name for name, row in Settings.TABLE.items() if row.key.choices]


def problem(name, value):
    return Settings.TABLE[name].problem(value)


@pytest.mark.parametrize('name', RANGED)
def test_values_outside_a_range_are_rejected(name):
    row = Settings.TABLE[name]
    kind = row.kind
    low, high = row.range
    assert problem(name, low) == problem(name, high) == ''
    for outside in (low - 1, high + 1):
        assert name in problem(name, kind(outside)) and str(outside) in problem(name, outside)


@pytest.mark.parametrize('name', CHOSEN)
@given(value=st.text(max_size=8))
def test_an_invalid_choice_is_rejected_with_the_valid_ones(name, value):
    choices = Settings.TABLE[name].key.choices
    text = problem(name, value)
    assert bool(text) == (value not in choices)
    assert not text or all(choice in text for choice in choices)


@pytest.mark.parametrize(
    ('name', 'value'),
    [
        ('host', 7),
        ('rpc_port', 5559.0),
        ('rpc_port', True),
        ('observe_only', 1),
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
    assert problem('trajectory_controller', 'left_arm/controller') == ''
    assert repr(value) in problem('trajectory_controller', value)


def test_frames_must_differ():
    texts = problems(replace(Settings(), map_frame='odom'))
    assert len(texts) == 1 and 'map_frame' in texts[0] and 'odom_frame' in texts[0]
    assert problems(replace(Settings(), base_frame='base_footprint'))
    # An empty base_frame stands for base_link.
    assert problems(replace(Settings(), odom_frame='base_link'))
