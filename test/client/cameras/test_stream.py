# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Camera streams of the client, against a publisher that sends any bytes, and the real server."""

import threading
import time

from example_counts import examples
from hypothesis import given
from hypothesis import HealthCheck
from hypothesis import settings
from hypothesis import strategies as st
import pytest
from xpub import Publisher

from urlab_ros_bridge.client.cameras.stream import CameraStream
from urlab_ros_bridge.client.cameras.stream import to_frame
from urlab_ros_bridge.client.errors import ProtocolError
from urlab_ros_bridge.client.errors import StreamClosed
from urlab_ros_bridge.client.replies.handshake import CameraInfo
from urlab_ros_bridge.client.replies.handshake import parse_handshake
from urlab_ros_bridge.wire.camera_frame import pack_header
from urlab_ros_bridge.wire.camera_frame import unpack_frame

EYE = CameraInfo('eye', 'real', (4, 2), 45.0, '', 'bot/camera/eye')


PIXELS = bytes(range(32))


@pytest.fixture
def publisher(keep):
    return keep(Publisher())


@pytest.fixture
def stream(publisher):
    with CameraStream(publisher.endpoint, EYE, newest_only=False) as made:
        assert publisher.next_subscription() == b'bot/camera/eye '  # the blank is part of it
        yield made


def framed(number, stamp, pixels=PIXELS, size=(4, 2)):
    return pack_header(*size, number, stamp, 7.5) + pixels


def test_bare_pixels_have_shape_but_no_time(publisher, stream):
    publisher.send(b'bot/camera/eye ', PIXELS)
    frame = stream.receive(20.0)
    assert (frame.stamp_ns, frame.frame_id, frame.width, frame.height) == (None, None, 4, 2)
    assert frame.dtype == 'bgra8' and frame.pixels.shape == (2, 4, 4)
    assert frame.pixels.tobytes() == PIXELS and not frame.pixels.flags.writeable


@given(stamp=st.integers(0, 2**50))  # 13 days of simulated time
def test_a_header_brings_number_size_and_exact_times(stamp):
    frame = to_frame(unpack_frame(framed(3, stamp / 1e9, bytes(6 * 4), (3, 2)), 1, 1), EYE)
    assert (frame.stamp_ns, frame.frame_id, frame.wall_time) == (stamp, 3, 7.5)
    assert frame.pixels.shape == (2, 3, 4)


def test_the_newest_wins_and_the_others_are_counted(publisher):
    with CameraStream(publisher.endpoint, EYE) as stream:
        publisher.next_subscription()
        publisher.send(b'bot/camera/eye ', framed(1, 1.0))
        assert stream.receive(20.0).frame_id == 1
        for number in (2, 3, 4, 9):
            publisher.send(b'bot/camera/eye ', framed(number, float(number)))
        time.sleep(0.3)
        stream.receive(20.0)
        # The short queue of the socket drops some by itself.
        assert stream.stats.dropped == stream.stats.frames - 2


def test_missing_numbers_are_counted(publisher, stream):
    for number in (5, 6, 9, 1):  # at last the renderer has restarted
        publisher.send(b'bot/camera/eye ', framed(number, 1.0))
        assert stream.receive(20.0).frame_id == number
    assert stream.stats.missed == 2


@settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(parts=st.lists(st.binary(max_size=80), min_size=1, max_size=4))
def test_no_message_breaks_a_stream(publisher, stream, parts):
    publisher.send(b'bot/camera/eye ' + parts[0], *parts[1:])
    publisher.send(b'bot/camera/eye ', framed(77, 1.5))
    frame = stream.receive(20.0)
    while frame.frame_id != 77:
        frame = stream.receive(20.0)
    assert frame.pixels.tobytes() == PIXELS


def test_receive_returns_none_after_its_timeout_and_close_ends_it(publisher, stream):
    assert stream.receive(0.1) is None and stream.receive(0) is None
    threading.Timer(0.2, stream.close).start()
    with pytest.raises(StreamClosed):
        stream.receive()


def test_extension_fields_of_the_handshake():
    topic = {
        'mode': 'semantic', 'resolution': [8.0, 6.0], 'fovy': 50, 'zmq_topic': 'bot/camera/seg',
        'zmq_endpoint': 'tcp://0.0.0.0:5558', 'rate': 15.0, 'depth_pair': 'far', 'latency': 0.25,
    }  # fmt: skip

    def parsed(labels):
        cameras = {'seg': {**topic, 'labels': labels}}
        reply = {'session_id': 's', 'articulations': [{'prefix': 'bot', 'camera_topics': cameras}]}
        return parse_handshake(reply).articulations['bot'].cameras['seg']

    seg = parsed({'wall': [1.0, 2.0, 3.0]})
    assert (seg.rate, seg.depth_pair, seg.latency) == (15.0, 'far', 0.25)
    assert seg.labels == {(1, 2, 3): 'wall'} and seg.port == 5558
    for bad in ({'wall': [1, 2]}, {'wall': 'red'}, {'wall': [0, 0, 999]}, [1]):
        with pytest.raises(ProtocolError):
            parsed(bad)
