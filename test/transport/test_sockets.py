# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A connection that breaks while its queue is full must not end the process."""

import sys

from lifelines import run_process

# Two full queues and servers that go; it takes two seconds until a heartbeat would find that out.
PROGRAM = """
import time
import zmq
from urlab_ros_bridge.client.cameras.stream import CameraStream
from urlab_ros_bridge.client.replies.handshake import CameraInfo
from urlab_ros_bridge.client.state.stream import StateStream

servers = [zmq.Context.instance().socket(zmq.XPUB) for _ in range(2)]
ports = [server.bind_to_random_port('tcp://127.0.0.1') for server in servers]
endpoint = f'tcp://127.0.0.1:{ports[0]}'
streams = [CameraStream(endpoint, CameraInfo('eye', 'real', (4, 4), 60.0, endpoint, 'eye')),
           StateStream(state_port=ports[1], rcvhwm=2)]
for server in servers:
    server.recv()
    for _ in range(200):
        server.send_multipart([b'eye ', bytes(1 << 16)])
time.sleep(0.2)
for server in servers:
    server.close(0)
time.sleep(2.5)
for stream in streams:
    stream.close()
print('alive')
"""


def test_closing_servers_with_full_queues_do_not_end_the_process():
    done = run_process([sys.executable, '-c', PROGRAM], capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ('alive\n', 0), done.stderr
