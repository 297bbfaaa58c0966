# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Requests over sockets: neither slow nor malformed ones affect other clients."""

from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import wait
import contextlib
import socket
import threading
import time

import pytest
from waiting import wait_until
import zmq

from urlab_ros_bridge.sim.physics import run_state
from urlab_ros_bridge.transport import router as router_module
from urlab_ros_bridge.transport import unfinished
from urlab_ros_bridge.wire.encoding import codec


def raw_dealer(endpoint):
    """Return a TCP connection that has shaken hands as a DEALER (ZMTP 3.0, NULL)."""
    host, port = endpoint.removeprefix('tcp://').split(':')
    peer = socket.create_connection((host, int(port)), 30.0)
    greeting = b'\xff' + bytes(8) + b'\x7f\x03\x00NULL' + bytes(16 + 32)
    ready = b'\x05READY\x0bSocket-Type\x00\x00\x00\x06DEALER'
    peer.sendall(greeting + b'\x04' + bytes([len(ready)]) + ready)
    receive_until(peer, b'READY')
    return peer


def receive_until(peer, word):
    """Receive until these bytes have arrived."""
    got = b''
    while word not in got:
        part = peer.recv(1 << 16)
        assert part, 'the connection has ended'
        got += part


@pytest.fixture
def patient(monkeypatch):
    """Steps of a paused world wait far longer than clients wait for a reply."""
    monkeypatch.setattr(run_state, 'STEP_TIMEOUT', 60.0)


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


def test_malformed_messages_are_dropped_or_answered(server, connect):
    running = server()
    with zmq.Context.instance().socket(zmq.DEALER) as dealer:
        dealer.linger = 500
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
    assert connect(running).ask('list_keyframes')


def test_a_frame_beyond_the_limit_closes_only_that_connection(server, connect):
    running = server()
    with zmq.Context.instance().socket(zmq.REQ) as greedy:
        greedy.setsockopt(zmq.LINGER, 0)
        greedy.connect(running.endpoints['rpc'])
        greedy.send(b'\x00' * (router_module.MAX_REQUEST_BYTES + 1))
        assert not greedy.poll(500)
    assert connect(running).ask('list_keyframes')


def test_calls_beyond_the_limit_are_refused_except_urgent_ones(
    server, connect, monkeypatch, patient, pool
):
    monkeypatch.setattr(router_module, 'MAX_CALLS', 2)
    running = server(world='quadruped', step_mode='direct', paused=True)
    callers = [connect(running, shared=True) for _ in range(3)]
    waiting = waiting_steps(pool, running, callers[:2])
    assert callers[2].code('step') == 'not_ready'
    callers[2].ask('set_paused', paused=False)
    assert all(step.result(5) for step in waiting)
    assert callers[2].ask('step')['step'] == 3


def test_waiting_calls_are_limited_per_session(server, connect, monkeypatch, patient, pool):
    monkeypatch.setattr(router_module, 'MAX_CALLS_OF_ONE', 2)
    running = server(world='quadruped', step_mode='direct', paused=True)
    greedy = [connect(running, shared=True) for _ in range(3)]
    other = connect(running, shared=True)
    for caller in greedy:
        caller.session_id = greedy[0].session_id
    waiting = waiting_steps(pool, running, greedy[:2])
    assert greedy[2].code('step') == 'not_ready'
    more = waiting_steps(pool, running, [other], 3)
    greedy[2].ask('set_paused', paused=False)
    assert all(step.result(5) for step in waiting + more)


def test_a_pause_precedes_any_number_of_waiting_long_steps(server, connect, patient, pool):
    """Twenty sessions ask for long steps: a pause waits for one sub-step, not for them."""
    running = server(world='quadruped', step_mode='direct')
    engine = running.simulation.engine
    engine.run.seconds_per_step = 1.0
    engine.hooks.after_step.append(lambda: time.sleep(0.002))
    callers = [connect(running, shared=True) for _ in range(20)]
    other = connect(running, shared=True)
    steps = [pool.submit(caller.ask, 'step', n_steps=2000) for caller in callers]
    wait_until(lambda: running._router._running >= len(callers))
    done = engine.clock.steps
    other.ask('set_paused', paused=True)
    assert engine.clock.steps - done < 2000, 'the pause was within the first of the steps'
    stopped = engine.clock.steps
    time.sleep(0.1)
    assert engine.clock.steps <= stopped + 1 and not any(step.done() for step in steps)
    engine.hooks.after_step.clear()
    other.ask('set_paused', paused=False)
    assert all(step.result(50) for step in steps)


def test_sessions_with_long_steps_alternate(server, connect, patient, pool):
    """Whoever asks for steps all the time does not starve who asks once."""
    running = server(world='quadruped', step_mode='direct')
    engine = running.simulation.engine
    engine.run.seconds_per_step = 1.0
    engine.hooks.after_step.append(lambda: time.sleep(0.001))
    greedy = [connect(running, shared=True) for _ in range(6)]
    for caller in greedy:
        caller.session_id = greedy[0].session_id
    modest = connect(running, shared=True)
    ended = threading.Event()

    def flood(caller):
        while not ended.is_set():
            caller.ask('step', n_steps=20)

    floods = [pool.submit(flood, caller) for caller in greedy]
    wait_until(lambda: running._router._running >= len(greedy), every=0.001)
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


def test_many_unfinished_requests_delay_nobody(server, connect):
    running = server()
    with contextlib.ExitStack() as holders:
        for _ in range(64):
            holders.enter_context(half_request(running))
        assert connect(running, timeout=20).ask('status')['mode'] == 'direct'


def test_an_unfinished_request_times_out_and_idle_connections_do_not(server, connect, monkeypatch):
    monkeypatch.setattr(unfinished, 'MAX_SECONDS', 0.6)
    running = server()
    silent, stock = connect(running, shared=True), connect(running)
    with half_request(running) as peer, half_request(running) as slow:
        assert hangs_up(peer) and hangs_up(slow)
    assert silent.ask('status') and stock.ask('status')


def test_an_endless_message_is_cut_off(server, connect, monkeypatch):
    """libzmq counts messages, not their parts."""
    monkeypatch.setattr(unfinished, 'MAX_BYTES', 8 << 20)
    running = server()
    other = connect(running, shared=True)
    part = b'\x03' + (1 << 16).to_bytes(8, 'big') + bytes(1 << 16)
    with raw_dealer(running.endpoints['rpc']) as peer:
        peer.settimeout(20.0)
        sent = 0
        with contextlib.suppress(ConnectionError):
            while sent < 4 << 30:
                peer.sendall(part)
                sent += len(part)
                if sent > 16 << 20:
                    time.sleep(0.01)
        assert sent < 1 << 30
    assert other.ask('status')


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
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            held = sum(each.size for each in running._router._unread if not each.tracker.done)
            assert held <= 21 * reply
            other.ask('status')
            if ended(readers[0]):
                break
        assert ended(readers[0]) and not any(map(ended, readers[1:]))
        dealer = sockets.enter_context(context.socket(zmq.REQ))
        dealer.linger = 0
        dealer.connect(running.endpoints['rpc'])
        dealer.send(b'big')
        assert dealer.poll(20_000) and dealer.recv() == big


def ended(peer):
    """Return whether the server has ended a connection that holds unread bytes."""
    info = peer.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    return info[0] != 1  # TCP_ESTABLISHED


def test_an_exception_in_the_transport_is_an_internal_error_and_the_server_continues(
    server, connect, monkeypatch, caplog
):
    running = server(world='quadruped')
    caller = connect(running, shared=True)
    real = running._router._accept
    running._router._accept = lambda frame: 1 / 0
    assert caller.code('list_keyframes') == 'internal_error'
    running._router._accept = real
    assert caller.ask('list_keyframes')
    assert 'ZeroDivisionError' in caplog.text


def test_only_the_sender_of_very_many_parts_is_disconnected(server, connect, monkeypatch):
    handed = []
    run_done = router_module.Router._run_done
    monkeypatch.setattr(
        router_module.Router, '_run_done', lambda self: (handed.append(1), run_done(self))
    )
    running = server()
    other = connect(running, shared=True)
    with raw_dealer(running.endpoints['rpc']) as peer, raw_dealer(running.endpoints['rpc']) as few:
        few.sendall(b'\x01\x00' * 200 + b'\x00\x00')
        before = len(handed)
        rounds = 200
        peer.sendall(b'\x01\x00' * (rounds + 2) * router_module.MAX_PARTS + b'\x00\x00')
        try:
            while peer.recv(1 << 16):
                pass
        except ConnectionResetError:
            pass
        assert len(handed) - before >= rounds, 'replies to others go on meanwhile'
        for _ in range(3):
            assert other.ask('status')['mode']
        request = codec.pack({'op': 'meta'})
        few.sendall(b'\x01\x00\x00' + bytes([len(request)]) + request)
        receive_until(few, b'meta_ok')  # others keep their connections
