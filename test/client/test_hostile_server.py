# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A server that answers what costs more than it should: typed errors, and the client goes on."""

from fake_server import FakeServer
from fake_server import step_ok
import pytest

from urlab_ros_bridge.client import Client
from urlab_ros_bridge.client.errors import ProtocolError
from urlab_ros_bridge.client.replies.observations import decode_snapshot
from urlab_ros_bridge.client.state.assembler import TickAssembler
from urlab_ros_bridge.conformance.peer import decode
from urlab_ros_bridge.conformance.verdict import Failed
from urlab_ros_bridge.wire.errors import WireError

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
def test_the_client_says_so_and_goes_on(name):
    replies = [HOSTILE[name]]
    ops = {'step': lambda _: replies.pop() if replies else step_ok()}
    with FakeServer(ops) as server, Client(rpc_port=server.port) as client:
        with pytest.raises(ProtocolError, match=r'^step: '):
            client.step()
        assert client.step().articulations['rover'].actions == 3


@pytest.mark.parametrize('name', HOSTILE)
def test_so_does_the_state_stream(name):
    with pytest.raises(WireError):
        decode_snapshot(HOSTILE[name])
    assembler = TickAssembler('state_full')
    assembler.push(b'state/full', HOSTILE[name])
    (tick,) = assembler.ready
    with pytest.raises(WireError):
        tick.stamp_from_snapshot()


@pytest.mark.parametrize('name', HOSTILE)
def test_so_does_the_conformance_suite(name):
    with pytest.raises(Failed, match='msgpack or JSON'):
        decode(HOSTILE[name])
