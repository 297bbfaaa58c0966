# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Reading of hello; its answers are in serving/test_roles.py."""

import pytest

from urlab_ros_bridge.gateways.virtual_field.errors import BadMessage
from urlab_ros_bridge.gateways.virtual_field.protocol.hello import Hello
from urlab_ros_bridge.gateways.virtual_field.protocol.hello import read_hello


def test_defaults_ids_and_extensions_of_a_hello():
    assert read_hello({}) == read_hello({'role': None}) == Hello('vr_client')
    hello = read_hello({'role': 'spectator', 'user_id': ' me ', 'extensions': ['x', 'binary', 3]})
    assert (hello.user_id, hello.extensions) == ('me', ('binary',))
    assert read_hello({'role': 'publisher', 'owner_id': 7}).owner_id == '7'


@pytest.mark.parametrize(
    ('name', 'value'),
    [
        ('role', 3), ('requested_arm_count', 'two'), ('requested_arm_count', 0),
        ('user_id', 'x' * 200), ('extensions', 'binary'),
    ],
)  # fmt: skip
def test_an_invalid_field_is_named(name, value):
    with pytest.raises(BadMessage, match=name):
        read_hello({name: value})
