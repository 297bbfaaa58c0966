# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
from dataclasses import dataclass
from dataclasses import replace
import math

from hypothesis import given
from hypothesis import strategies as st
import pytest

from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.parameters.settings import groups
from urlab_ros_bridge.ros.parameters.settings import problems
from urlab_ros_bridge.ros.parameters.settings import settings_type
from urlab_ros_bridge.ros.program.features import FEATURES
from urlab_ros_bridge.ros.program.features import Settings
from urlab_ros_bridge.schema import key

RANGED = [name for name, row in Settings.TABLE.items() if row.range is not None]
CHOSEN = [name for name, row in Settings.TABLE.items() if row.key.choices]


def problem(name, value):
    return Settings.TABLE[name].problem(value)


def test_the_defaults_are_accepted():
    assert problems(Settings()) == []


def test_every_parameter_is_in_one_group_and_has_a_text():
    listed = [row.name for rows in groups(Settings).values() for row in rows]
    assert sorted(listed) == sorted(Settings.TABLE)
    assert all(row.key.text.endswith('.') for row in Settings.TABLE.values())


@pytest.mark.parametrize('name', RANGED)
def test_a_range_ends_where_it_says(name):
    row = Settings.TABLE[name]
    kind = row.kind
    low, high = row.range
    assert problem(name, low) == problem(name, high) == ''
    for outside in (low - 1, high + 1):
        assert name in problem(name, kind(outside)) and str(outside) in problem(name, outside)


@pytest.mark.parametrize('name', CHOSEN)
@given(value=st.text(max_size=8))
def test_a_choice_outside_the_list_is_told_with_the_list(name, value):
    choices = Settings.TABLE[name].key.choices
    text = problem(name, value)
    assert bool(text) == (value not in choices)
    assert not text or all(choice in text for choice in choices)


@pytest.mark.parametrize('value', [math.nan, math.inf, -math.inf])
def test_no_float_takes_what_is_not_finite(value):
    for name, row in Settings.TABLE.items():
        if isinstance(row.default, float):
            assert problem(name, value)
    assert problem('covariance.pose_stddev', (value,) * 6)


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
    ],
)
def test_values_that_no_parameter_takes(name, value):
    assert problem(name, value)


@pytest.mark.parametrize('value', ['', '/arm', 'my arm', 'arm/', 'arm//left', '2arms', 'ärm'])
def test_a_part_of_topic_names_is_one_that_ros_takes(value):
    assert problem('trajectory_controller', 'left_arm/controller') == ''
    assert repr(value) in problem('trajectory_controller', value)


def test_an_array_of_deviations_is_six_or_one_that_is_negative():
    assert not problem('covariance.pose_stddev', (0.1,) * 6)
    assert not problem('covariance.pose_stddev', (-1.0,))
    assert problem('covariance.pose_stddev', (1.0,))


def test_frames_must_differ():
    texts = problems(replace(Settings(), map_frame='odom'))
    assert len(texts) == 1 and 'map_frame' in texts[0] and 'odom_frame' in texts[0]
    assert problems(replace(Settings(), base_frame='base_footprint'))
    # An empty base_frame stands for base_link.
    assert problems(replace(Settings(), odom_frame='base_link'))


def test_an_empty_robot_name_is_refused():
    assert problems(replace(Settings(), robots=('a', '')))
    assert problems(replace(Settings(), robots=()))


@pytest.mark.parametrize(
    'change',
    [
        {'frame_prefix': '/rover/'},
        {'grippers': ('hand',)},
        {'grippers': ('hand:',)},
        {'gps_origin': (91.0, 0.0, 0.0)},
    ],
)
def test_values_that_would_fail_later_are_refused_with_their_name(change):
    (text,) = problems(replace(Settings(), **change))
    assert text.startswith(next(iter(change)))


def test_a_prefix_of_frames_a_gripper_and_a_place_on_earth_are_accepted():
    good = {'frame_prefix': '{prefix}/', 'gps_origin': (-33.9, 151.2, 20.0)}
    assert problems(replace(Settings(), **good, grippers=('rover/hand:a,b',))) == []


def test_a_path_may_be_long_but_not_endless():
    assert problem('data_dir', '/data' * 100) == ''
    assert problem('bag_topics', ('/topic' * 100,)) == ''
    assert '4096' in problem('data_dir', 'x' * 5000)
    assert '4096' in problem('bag_topics', ('x' * 5000,))


def test_two_features_cannot_have_one_parameter():
    @dataclass(frozen=True)
    class Twice:
        clock_rate: float = key(1.0, 'The same name again.')

    with pytest.raises(ValueError, match='clock_rate'):
        settings_type((*FEATURES, Feature('twice', Twice, group='Names')))
