# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""ROS, a policy, browsers and a peer that never reads, on one simulation at once."""

import json

from bridge_harness import LISTEN_BEST_EFFORT
from bridge_harness import wait_until
import pytest
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from websockets.sync.client import connect

from test.gateways.chiral.conftest import gateway_at as chiral_at
from test.gateways.chiral.stock_client import StockClient
from test.gateways.serving.raw_peer import frame
from test.gateways.serving.raw_peer import opened
from urlab_ros_bridge.client import Client
from urlab_ros_bridge.gateways.virtual_field.serving.server import WebXrConfig
from urlab_ros_bridge.gateways.virtual_field.serving.server import WebXrServer

pytestmark = [pytest.mark.ros, pytest.mark.timeout(180)]
pytest.importorskip('urlab_msgs.msg')

HELLO = json.dumps({'version': 1, 'type': 'hello', 'payload': {'role': 'spectator'}})


def test_everybody_sees_time_pass_and_a_peer_that_never_reads_costs_nobody_anything(simulation):
    server, _, listener = simulation('--world', 'bimanual')
    clock = listener.listen(Clock, '/clock', LISTEN_BEST_EFFORT)
    joints = listener.listen(JointState, '/joint_states', LISTEN_BEST_EFFORT)
    rpc = server.ports[0]
    field = WebXrServer(WebXrConfig(rpc_port=rpc, state_port=server.ports[1], port=0))
    field.start(30.0)
    try:
        with (
            chiral_at(rpc) as chiral,
            StockClient(chiral.url) as policy,
            connect(
                field.url.replace('http', 'ws'), max_size=None, ping_interval=None
            ) as spectator,
            Client(rpc_port=rpc, shared=True) as client,
        ):
            client.connect()
            stuck = opened(field.port, receive_buffer=4096)
            stuck.sendall(frame(HELLO.encode(), 0x81))
            spectator.send(HELLO)
            policy.reset()
            wait_until(lambda: clock and joints, 60)
            wait_until(lambda: any(c.dropped for c in field.clients), 90)
            began, ros = client.status().sim_time_ns, len(clock)
            seen, stamps = [], []
            for _ in range(40):
                stamps.append(policy.observe().extra['sim_time'])
                for _ in range(5):
                    message = json.loads(spectator.recv(timeout=30))
                    if message['type'] == 'scene_state':
                        seen.append(message['payload']['timestamp'])
            assert stamps == sorted(stamps) and stamps[-1] > stamps[0]
            assert seen == sorted(seen) and seen[-1] > seen[0]
            wait_until(lambda: len(clock) > ros + 20, 60)
            assert client.status().sim_time_ns > began
            stuck.close()
    finally:
        field.stop()
