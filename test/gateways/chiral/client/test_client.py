# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The Chiral client: responses by type, timeouts, reconnecting, old observations."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
import contextlib
import time

import numpy as np
import pytest
from websockets.sync.server import serve

from urlab_ros_bridge.gateways.chiral.client.async_client import AsyncChiralClient
from urlab_ros_bridge.gateways.chiral.client.client import ChiralClient
from urlab_ros_bridge.gateways.chiral.errors import ChiralClosed
from urlab_ros_bridge.gateways.chiral.errors import ChiralTimeout
from urlab_ros_bridge.gateways.chiral.errors import NotChiral
from urlab_ros_bridge.gateways.chiral.errors import StaleObservation
from urlab_ros_bridge.gateways.chiral.protocol import codec
from urlab_ros_bridge.gateways.chiral.protocol.codec import Observation
from urlab_ros_bridge.gateways.chiral.protocol.framing import split_frame


@contextlib.contextmanager
def scripted(answer, port=0, **options):
    """
    Serve what `answer` of a request's type and number returns; yield the URL.

    It is a list of frames, texts, pauses (float) and close codes (int).
    """

    def talk(link):
        for message in link:
            counts.append(1)
            for part in answer(split_frame(message)[0]['type'], len(counts)):
                if isinstance(part, float):
                    time.sleep(part)
                elif isinstance(part, int):
                    link.close(part, 'because')
                    return
                else:
                    link.send(part if isinstance(part, str) else b''.join(part))

    counts = []
    server = serve(talk, '127.0.0.1', port, compression=None, **options)
    with ThreadPoolExecutor(1) as pool, contextlib.closing(server.socket):
        pool.submit(server.serve_forever)
        try:
            yield f'ws://127.0.0.1:{server.socket.getsockname()[1]}'
        finally:
            server.shutdown()


def seen(stamp, kind='obs_response'):
    return codec.encode_observation(kind, Observation(stamp, [], {'n': np.ones(2, np.float32)}))


META = codec.encode_metadata({'number': 1})


def test_answers_that_are_late_or_that_nobody_asked_for_are_dropped():
    def answer(kind, count):
        if kind == 'metadata':
            return [seen(9.0, 'reset_response'), META]
        return [0.5, seen(1.0)] if count == 1 else [seen(float(count))]

    with scripted(answer) as url, ChiralClient(url, timeout=0.3) as client:
        with pytest.raises(ChiralTimeout, match='obs_request'):
            client.observe()
        time.sleep(0.3)
        assert [client.observe().timestamp for _ in range(2)] == [2.0, 3.0]
        assert client.metadata() == {'number': 1}
        assert client.latest.timestamp == 3.0 and client.dropped == 2


def test_an_action_that_may_be_lost_is_told_to_a_call_that_waits_already():
    """It had begun before the action was sent, and would connect again without a word."""

    def answer(kind, count):
        return {1: [], 2: [1011]}.get(count, [seen(float(count))])

    async def act_while_observing(url):
        async with AsyncChiralClient(url) as client:
            waiting = asyncio.create_task(client.observe())
            await asyncio.sleep(0)
            await client.act(np.zeros(2))
            with pytest.raises(ChiralClosed):
                await waiting
            assert (await client.observe()).timestamp == 3.0

    with scripted(answer) as url:
        asyncio.run(act_while_observing(url))


def test_requests_may_overlap():
    def answer(kind, count):
        return [seen(0.0, 'reset_response')] if kind == 'reset' else [seen(float(count))]

    async def many(url):
        async with AsyncChiralClient(url) as client:
            jobs = [client.observe(), client.reset(), client.observe(), client.reset()]
            return [result.timestamp for result in await asyncio.gather(*jobs)]

    with scripted(answer) as url:
        stamps = asyncio.run(many(url))
    assert stamps[1] == stamps[3] == 0.0
    assert 0.0 < stamps[0] < stamps[2]


@pytest.mark.parametrize(
    ('request_of', 'code', 'repeats'),
    [
        (ChiralClient.observe, 1001, True),
        (ChiralClient.reset, 1001, False),
        # A policy whose actions are refused, or may be lost, must be told.
        (lambda client: client.step(np.zeros(3)), 1008, False),
        (lambda client: client.step(np.zeros(3)), 1001, False),
    ],
)
def test_only_an_observation_is_requested_again_after_a_lost_connection(request_of, code, repeats):
    def answer(kind, count):
        return [code] if count == 1 else [seen(2.0)]

    with scripted(answer) as url, ChiralClient(url) as client:
        if repeats:
            assert request_of(client).timestamp == 2.0
            return
        with pytest.raises(ChiralClosed, match=f'{code} because') as caught:
            request_of(client)
        assert caught.value.code == code
        assert client.observe().timestamp == 2.0  # later requests connect again


def test_an_action_that_was_lost_while_a_policy_blocked_its_loop_is_reported():
    """The server gives up a client that answers no pings; sending notices nothing of it."""

    async def block_and_step(url):
        async with AsyncChiralClient(url) as client:
            await client.observe()
            await client.step(np.zeros(3))
            time.sleep(2.0)
            with pytest.raises(ChiralClosed):
                await client.step(np.zeros(3))
            return (await client.observe()).timestamp

    def answer(kind, count):
        return [] if kind == codec.ACT else [seen(float(count))]

    with scripted(answer, ping_interval=0.2, ping_timeout=0.2) as url:
        assert asyncio.run(block_and_step(url)) > 2.0


def test_a_client_waits_for_a_server_that_starts_late():
    with scripted(lambda kind, count: [META]) as url:
        port = int(url.rpartition(':')[2])
    late = ChiralClient(url, timeout=20)
    with ThreadPoolExecutor() as pool:
        connecting = pool.submit(late.connect)
        time.sleep(0.3)
        with scripted(lambda kind, count: [META], port):
            connecting.result()
            assert late.metadata() == {'number': 1}
            late.close()
    with pytest.raises(ChiralTimeout, match='connect'):
        ChiralClient(url, timeout=0.3).connect()


def test_frames_that_never_change_are_noticed():
    with (
        scripted(lambda kind, count: [seen(1.0)]) as url,
        ChiralClient(url, stale_after=0.2) as client,
    ):
        client.observe()
        time.sleep(0.3)
        with pytest.raises(StaleObservation, match=r'allowed: 0\.2 s'):
            client.observe()


def test_a_server_of_another_protocol_is_reported_at_the_first_attempt(quadruped):
    """Such as that of the simulation itself, which is ZeroMQ."""
    with pytest.raises(NotChiral, match=rf'127.0.0.1:{quadruped} .*xff'):
        ChiralClient(f'ws://127.0.0.1:{quadruped}', timeout=100).connect()


@pytest.mark.parametrize('frame', ['{"op": "serverInfo"}', [b'\xff' * 9]], ids=('text', 'bytes'))
def test_a_websocket_of_another_protocol_is_reported(frame):
    """Such as that of Foxglove, which has the same port."""
    with (
        scripted(lambda kind, count: [frame]) as url,
        ChiralClient(url, timeout=100, reconnect=False) as client,
        pytest.raises((NotChiral, ValueError), match=r'serverInfo|the server sent b.\\xff\\xff'),
    ):
        client.metadata()


def test_against_the_gateway(quadruped, gateway):
    with (
        gateway(quadruped, {'pace': 'lockstep'}, token='a&b') as server,
        ChiralClient(server.url, token='a&b') as client,
    ):
        start = client.reset(seed=5)
        assert start.info['seed'] == 5
        after = client.step(start.proprios['joint_pos'])
        assert after.timestamp > start.timestamp
        with pytest.raises(ChiralClosed, match='HTTP 503 '):
            ChiralClient(server.url, token='a&b').connect()
        for connection in server.connections:
            connection.close(1001, 'go')
        assert client.observe().timestamp > 0  # the gateway may not have seen yet that it left
