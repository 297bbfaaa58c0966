# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Requests over sockets: neither slow nor malformed ones affect other clients."""

from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import wait
import contextlib
import dataclasses
import socket
import threading
import time

import pytest
from raw_zmtp import shake_hands
from waiting import wait_until
import zmq

from urlab_ros_bridge.sim.physics import run_state
from urlab_ros_bridge.transport import router as router_module
from urlab_ros_bridge.wire.encoding import codec


def raw_dealer(endpoint):
    """Return a TCP connection that has shaken hands as a DEALER."""
    peer = socket.create_connection(endpoint.removeprefix('tcp://').split(':'), 30.0)
    shake_hands(peer, 'DEALER')
    return peer


@pytest.fixture
def patient(monkeypatch):
    """Steps of a paused world wait far longer than clients wait for a reply."""
    monkeypatch.setattr(run_state, 'STEP_TIMEOUT', 60.0)


@pytest.fixture
def slow(server, patient):
    """Return a server whose steps take milliseconds, which it knows."""
    running = server(world='quadruped', step_mode='direct')
    engine = running.simulation.engine
    engine.run.seconds_per_step = 1.0
    engine.hooks.after_step.append(lambda: time.sleep(0.001))
    return running


@pytest.fixture
def pool():
    """Return an executor of as many threads as a test needs."""
    with ThreadPoolExecutor(100) as made:
        yield made


def waiting_steps(pool, running, callers, total=0):
    """Have each caller send a step to a paused world; return the futures of the replies."""
    total = total or len(callers)
    waiting = [pool.submit(caller.ask, 'step') for caller in callers]
    wait_until(lambda: running._router._running >= total)
    assert running._router._running == total
    return waiting


def test_waiting_steps_do_not_block_other_requests(server, connect, tmp_path, patient, pool):
    running = server(world='quadruped', step_mode='direct', data_dir=tmp_path)
    callers = [connect(running, timeout=60, shared=True) for _ in range(20)]
    other = connect(running, timeout=20, shared=True)
    other.ask('recording_start')
    other.ask('step')
    other.ask('set_paused', paused=True)
    waiting = waiting_steps(pool, running, callers)
    other.hello(shared=True)
    other.ask('get_contacts')
    other.ask('recording_save', path='beside.json')  # needs a worker: files are never quick
    other.ask('replay_load', path='beside.json')
    assert not any(step.done() for step in waiting)
    other.ask('set_paused', paused=False)
    assert sorted(step.result(20)['step'] for step in waiting) == list(range(2, 22))


def test_malformed_and_oversize_messages_cost_at_most_their_own_connection(server, connect):
    running = server()
    context = zmq.Context.instance()
    with context.socket(zmq.DEALER) as dealer, context.socket(zmq.REQ) as greedy:
        dealer.linger = greedy.linger = 0
        dealer.connect(running.endpoints['rpc'])
        for parts in (
            [b'no delimiter'],
            [b''],
            [b'a', b'b'],
            [b''] * 200,
            [b'', b'\xc1', b'more'],
        ):
            dealer.send_multipart(parts)
        assert codec.unpack(dealer.recv_multipart()[-1])['code'] == 'bad_request'
        greedy.connect(running.endpoints['rpc'])
        greedy.send(b'\x00' * (router_module.MAX_REQUEST_BYTES + 1))
        assert not greedy.poll(500)
    assert connect(running).ask('list_keyframes')


def test_waiting_calls_are_limited_per_session_and_together_except_urgent_ones(
    server, connect, monkeypatch, patient, pool
):
    monkeypatch.setattr(router_module, 'MAX_CALLS_OF_ONE', 2)
    monkeypatch.setattr(router_module, 'MAX_CALLS', 3)
    running = server(world='quadruped', step_mode='direct', paused=True)
    *greedy, other, late = [connect(running, shared=True) for _ in range(5)]
    for caller in greedy:
        caller.session_id = greedy[0].session_id
    waiting = waiting_steps(pool, running, greedy[:2])
    assert greedy[2].code('step') == 'not_ready'
    waiting += waiting_steps(pool, running, [other], 3)
    assert late.code('step') == 'not_ready'
    greedy[2].ask('set_paused', paused=False)
    assert all(step.result(5) for step in waiting)
    assert greedy[2].ask('step')['step'] == 4


def test_a_pause_precedes_any_number_of_waiting_long_steps(slow, connect, pool):
    """Four sessions ask for long steps: a pause waits for one sub-step, not for them."""
    engine = slow.simulation.engine
    callers = [connect(slow, shared=True) for _ in range(4)]
    other = connect(slow, shared=True)
    steps = [pool.submit(caller.ask, 'step', n_steps=2000) for caller in callers]
    wait_until(lambda: slow._router._running >= len(callers))
    done = engine.clock.steps
    other.ask('set_paused', paused=True)
    assert engine.clock.steps - done < 2000, 'the pause was within the first of the steps'
    stopped = engine.clock.steps
    time.sleep(0.1)
    assert engine.clock.steps <= stopped + 1 and not any(step.done() for step in steps)
    engine.hooks.after_step.clear()
    other.ask('set_paused', paused=False)
    assert all(step.result(50) for step in steps)


def test_sessions_with_long_steps_alternate(slow, connect, pool):
    """Whoever asks for steps all the time does not starve who asks once."""
    engine = slow.simulation.engine
    greedy = [connect(slow, shared=True) for _ in range(6)]
    for caller in greedy:
        caller.session_id = greedy[0].session_id
    modest = connect(slow, shared=True)
    ended = threading.Event()

    def flood(caller):
        while not ended.is_set():
            caller.ask('step', n_steps=20)

    floods = [pool.submit(flood, caller) for caller in greedy]
    wait_until(lambda: slow._router._running >= len(greedy), every=0.001)
    try:
        for _ in range(5):
            before = engine.clock.steps
            modest.ask('step', n_steps=20)
            assert engine.clock.steps - before <= 4 * 20, 'one turn of the other session, not six'
    finally:
        ended.set()
        wait(floods, 50)


@contextlib.contextmanager
def half_request(running, size=router_module.MAX_REQUEST_BYTES):
    """A connection that has sent all but the last byte of a request."""
    with raw_dealer(running.endpoints['rpc']) as peer:
        peer.sendall(b'\x01\x00\x02' + size.to_bytes(8, 'big'))
        peer.sendall(bytes(size - 1))
        yield peer


def hangs_up(peer, seconds=20.0):
    """Return whether the server ends a connection in time."""
    peer.settimeout(seconds)
    try:
        while peer.recv(1 << 16):
            pass
    except TimeoutError:
        return False
    except ConnectionError:
        pass
    return True


def test_unfinished_requests_delay_nobody_and_time_out(server, connect, monkeypatch):
    limits = dataclasses.replace(router_module._LIMITS, held_seconds=0.6)
    monkeypatch.setattr(router_module, '_LIMITS', limits)
    running = server()
    silent, stock = connect(running, shared=True), connect(running)
    with contextlib.ExitStack() as holders:
        peers = [holders.enter_context(half_request(running)) for _ in range(64)]
        assert silent.ask('status')['mode'] == 'direct'
        assert hangs_up(peers[0]) and hangs_up(peers[-1])
    assert silent.ask('status') and stock.ask('status')  # idle ones stay


def test_endless_messages_are_cut_off_and_long_ones_are_not(server, connect, monkeypatch):
    """libzmq counts messages, not their parts."""
    limits = dataclasses.replace(router_module._LIMITS, held_bytes=8 << 20)
    monkeypatch.setattr(router_module, '_LIMITS', limits)
    running = server()
    other = connect(running, shared=True)
    part = b'\x03' + (1 << 16).to_bytes(8, 'big') + bytes(1 << 16)
    large, many, few = (raw_dealer(running.endpoints['rpc']) for _ in range(3))
    with large, many, few:
        few.sendall(b'\x01\x00' * 200 + b'\x00\x00')
        many.sendall(b'\x01\x00' * 200 * router_module.MAX_PARTS + b'\x00\x00')
        assert hangs_up(many)
        large.settimeout(20.0)
        sent = 0
        with contextlib.suppress(ConnectionError):
            while sent < 1 << 30:
                large.sendall(part)
                sent += len(part)
                if sent > 16 << 20:
                    time.sleep(0.01)
        assert sent < 1 << 30
        assert other.ask('status')
        request = codec.pack({'op': 'meta'})
        few.sendall(b'\x01\x00\x00' + bytes([len(request)]) + request)
        assert few.recv(1 << 16)


def test_unread_replies_are_bounded_and_the_largest_holder_is_disconnected(
    server, connect, monkeypatch
):
    reply = 300_000
    monkeypatch.setattr(router_module, 'MAX_UNREAD_BYTES', 20 * reply)
    running = server()
    accept = running._router._accept
    big = codec.pack({'op': 'big_ok', 'data': bytes(reply)})
    running._router._accept = lambda frame: big if b'big' in frame else accept(frame)
    other = connect(running, shared=True)
    context = zmq.Context.instance()
    with contextlib.ExitStack() as sockets:
        readers = []
        for count in (60, 5, 5, 5):
            peer = sockets.enter_context(raw_dealer(running.endpoints['rpc']))
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            for _ in range(count):
                peer.sendall(b'\x01\x00\x00\x03big')
            readers.append(peer)

        def largest_has_ended():
            held = sum(each.size for each in running._router._unread if not each.tracker.done)
            assert held <= 21 * reply
            return other.ask('status') and ended(readers[0])

        wait_until(largest_has_ended, 30)
        assert not any(map(ended, readers[1:]))
        dealer = sockets.enter_context(context.socket(zmq.REQ))
        dealer.linger = 0
        dealer.connect(running.endpoints['rpc'])
        dealer.send(b'big')
        assert dealer.poll(20_000) and dealer.recv() == big


def ended(peer):
    """Return whether the server has ended a connection that holds unread bytes."""
    info = peer.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    return info[0] != 1  # TCP_ESTABLISHED
