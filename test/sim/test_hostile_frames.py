# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Frames that cost much are read beside everything else: others are answered meanwhile."""

from pathlib import Path
import threading

import pytest
import zmq

from urlab_ros_bridge.sim.transports import frame_decoder
from urlab_ros_bridge.transport.shm.client import ShmRequester
from urlab_ros_bridge.wire.encoding import codec
from urlab_ros_bridge.wire.encoding.limits import REQUEST

INSIDE = b'\x82\xa2op\xa1x\xa1a'


def hostile(values=REQUEST.values // 2, item=b'\xa1a'):
    """Return a frame within the limits that takes many steps."""
    return INSIDE + b'\xdd' + values.to_bytes(4, 'big') + item * values


class Attacker:
    """A client without a session that need not wait for replies."""

    def __init__(self, running):
        self.socket = zmq.Context.instance().socket(zmq.DEALER)
        self.socket.setsockopt(zmq.LINGER, 0)
        self.socket.connect(running.endpoints['rpc'])

    def send(self, frame):
        self.socket.send_multipart([b'', frame])

    def code(self, seconds=20):
        assert self.socket.poll(seconds * 1000)
        return codec.unpack(self.socket.recv_multipart()[-1])['code']

    @property
    def answered(self):
        return bool(self.socket.poll(0))


@pytest.fixture
def attack():
    """Return a factory of attackers."""
    made = []

    def start(running):
        made.append(Attacker(running))
        return made[-1]

    yield start
    for attacker in made:
        attacker.socket.close()


@pytest.fixture
def held(monkeypatch):
    """Stop every frame reader after its first step until the event is set."""
    go_on = threading.Event()
    real = frame_decoder.FrameDecoder.__init__

    def prepare(self, dispatcher):
        real(self, dispatcher, rest=lambda seconds: go_on.wait(30))

    monkeypatch.setattr(frame_decoder.FrameDecoder, '__init__', prepare)
    yield go_on
    go_on.set()


def test_others_are_answered_while_a_large_frame_is_read(held, server, connect, attack):
    running = server(step_mode='direct')
    attackers = [attack(running) for _ in range(3)]
    for attacker in attackers:
        attacker.send(hostile())
    victim = connect(running, shared=True)
    for number in range(50):
        victim.ask('status')
        assert victim.ask('step')['step'] == number + 1
    # A frame of the size that is read in steps, but done with in the first one.
    reply = victim.ask('step', per_articulation={'rover': {'ctrl': [0.0] * 2500}})
    assert reply['step'] == 51
    assert not any(attacker.answered for attacker in attackers)
    held.set()
    assert [attacker.code() for attacker in attackers] == ['session_expired'] * 3


def test_a_large_legal_request_waits_its_turn_and_is_carried_out(
    held, server, connect, attack, mjcf
):
    running = server(step_mode='direct')
    attacker = attack(running)
    attacker.send(hostile())
    owner, other = connect(running, timeout=30, shared=True), connect(running, shared=True)
    ctrl = [0.0] * 100_000  # extra values are ignored, and must be read
    found = []
    thread = threading.Thread(
        target=lambda: found.append(owner.ask('step', per_articulation={'rover': {'ctrl': ctrl}}))
    )
    thread.start()
    assert other.ask('step')['step'] == 1
    assert not found
    held.set()
    thread.join(30)
    assert found[0]['step'] == 2


def test_too_many_at_a_time_are_refused_at_once(held, server, connect, attack):
    running = server(step_mode='direct')
    greedy = attack(running)
    for _ in range(frame_decoder.MAX_OF_ONE + 3):
        greedy.send(hostile())
    assert [greedy.code() for _ in range(3)] == ['not_ready'] * 3
    assert connect(running, shared=True).ask('step')['step'] == 1
    held.set()
    assert [greedy.code() for _ in range(frame_decoder.MAX_OF_ONE)] == (
        ['session_expired'] * frame_decoder.MAX_OF_ONE
    )


def test_shared_memory_waits_for_its_own_frames_only(held, server, connect):
    running = server(step_mode='direct')
    socket = connect(running)
    names = [socket.hello(shared=True, shm_channel=True) for _ in range(2)]
    pairs = [ShmRequester(Path(name['shm_session_dir']), name['shm_channel']) for name in names]
    found = []
    thread = threading.Thread(
        target=lambda: found.append(pairs[0].exchange('x', hostile(100_000), 30.0))
    )
    thread.start()
    request = codec.pack({'op': 'step', 'session_id': names[1]['session_id']})
    for number in range(20):
        reply = codec.unpack(pairs[1].exchange('step', request, 10.0))
        assert reply['step'] == number + 1
        assert socket.ask('status')['op'] == 'status_ok'
    assert not found
    held.set()
    thread.join(30)
    assert codec.unpack(found[0])['code'] == 'session_expired'
    for pair in pairs:
        pair.close()


def test_waiting_frames_hear_of_the_shutdown(held, server, attack):
    running = server()
    attacker = attack(running)
    attacker.send(hostile())
    while not running._reader.steps:
        pass
    held.set()
    running.stop()
    assert attacker.code() in ('shutting_down', 'session_expired')


@pytest.mark.parametrize('encoding', ['msgpack', 'json'])
def test_a_flood_of_hostile_frames_leaves_others_their_turn(server, connect, attack, encoding):
    """The transport takes one message of each client in turn, so a flood of one costs one turn."""
    running = server(step_mode='direct')
    victim, attacker = connect(running, timeout=30, shared=True), attack(running)
    frames = {
        'msgpack': [
            INSIDE + b'\xdd\0\0\x0f\0' + b'\x80' * 0xF00,
            b'\xdd\0\0\x0f\0' + b'\x80' * 0xF00,
        ],
        'json': [b'{"op":"x","a":[' + b'{},' * 1300 + b'{}]}', b'{"a":' + b'[' * 4000],
    }[encoding]
    count = 2000
    for number in range(count):
        attacker.send(frames[number % 2])
    answered = 0
    for number in range(20):
        assert victim.ask('step')['step'] == number + 1
        while attacker.answered:
            attacker.code()
            answered += 1
    print(f'{encoding}: 20 steps beside {answered} of {count} hostile frames')
    while answered < count:
        assert attacker.code() in ('bad_request', 'session_expired', 'not_ready')
        answered += 1
    assert victim.ask('step')['step'] == 21
    assert running._reader.steps <= count


def test_numbers_that_json_can_write_and_nobody_can_use_are_refused(server, connect):
    running = server(step_mode='direct')
    victim = connect(running)
    for text, code in (
        ('1e999', 'bad_value'),
        ('-1e999', 'bad_value'),
        ('9' * 19 + '.0', 'bad_value'),
        ('9' * 400, 'bad_request'),
        ('9' * 5000, 'bad_request'),
        ('9' * 900_000, 'bad_request'),
        ('NaN', 'bad_request'),
    ):
        frame = f'{{"op":"step","session_id":"{victim.session_id}","n_steps":{text}}}'
        assert codec.unpack(victim.exchange(frame.encode()))['code'] == code, text[:20]
    assert victim.ask('step')['step'] == 1
