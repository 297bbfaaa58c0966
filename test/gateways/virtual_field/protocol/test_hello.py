# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""hello and hello_ack: exactly the keys of each role."""

import pytest

from urlab_ros_bridge.gateways.virtual_field.errors import BadMessage
from urlab_ros_bridge.gateways.virtual_field.protocol.hello import acknowledge
from urlab_ros_bridge.gateways.virtual_field.protocol.hello import Hello
from urlab_ros_bridge.gateways.virtual_field.protocol.hello import read_hello


def test_the_hello_of_the_page_is_read():
    payload = {
        'client': 'bsr-webxr', 'role': 'vr_client', 'requested_arm_count': 2,
        'character_mode': 'spirobs',
    }  # fmt: skip
    assert read_hello(payload) == Hello('vr_client', 'bsr-webxr', 2, 'spirobs')


def test_without_a_role_it_is_a_vr_client():
    assert read_hello({}) == read_hello({'role': None}) == Hello('vr_client')


def test_ids_are_texts_without_blanks_and_extensions_those_that_are_known():
    hello = read_hello({'role': 'spectator', 'user_id': ' me ', 'extensions': ['x', 'binary', 3]})
    assert (hello.user_id, hello.extensions) == ('me', ('binary',))
    assert read_hello({'role': 'publisher', 'owner_id': 7}).owner_id == '7'


@pytest.mark.parametrize(
    ('payload', 'reason'),
    [
        ({'role': 'admin'}, "unknown role 'admin'; valid: vr_client, spectator, publisher"),
        ({'role': 3}, 'role must be a string'),
        ({'requested_arm_count': 'two'}, 'requested_arm_count must be a number'),
        ({'requested_arm_count': 0}, 'requested_arm_count is 0, not within 1 and 64'),
        ({'requested_arm_count': True}, 'requested_arm_count must be a number'),
        ({'user_id': []}, 'user_id must be a string'),
        ({'user_id': 'x' * 200}, 'user_id has 200 characters, more than 128'),
        ({'extensions': 'binary'}, 'extensions must be a short list of names'),
    ],
)
def test_reasons(payload, reason):
    with pytest.raises(BadMessage) as caught:
        read_hello(payload)
    assert str(caught.value).startswith(reason)


def test_acks_have_the_keys_of_their_role():
    common = {'protocol', 'server_time', 'role'}
    ids = {'user_id', 'arm_ids', 'controlled_arm_ids'}
    vr = acknowledge(Hello('vr_client', character_mode='m'), 'user_1', ['a'], ['a', 'a'])
    assert vr.keys() == common | ids | {'character_mode'}
    assert acknowledge(Hello('spectator'), 's', [], []).keys() == common | ids
    assert acknowledge(Hello('publisher'), 'p', [], []).keys() == common | {'owner_id'}
    page = acknowledge(Hello('spectator', extensions=('binary',)), 's', [], [])
    assert page['extensions'] == ['binary']
