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
    ('payload', 'reason'),
    [
        ({'role': 3}, 'role must be a string'),
        ({'role': 'admin'}, "unknown role 'admin'; valid: vr_client, spectator, publisher"),
        ({'requested_arm_count': 'two'}, 'requested_arm_count must be a number'),
        ({'requested_arm_count': 0}, 'requested_arm_count is 0, not within 1 and 64'),
        ({'user_id': 'x' * 200}, 'user_id has 200 characters, more than 128'),
        ({'extensions': 'binary'}, 'extensions must be a short list of names'),
    ],
)
def test_reasons(payload, reason):
    with pytest.raises(BadMessage) as caught:
        read_hello(payload)
    assert str(caught.value).startswith(reason)
