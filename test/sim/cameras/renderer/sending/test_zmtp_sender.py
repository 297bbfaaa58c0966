# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A camera's stream without libzmq, before libzmq's own subscribers and before hostile ones."""

from contextlib import closing
from contextlib import suppress
import errno
import os
import socket
import time

from hypothesis import given
from hypothesis import HealthCheck
from hypothesis import settings
from hypothesis import strategies as st
import numpy as np
import pytest
import zmq

from urlab_ros_bridge.sim.cameras.catalog.catalog import CameraItem
from urlab_ros_bridge.sim.cameras.link.frame_memory import Capture
from urlab_ros_bridge.sim.cameras.link.frame_memory import FRAME_SLOTS
from urlab_ros_bridge.sim.cameras.link.frame_memory import FrameMemory
from urlab_ros_bridge.sim.cameras.renderer.sending import zmtp_sender
from urlab_ros_bridge.sim.cameras.renderer.sending.frame_sender import SEND_QUEUE
from urlab_ros_bridge.sim.sockets import zmtp_server
from urlab_ros_bridge.wire import zmtp
from urlab_ros_bridge.wire.camera_frame import unpack_frame

BARE, FRAMED = b'cart/camera/eye ', b'cart/camera_ucm1/eye '
WIDTH, HEIGHT = 640, 480  # a frame is larger than what the system keeps for a reader at first


class Stream:
    """One camera, its memory and its sender."""

    def __init__(self):
        self.camera = CameraItem(
            index=0, prefix='cart', name='eye', key='eye', id=0, mode='real', width=WIDTH,
            height=HEIGHT, fovy=45.0, rate=30.0, latency=0.0, jitter=0.0, seed=0, body='',
            depth_pair='',
        )  # fmt: skip
        self.memory = FrameMemory(8, [self.camera.size])
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.port = self.listener.getsockname()[1]
        self.endpoint = f'tcp://127.0.0.1:{self.port}'
        self.sender = zmtp_sender.ZmtpFrameSender(self.camera, os.dup(self.listener.fileno()))
        self.frames = 0

    def close(self):
        for each in list(self.sender._subscribers.values()):
            self.sender._drop(each, 'the test ends')
        self.listener.close()
        self.memory.close()

    def send(self):
        """Send a frame whose pixels all are its number."""
        self.frames += 1
        slot = self.memory.begin(0, self.sender.on_the_way)
        np.frombuffer(self.memory.pixels(0, slot), np.uint32)[:] = self.frames
        capture = Capture(self.frames * 10**9, self.frames, 0, 1e9 + self.frames)
        self.memory.commit(0, slot, self.frames, capture)
        self.sender.send(self.memory, slot, self.frames, capture)

    def until(self, condition):
        """Serve until a condition holds; return what it returned."""
        deadline = time.monotonic() + 30.0
        while not (found := condition()):
            assert time.monotonic() < deadline
            self.sender.read()
            time.sleep(0.001)
        return found


@pytest.fixture
def stream():
    with closing(Stream()) as stream:
        yield stream


@pytest.fixture
def subscribe(stream):
    """Return a factory of libzmq's subscribers, which are subscribed when it returns."""
    context = zmq.Context()

    def make(*topics, **options):
        before = sum(len(each.topics) for each in stream.sender._subscribers.values())
        subscriber = context.socket(zmq.SUB)
        for name, value in options.items():
            setattr(subscriber, name, value)
        for topic in topics:
            subscriber.subscribe(topic)
        subscriber.connect(stream.endpoint)
        known = stream.sender._subscribers
        stream.until(
            lambda: sum(len(each.topics) for each in known.values()) == before + len(topics)
        )
        return subscriber

    yield make
    context.destroy(linger=0)


def take(stream, subscriber):
    """Return the parts of the next message, none when nothing more comes."""

    def poll():
        try:
            return subscriber.recv_multipart(zmq.NOBLOCK)
        except zmq.Again:
            return None

    return stream.until(poll)


def number_of(payload):
    """Return the number of a frame, whose pixels all have to be of that frame."""
    frame = unpack_frame(payload, WIDTH, HEIGHT)
    pixels = np.frombuffer(frame.pixels, np.uint32)
    assert (pixels == pixels[0]).all()
    assert frame.frame_id in (None, pixels[0])
    return int(pixels[0])


def test_subscribers_of_libzmq_get_the_topics_that_they_asked_for(stream, subscribe):
    assert not stream.sender.watched
    stream.send()  # for nobody
    bare, framed, both = subscribe(BARE), subscribe(FRAMED), subscribe(b'')
    assert stream.sender.watched
    stream.send()
    assert take(stream, bare)[0] == BARE
    topic, payload = take(stream, framed)
    frame = unpack_frame(payload, 1, 1)
    assert topic == FRAMED and number_of(payload) == 2 == frame.sim_time
    assert frame.wall_time == 1e9 + 2
    assert [take(stream, both)[0] for _ in range(2)] == [BARE, FRAMED]
    stream.send()
    assert number_of(take(stream, bare)[1]) == 3


def test_who_cancels_gets_no_more_and_who_leaves_is_forgotten(stream, subscribe):
    first, second = subscribe(BARE), subscribe(BARE)
    first.unsubscribe(BARE)
    stream.until(lambda: sum(bool(each.topics) for each in known(stream)) == 1)
    stream.send()
    assert number_of(take(stream, second)[1]) == 1
    second.close()
    stream.until(lambda: len(known(stream)) == 1)
    assert not stream.sender.watched
    first.close()
    stream.until(lambda: not known(stream))


def known(stream):
    return stream.sender._subscribers.values()


def test_each_change_is_news_once_and_other_topics_are_none(stream, subscribe):
    sender = stream.sender
    with subscribe(BARE), closing(connect(stream)) as peer:
        sender.read()
        peer.sendall(hello() + zmtp.command(b'SUBSCRIBE', b'cart/camera/eyebrow'))
        stream.until(lambda: [each for each in known(stream) if each.ready][1:])
        assert not sender.read()
        for name in (b'SUBSCRIBE', b'SUBSCRIBE', b'CANCEL'):  # a second viewer is news
            peer.sendall(zmtp.command(name, BARE))
            stream_has_news(stream)
            assert not sender.read()


def stream_has_news(stream):
    deadline = time.monotonic() + 30.0
    while not stream.sender.read():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def connect(stream):
    return socket.create_connection(('127.0.0.1', stream.port))


def hello(minor=1, kind='SUB'):
    greeting = bytearray(zmtp.GREETING)
    greeting[11] = minor
    return bytes(greeting) + zmtp.ready(kind)


def test_subscribers_of_zmtp_3_0_are_understood(stream):
    with closing(connect(stream)) as peer:
        peer.sendall(hello(minor=0) + zmtp.frame(b'\x01' + BARE))
        stream.until(lambda: stream.sender.watched)
        # A message of several parts is no subscription, whatever it looks like.
        peer.sendall(zmtp.frame(b'x', zmtp.MORE) + zmtp.frame(b'\x00' + BARE))
        peer.sendall(zmtp.frame(b'\x01cart'))
        stream.until(lambda: [each for each in known(stream) if len(each.topics) == 2])
        peer.sendall(zmtp.frame(b'\x00cart') + zmtp.frame(b'\x00' + BARE))
        stream.until(lambda: not stream.sender.watched)


def test_a_ping_is_answered(stream):
    with closing(connect(stream)) as peer:
        peer.sendall(hello() + zmtp.command(b'PING', b'\x00\x0acontext'))
        expected = zmtp.GREETING + zmtp.ready('XPUB') + zmtp.pong(b'\x00\x0acontext')
        peer.setblocking(False)
        heard = bytearray()

        def hear():
            with suppress(BlockingIOError):
                heard.extend(peer.recv(4096))
            return len(heard) >= len(expected)

        stream.until(hear)
        assert heard == expected


@given(data=st.data())
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_it_does_not_matter_how_the_bytes_are_cut(stream, data):
    said = hello() + zmtp.command(b'SUBSCRIBE', b'cart') + zmtp.frame(b'\x01' + BARE)
    places = sorted(data.draw(st.sets(st.integers(1, len(said) - 1), max_size=6)))
    with closing(connect(stream)) as peer:
        for begin, end in zip([0, *places], [*places, len(said)], strict=True):
            peer.sendall(said[begin:end])
            stream.sender.read()
        stream.until(lambda: [each for each in known(stream) if each.topics == {b'cart', BARE}])
    stream.until(lambda: not known(stream))


def test_slow_subscribers_lose_frames_as_a_whole_and_no_slot_is_reused_too_early(
    stream, subscribe
):
    slow = [subscribe(BARE if number % 2 else FRAMED, rcvhwm=1) for number in range(6)]
    quick = subscribe(FRAMED)
    for number in range(1, 41):
        stream.send()
        assert len(stream.sender.on_the_way) <= FRAME_SLOTS - 2
        # Who reads misses none, whatever the others do.
        assert number_of(take(stream, quick)[1]) == number
    for subscriber in slow:
        numbers = []
        while len(known(stream)) and (not numbers or not is_dry(stream, subscriber)):
            numbers.append(number_of(take(stream, subscriber)[1]))
        assert numbers == sorted(set(numbers)) and SEND_QUEUE < len(numbers) < 40
    assert not stream.sender.on_the_way


def is_dry(stream, subscriber):
    """Return whether nothing comes, and nothing is on its way to any subscriber."""
    deadline = time.monotonic() + 0.2
    while time.monotonic() < deadline:
        stream.sender.read()
        if subscriber.poll(1):
            return False
    return True


def test_what_slow_subscribers_make_it_copy_is_bounded(stream, subscribe, monkeypatch):
    frame = stream.camera.size
    monkeypatch.setattr(zmtp_sender, 'MAX_COPIED', 5 * frame)
    good, stalled, watchers = subscribe(BARE), [], stream.sender._subscribers
    for _ in range(20):  # each comes later than the one before, and holds other frames
        peer = socket.socket()
        stalled.append(peer)
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        peer.connect(('127.0.0.1', stream.port))
        before = sum(len(each.topics) for each in stream.sender._subscribers.values())
        peer.sendall(zmtp.GREETING_3_0 + zmtp.ready('SUB') + zmtp.frame(b'\x01'))
        stream.until(lambda b=before: sum(len(each.topics) for each in watchers.values()) != b)
        for _ in range(3):
            stream.send()
            assert stream.sender._copied() <= 5 * frame
            assert number_of(take(stream, good)[1]) == stream.frames
    # None of those that were kept holds half a frame whose rest was forgotten.
    for each in stream.sender._subscribers.values():
        assert all(message.parts for message in each.waiting)
    for peer in stalled:
        peer.close()
    stream.until(lambda: len(stream.sender._subscribers) == 1)
    assert stream.sender._copied() == 0


@pytest.mark.parametrize(
    'said',
    [
        b'GET / HTTP/1.1\r\n\r\n',
        zmtp.GREETING[:10] + b'\x02' + zmtp.GREETING[11:],  # libzmq 3
        zmtp.GREETING[:12] + b'CURVE' + bytes(15) + zmtp.GREETING[32:],
        zmtp.GREETING + zmtp.frame(b'\x01' + BARE),  # before READY
        hello(kind='REQ'),
        hello() + zmtp.frame_head(5000),
        hello() + b'\xff' * 20,
        hello() + zmtp.frame(b'', zmtp.COMMAND),
        zmtp.GREETING + zmtp.command(b'SUBSCRIBE', BARE),
    ],
)
def test_who_speaks_nonsense_is_disconnected_and_nobody_else_is(stream, subscribe, said):
    good = subscribe(BARE)
    with closing(connect(stream)) as peer:
        peer.sendall(said)
        peer.setblocking(False)

        def ended():
            try:
                return not peer.recv(4096)
            except BlockingIOError:
                return False
            except ConnectionError:
                return True

        stream.until(ended)
    stream.send()
    assert number_of(take(stream, good)[1]) == 1
    assert len(known(stream)) == 1


def test_who_never_finishes_the_handshake_is_disconnected(stream, subscribe, monkeypatch):
    good = subscribe(BARE)
    with closing(connect(stream)) as peer:
        peer.sendall(zmtp.GREETING)
        stream.until(lambda: len(known(stream)) == 2)
        monkeypatch.setattr(zmtp_server, 'HANDSHAKE_SECONDS', 0.0)
        with closing(connect(stream)):
            stream.until(lambda: peer not in known(stream) and len(known(stream)) <= 2)
    monkeypatch.undo()
    stream.send()
    assert number_of(take(stream, good)[1]) == 1


def test_without_descriptors_who_waits_is_accepted_later(stream, subscribe, monkeypatch):
    good = subscribe(BARE)
    real = stream.sender._server.listener

    class Exhausted:
        def accept(self):
            raise OSError(errno.EMFILE, 'too many open files')

    stream.sender._server.listener = Exhausted()
    with closing(connect(stream)) as peer:
        peer.sendall(hello() + zmtp.command(b'SUBSCRIBE', BARE))
        for _ in range(20):
            stream.sender.read()
            time.sleep(0.001)
        assert len(known(stream)) == 1
        assert not stream.sender._server.poll.poll(0)  # it does not wake all the time
        stream.sender._server.listener = real
        good.close()  # that frees one
        stream.until(lambda: [each for each in known(stream) if each.topics])
