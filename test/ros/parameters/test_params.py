# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import pytest
from rclpy.parameter import Parameter

from urlab_ros_bridge.ros.parameters.params import Parameters
from urlab_ros_bridge.ros.parameters.params import undeclared_overrides
from urlab_ros_bridge.ros.program.features import Settings

pytestmark = pytest.mark.distro


@pytest.fixture
def make_node(ros_node):
    """Return a function: overrides of parameters -> node."""
    return lambda **overrides: ros_node(
        parameter_overrides=[Parameter(name, value=value) for name, value in overrides.items()]
    )


def test_every_row_is_declared_with_its_text_and_range(make_node):
    node = make_node()
    parameters = Parameters(node, Settings)
    assert parameters.settings == Settings()
    for name, row in Settings.TABLE.items():
        descriptor = node.describe_parameter(name)
        assert descriptor.description == row.key.text
        assert descriptor.read_only == (not row.live)
        ranges = [*descriptor.integer_range, *descriptor.floating_point_range]
        assert bool(ranges) == (row.range is not None)


def test_overrides_are_taken_and_whole_numbers_are_floats_too(make_node):
    values = {'clock_rate': 50, 'robots': ['a', 'b'], 'covariance.pose_stddev': [1, 1, 1, 2, 2, 2]}
    settings = Parameters(make_node(**values), Settings).settings
    assert settings.clock_rate == 50.0 and isinstance(settings.clock_rate, float)
    assert settings.robots == ('a', 'b')
    assert settings.pose_stddev == (1.0, 1.0, 1.0, 2.0, 2.0, 2.0)


def test_a_change_with_one_bad_value_changes_nothing(make_node):
    node, seen = make_node(), []
    parameters = Parameters(node, Settings, seen.append)
    result = node.set_parameters_atomically(
        [Parameter('clock_rate', value=10.0), Parameter('step_mode', value='fast')]
    )
    assert not result.successful and 'step_mode' in result.reason and 'live' in result.reason
    assert parameters.settings == Settings() and not seen
    assert node.get_parameter('clock_rate').value == Settings().clock_rate


def test_an_undeclared_override_is_reported_with_the_nearest_name(make_node):
    node = make_node(clok_rate=5.0, zzz=1, **{'qos_overrides./odom.publisher.depth': 5})
    Parameters(node, Settings)
    texts = undeclared_overrides(node, Settings)
    assert len(texts) == 2
    assert "'clock_rate'" in next(text for text in texts if 'clok_rate' in text)
    assert 'did you mean' not in next(text for text in texts if 'zzz' in text)
