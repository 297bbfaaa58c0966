# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What both processes share: frames come out whole or not at all."""

import os
from pathlib import Path
import threading

import numpy as np
import pytest

from urlab_ros_bridge.sim.cameras.frame_memory import Capture
from urlab_ros_bridge.sim.cameras.frame_memory import FRAME_SLOTS
from urlab_ros_bridge.sim.cameras.frame_memory import FrameMemory
from urlab_ros_bridge.sim.cameras.frame_memory import HEADER_BYTES

SIZES = [4 * 16, 4 * 100, 4]


@pytest.fixture
def pair():
    """Return the two ends of one memory."""
    server = FrameMemory(24, SIZES)
    renderer = FrameMemory(24, SIZES, os.dup(server.fd))
    yield server, renderer
    server.close()
    renderer.close()


def write(memory, camera, value, taken=()):
    slot = memory.begin(camera, taken)
    memory.pixels(camera, slot)[:] = bytes([value]) * SIZES[camera]
    memory.commit(camera, slot, value, Capture(value * 1000, value, 3, 1.5, value))
    return slot


def test_states_and_frames_arrive_on_the_other_side(pair):
    server, renderer = pair
    server.state(5)[:] = bytes(range(24))
    assert bytes(renderer.state(5)) == bytes(range(24))
    assert server.latest(1) is None and server.read(1) is None
    for value in range(1, 40):
        for camera in (0, 1, 2):
            write(renderer, camera, value)
        for camera in (0, 1, 2):
            frame = server.read(camera)
            assert frame.pixels == bytes([value]) * SIZES[camera]
            assert frame.frame_id == value and frame.capture == (
                value * 1000,
                value,
                3,
                1.5,
                value,
            )
            assert server.latest(camera) == frame.capture


def test_the_latest_frame_and_taken_slots_are_left_alone(pair):
    server, renderer = pair
    first = write(renderer, 0, 1)
    others = {write(renderer, 0, value, {first}) for value in range(2, 50)}
    assert first not in others and len(others) == 2
    assert server.read(0, first).pixels == bytes([1]) * SIZES[0]
    taken = set(range(FRAME_SLOTS - 2))
    used = {write(renderer, 0, value, taken) for value in range(50, 60)}
    assert used == set(range(FRAME_SLOTS)) - taken


def test_a_frame_that_is_being_written_cannot_be_read(pair):
    server, renderer = pair
    write(renderer, 0, 1)
    slot = renderer.begin(0)
    assert server.read(0, slot) is None
    assert server.read(0).pixels == bytes([1]) * SIZES[0]  # the one before
    # A renderer that broke off leaves a broken slot, which the next frame repairs.
    assert renderer.begin(0) == slot
    renderer.commit(0, slot, 2, Capture(0, 0, 0, 0.0))
    assert server.read(0, slot).frame_id == 2


def test_header_and_pixels_lie_in_one_piece(pair):
    _, renderer = pair
    slot = renderer.begin(1)
    framed = renderer.framed(1, slot)
    assert len(framed) == HEADER_BYTES + SIZES[1]
    framed[:HEADER_BYTES] = b'h' * HEADER_BYTES
    renderer.pixels(1, slot)[:] = b'p' * SIZES[1]
    renderer.commit(1, slot, 9, Capture(1, 2, 3, 4.0, 5))
    assert bytes(framed) == b'h' * HEADER_BYTES + b'p' * SIZES[1]
    assert renderer.read(1).capture == (1, 2, 3, 4.0, 5)


def test_no_frame_is_ever_torn(pair):
    server, renderer = pair
    done = threading.Event()

    def keep_writing():
        value = 0
        while not done.is_set():
            value = value % 255 + 1
            write(renderer, 1, value)

    thread = threading.Thread(target=keep_writing)
    thread.start()
    try:
        whole = 0
        for _ in range(3000):
            frame = server.read(1)
            if frame is not None:
                assert len(set(frame.pixels)) == 1 and frame.pixels[0] == frame.frame_id
                whole += 1
        assert whole > 100
    finally:
        done.set()
        thread.join()


def test_memory_that_nobody_touches_costs_nothing():
    before = resident_pages()
    memory = FrameMemory(100, [4 * 4096 * 4096] * 20)
    assert resident_pages() - before < 1000
    assert np.all(memory.control == 0)
    memory.close()


def resident_pages():
    return int(Path('/proc/self/statm').read_text().split()[1])
