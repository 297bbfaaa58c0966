# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The gateway on a server without our extensions: one plain session and no status."""

from contextlib import contextmanager
import threading

import pytest
import zmq

from test.gateways.chiral.stock_client import StockClient
from urlab_ros_bridge.wire.encoding.codec import pack
from urlab_ros_bridge.wire.encoding.codec import unpack

STOCK_HELLO = ('extensions', 'depth_unit', 'world', 'timestep')


@contextmanager
def stock_view(port):
    """A relay that hides what stock servers do not have; yields its port and the ops it saw."""
    context, ops, ending = zmq.Context(), [], threading.Event()
    front, back = context.socket(zmq.REP), context.socket(zmq.REQ)
    front_port = front.bind_to_random_port('tcp://127.0.0.1')
    back.connect(f'tcp://127.0.0.1:{port}')

    def relay():
        while not ending.is_set():
            if not front.poll(50):
                continue
            request = unpack(front.recv(), 1 << 30)
            ops.append(request['op'])
            assert 'shared' not in request
            back.send(pack(request))
            reply = unpack(back.recv(), 1 << 30)
            if reply['op'] == 'hello_ok':
                for key in STOCK_HELLO:
                    reply.pop(key, None)
            if reply['op'] == 'meta_ok':
                reply['ops'] = [op for op in reply['ops'] if op.get('name') != 'status']
            front.send(pack(reply))

    thread = threading.Thread(target=relay)
    thread.start()
    try:
        yield front_port, ops
    finally:
        ending.set()
        thread.join()
        front.close(0)
        back.close(0)
        context.term()


@pytest.mark.parametrize('pace', ['lockstep', 'real_time'])
def test_a_stock_server_is_served_too(quadruped, gateway, pace, urlab):
    with (
        stock_view(quadruped) as (port, ops),
        gateway(port, {'pace': pace}) as server,
        StockClient(server.url) as client,
    ):
        start = client.reset()
        client.act(start.proprios['joint_pos'])
        seen = client.observe()
        assert seen.timestamp >= start.timestamp
        assert seen.proprios['base_pose'][2] > 0.2
    assert ops.count('hello') == 1
    assert 'status' not in ops
    urlab(quadruped).set_mode('live')
