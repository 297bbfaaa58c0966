# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The gateway on a server without our extensions: one plain session and no status."""

from proxy import Fault
from proxy import Proxy

from test.gateways.chiral.stock_client import StockClient
from urlab_ros_bridge.conformance import Places

STOCK_HELLO = ('extensions', 'depth_unit', 'world', 'timestep')


def test_a_stock_server_is_served_too(quadruped, gateway, urlab):
    """The proxy hides what stock servers do not have."""
    requests = []

    def note(request):
        requests.append(request)
        return request

    def hide(request, reply):
        if reply['op'] == 'hello_ok':
            for key in STOCK_HELLO:
                reply.pop(key, None)
        if reply['op'] == 'meta_ok':
            reply['ops'] = [op for op in reply['ops'] if op.get('name') != 'status']
        return reply

    places = Places('127.0.0.1', f'tcp://127.0.0.1:{quadruped}', '', '', '')
    with (
        Proxy(places, Fault(note, hide)) as proxy,
        gateway(int(proxy.places.rpc.rpartition(':')[2])) as server,
        StockClient(server.url) as client,
    ):
        start = client.reset()
        client.act(start.proprios['joint_pos'])
        seen = client.observe()
        assert seen.timestamp >= start.timestamp and seen.proprios['base_pose'][2] > 0.2
    ops = [request['op'] for request in requests]
    assert ops.count('hello') == 1 and 'status' not in ops
    assert not any('shared' in request for request in requests)
    urlab(quadruped).set_mode('live')
