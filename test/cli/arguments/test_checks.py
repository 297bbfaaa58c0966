# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0

from hypothesis import given
from hypothesis import strategies as st
import pytest

from urlab_ros_bridge.cli.arguments import checks


@pytest.mark.ros
@given(st.text(st.sampled_from('aZ_19/-.~ é{}'), max_size=12))
def test_a_namespace_is_valid_if_ros_accepts_it(name):
    from rclpy.exceptions import InvalidNamespaceException
    from rclpy.validate_namespace import validate_namespace

    if checks.ros_namespace(name) == '':
        validate_namespace('/' + name.strip('/'))  # as the bridge and launch pass it on
    elif '__' not in name and not name.startswith('//') and name.rstrip('/') == name:
        with pytest.raises(InvalidNamespaceException):
            validate_namespace(name if name.startswith('/') else f'/{name}')


@pytest.mark.parametrize(
    ('text', 'problem'),
    [
        ('sim: {urlab_bridge: {ros__parameters: {}}}', ''),
        ('clock_rate: 5.0', '\'clock_rate\' has no "ros__parameters:" below it'),
        ('', 'is empty'),
        ('a: "\0"', 'is not valid YAML'),
    ],
)
def test_a_parameter_file_is_read_before_ros_reads_it(text, problem, tmp_path):
    file = tmp_path / 'p.yaml'
    file.write_text(text)
    found = checks.parameter_file(str(file))
    assert (problem in found and '\n' not in found) if problem else found == ''


def test_an_address_that_no_socket_can_bind_is_refused_early():
    for text in ('localhost', '127.0.0.1', '*', '[::]', 'lo'):
        assert checks.bind_address(text) == ''
    assert "'127.0.0.1'" in checks.bind_address('127.0.0.l')
