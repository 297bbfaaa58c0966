# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Replies of a hostile server are typed errors, and the client continues."""

import pytest
from stock_replies import step_ok

from urlab_ros_bridge.client import Client
from urlab_ros_bridge.client.errors import ProtocolError
from urlab_ros_bridge.testing import FakeServer

STEP = b'\x82\xa2op\xa7step_ok\xa1a'


def counted(item, count):
    return b'\xdd' + count.to_bytes(4, 'big') + item * count


HOSTILE = {
    'list of maps': counted(b'\x80', 10_000),
    'nested': STEP + b'\x91' * 1_000_000,
    'promised': STEP + b'\xdf\xff\xff\xff\xff',
    'json brackets': b'{"op":"step_ok","a":' + b'[' * 200_000,
    'json digits': b'{"op":"step_ok","a":' + b'9' * 1_000_000 + b'}',
}


@pytest.mark.parametrize('name', HOSTILE)
def test_a_hostile_reply_is_a_protocol_error_and_the_client_continues(name):
    replies = [HOSTILE[name]]
    with FakeServer('rover') as server, Client(rpc_port=server.ports['rpc']) as client:
        server.answer('step', lambda _: replies.pop() if replies else step_ok())
        with pytest.raises(ProtocolError, match=r'^step: '):
            client.step()
        assert client.step().articulations['rover'].actions == 3
