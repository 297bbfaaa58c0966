# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Roles of clients, and errors that close a connection."""

import contextlib

import numpy as np
import pytest
from raw_peer import opened
from raw_peer import opening
from raw_peer import rest
from raw_peer import status
from waiting import wait_until
from websockets.exceptions import ConnectionClosed

from test.gateways.chiral.stock_client import connect_when_free
from test.gateways.chiral.stock_client import StockClient
from urlab_ros_bridge.gateways.chiral.serving.server import MAX_VIEWERS
from urlab_ros_bridge.gateways.serving import websocket_server


@pytest.fixture(scope='module')
def server(quadruped, gateway):
    with gateway(quadruped, {'pace': 'lockstep'}, viewers=True) as running:
        yield running


def test_a_viewer_sees_what_the_driver_does_and_may_not_drive(server):
    with (
        connect_when_free(server.url, offer='deflate') as driver,
        StockClient(f'{server.url}/view') as viewer,
    ):
        assert driver.socket.response.headers.get('Sec-WebSocket-Extensions') is None
        assert viewer.metadata()['role'] == 'viewer'
        start = driver.reset()
        driver.act(start.proprios['joint_pos'])
        done = driver.observe()
        assert viewer.observe().payload == done.payload
        viewer.act(np.zeros(12))
        with pytest.raises(ConnectionClosed, match=r'1008.*apply_action'):
            viewer.receive()
        assert driver.observe().timestamp > 0


def test_viewers_are_an_option_and_leave_room_for_a_driver(server, quadruped, gateway):
    with gateway(quadruped, {'pace': 'lockstep'}) as closed:
        assert ' 403 ' in status(closed.port, opening('/view'))[0]
    with contextlib.ExitStack() as stack:
        for _ in range(MAX_VIEWERS):
            stack.enter_context(opened(server.port, '/view'))
        line, text = status(server.port, opening('/view'))
        assert ' 503 ' in line and f'{MAX_VIEWERS} viewers' in text
        with connect_when_free(server.url) as driver:
            assert driver.reset().type == 'reset_response'


def test_a_driver_that_never_spoke_is_replaced_by_one_that_comes_later(server, monkeypatch):
    with opened(server.port) as silent:
        assert ' 503 ' in status(server.port, opening())[0]
        monkeypatch.setattr(websocket_server, 'SILENT_SECONDS', 0.0)
        with StockClient(server.url) as driver:
            assert driver.reset().type == 'reset_response'
            assert ' 503 ' in status(server.port, opening())[0]
        assert b'the place was needed' in rest(silent)


def action(shape, *values):
    header = {'type': 'apply_action', 'shape': shape, 'dtype': 'float32'}
    return header, np.array(values, '<f4').tobytes()


BAD = {
    'size': (*action([11], *[0.0] * 11), 'action of shape \\[11\\], expected \\[12\\]'),
    'nan': (*action([2, 12], *[0.0] * 23, float('nan')), 'not finite'),
    'payload': (*action([12], *[0.0] * 6), 'needs 48 bytes, there are 24'),
    'type': ({'type': 'go'}, b'', "unknown message type 'go'; valid: metadata"),
    'keyframe': ({'type': 'reset', 'keyframe': 'nowhere'}, b'', 'nowhere'),
}


@pytest.mark.parametrize('name', BAD)
def test_the_close_reason_names_the_error(server, name):
    header, payload, says = BAD[name]
    with connect_when_free(server.url) as client:
        client.send(header, payload)
        with pytest.raises(ConnectionClosed, match=says):
            client.receive()
    with connect_when_free(server.url) as client:
        assert client.observe().type == 'obs_response'


def test_jumps_are_limited(quadruped, gateway):
    layout = [{'kind': 'joint_position', 'max_jump': 0.2}]
    profile = {'pace': 'lockstep', 'actions': layout}
    with gateway(quadruped, profile) as server, StockClient(server.url) as client:
        start = client.reset().proprios['joint_pos']
        client.act(start + 0.15)
        client.act(start + 0.3)
        before = client.observe()
        far = np.array([start + 0.4, start + 0.9])  # the second row jumps: none of them is done
        client.act(far)
        with pytest.raises(ConnectionClosed, match=r'FL_hip jumps by 0.5'):
            client.receive()
        with connect_when_free(server.url) as later:
            assert later.observe().timestamp == before.timestamp
    profile['control'] = {'on_jump': 'clip'}
    with gateway(quadruped, profile) as server, StockClient(server.url) as client:
        start = client.reset().proprios['joint_pos']
        for _ in range(20):
            client.act(start + [0, 0.9, 0] * 4)
        assert np.ptp(client.observe().proprios['joint_pos'] - start) > 0.5


def test_nothing_moves_after_a_refusal(server):
    """What was sent behind a refused action is dropped, also when it came with it."""
    with connect_when_free(server.url) as client:
        start = client.reset()
        client.act(np.zeros(11))
        with contextlib.suppress(ConnectionClosed):
            for _ in range(50):
                client.act(start.proprios['joint_pos'])
        with pytest.raises(ConnectionClosed, match=r'1008 .*expected'):
            client.receive()
    with connect_when_free(server.url) as later:
        assert later.observe().timestamp == start.timestamp


def test_during_a_reset_actions_wait_and_the_newest_counts_and_pings_are_answered(
    quadruped, gateway
):
    """A stock client goes on sending while it resets: thousands, if it likes."""
    profile = {'reset': {'settle': 1.5}, 'proprio': [{'kind': 'joint_target'}]}
    with gateway(quadruped, profile) as server, StockClient(server.url) as client:
        start = client.reset().proprios['joint_target']
        client.send({'type': 'reset'})
        for step in range(400):
            client.act(start + 0.0002 * step)
        assert client.socket.ping().wait(20.0)
        with pytest.raises(TimeoutError):  # the answer comes after that of the ping
            client.receive(timeout=0)
        client.receive()
        newest = pytest.approx(start[1] + 0.0798, abs=1e-4)
        wait_until(lambda: client.observe().proprios['joint_target'][1] == newest, every=0.03)
