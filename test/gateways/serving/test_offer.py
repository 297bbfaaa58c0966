# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Frames that are offered: whole ones only, in order, and never waited for."""

import threading
import time

from websockets.sync.client import connect

from test.gateways.serving.raw_peer import frame
from test.gateways.serving.raw_peer import opened
from test.gateways.serving.test_websocket_server import serving
from urlab_ros_bridge.gateways.serving.websocket_connection import frame_head


def framed(message):
    return frame_head(len(message)) + message


def wait_for(condition):
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def the_connection(server):
    wait_for(lambda: server.connections)
    return server.connections[0]


def test_offered_frames_and_messages_do_not_mix():
    with serving() as server, connect(f'ws://127.0.0.1:{server.port}/', max_size=None) as client:
        connection = the_connection(server)
        sent, done = [], threading.Event()

        def offer():
            for number in range(200):
                message = bytes([number]) * 300_000
                if connection.offer(framed(message)):
                    sent.append(number)
                connection.push()
            wait_for(lambda: connection.push())
            done.set()

        thread = threading.Thread(target=offer)
        thread.start()
        offered, echoed = [], 0
        client.send(b'text 0')
        while not (done.is_set() and len(offered) == len(sent) and echoed >= 20):
            message = client.recv()
            if isinstance(message, str):
                assert message == f'text {echoed}'
                echoed += 1
                client.send(f'text {echoed}'.encode())
            else:
                assert len(message) == 300_000 and len(set(message)) == 1
                offered.append(message[0])
        thread.join()
        assert offered == sent


def test_a_peer_that_does_not_read_is_busy_and_nothing_waits():
    with serving() as server:
        link = opened(server.port)
        connection = the_connection(server)
        message = framed(bytes(1 << 20))
        # Another thread that is just sending makes an offer fail, too.
        wait_for(lambda: not connection.offer(message) and connection.is_busy)
        began = time.thread_time()
        assert not any(connection.offer(message) for _ in range(100))
        assert not connection.push()
        assert time.thread_time() - began < 0.5
        link.close()
        wait_for(lambda: not connection.is_busy or not connection.offer(message))
        wait_for(lambda: not server.connections)
        assert not connection.offer(message)


def test_a_peer_that_sends_and_does_not_read_is_heard():
    with serving(keepalive=1.0) as server:
        link = opened(server.port)
        connection = the_connection(server)
        message = framed(bytes(1 << 20))
        wait_for(lambda: not connection.offer(message))
        heard = []
        server.echo.heard = heard.append
        deadline = time.monotonic() + 3.0
        while time.monotonic() < deadline:
            link.sendall(frame(b'heard'))
            time.sleep(0.1)
        assert len(heard) >= 10
        link.close()
