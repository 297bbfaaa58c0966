# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The thread of a camera: its source, late images, and jumps of time."""

from contextlib import contextmanager
import queue
import time

import numpy as np
from waiting import wait_until

from urlab_ros_bridge.client.cameras.frames import CameraStats
from urlab_ros_bridge.client.cameras.frames import Frame
from urlab_ros_bridge.client.errors import StreamClosed
from urlab_ros_bridge.client.replies.handshake import CameraInfo
from urlab_ros_bridge.ros.features.stepping import ActiveLockstep
from urlab_ros_bridge.ros.features.stepping import Stepping
from urlab_ros_bridge.ros.features.stream_tasks import StreamTasks
from urlab_ros_bridge.ros.features.timeline import Timeline
from urlab_ros_bridge.ros.topics.cameras import thread
from urlab_ros_bridge.ros.topics.cameras.plan import CameraPlan
from urlab_ros_bridge.ros.topics.cameras.publishing import ImagePublishing
from urlab_ros_bridge.ros.topics.cameras.thread import CameraThread
from urlab_ros_bridge.wire.errors import UrlabError

EYE = CameraInfo('eye', 'real', (2, 1), 45.0, 'tcp://127.0.0.1:9', 'bot/camera/eye')


def frame(number, behind=0.0):
    pixels = np.full((1, 2, 4), number, np.uint8)
    return Frame(number, number, 2, 1, 'bgra8', pixels, time.time() - behind)


class Source:
    """A stream whose frames and whose fate the test decides."""

    def __init__(self):
        self.stats, self.frames = CameraStats(), queue.Queue()
        self.closed = self.over = False

    def put(self, *frames):
        """Make frames available, all at once."""
        with self.frames.mutex:
            self.frames.queue.extend(frames)
            self.frames.not_empty.notify()

    def receive(self, timeout):
        if self.over:
            raise StreamClosed('test')
        try:
            return self.frames.get(timeout=timeout)
        except queue.Empty:
            return None

    def close(self):
        self.closed = True


class Topic:
    """An output whose messages are numbers."""

    needs_color, count, has_subscribers = False, 0, True

    def __init__(self):
        self.publisher, self.sent = self, []

    def make(self, stamp_ns, found, color):
        return int(found.pixels[0, 0, 0])

    def publish(self, message):
        self.sent.append(message)


@contextmanager
def running():
    timeline, topic, sources = Timeline(), Topic(), []
    timeline.published(0)

    def open_source(camera):
        sources.append(Source())
        return sources[-1]

    plan = CameraPlan(EYE, 'eye', 'eye_optical_frame', 1.0)
    publishing = ImagePublishing(timeline, StreamTasks(print), Stepping())
    camera = CameraThread(plan, [topic], publishing, timeline, open_source, lambda *text: None)
    camera.start()
    wait_until(lambda: sources)
    yield camera, topic, sources
    camera.stop()
    assert sources[-1].closed


def test_late_images_are_skipped_for_newer_ones_and_the_last_one_is_published_however_late():
    with running() as (camera, topic, (source,)):
        # 100 s late: of another clock.
        source.put(frame(1, 100.0), frame(2, 100.0), frame(3, 102.0), frame(4, 100.0))
        wait_until(lambda: topic.sent == [1, 2, 4])
        # Time freezes after these.
        source.put(frame(5, 300.0), frame(6, 300.0))
        wait_until(lambda: topic.sent == [1, 2, 4, 6])
        assert camera.skipped == 2


def test_a_camera_is_opened_again_when_its_stream_ends_or_moves():
    with running() as (camera, topic, sources):
        for number in range(3):
            wait_until(lambda number=number: len(sources) == number + 1)
            sources[number].put(frame(number))
            wait_until(lambda number=number: topic.sent == list(range(number + 1)))
            sources[0].over = True
            if number == 1:
                camera.reopen()
        assert sources[0].closed and sources[1].closed


def test_images_from_before_a_jump_never_follow_it():
    second, timeline, sent = 10**9, Timeline(), []
    publishing = ImagePublishing(timeline, StreamTasks(print), Stepping())
    timeline.published(100 * second)
    publishing.jump(5 * second)
    timeline.published(5 * second)
    for stamp_ns in (100 * second, 4 * second, 5 * second):
        publishing.publish(stamp_ns, lambda stamp_ns=stamp_ns: sent.append(stamp_ns))
    assert sent == [5 * second]


def test_images_of_the_present_instant_of_a_lockstep_are_repeated():
    timeline, sent, published = Timeline(), [], []
    publishing = ImagePublishing(timeline, tasks := StreamTasks(print), Stepping())
    publishing.stepping.lockstep = ActiveLockstep(
        1, lambda: published.append(timeline.stamp_ns), print
    )
    for instant, names in ((1, 'ab'), (2, 'c'), (3, '')):
        timeline.published(instant)
        for name in names:
            publishing.publish(instant, lambda name=name: sent.append(name))
        publishing.repeat()
        tasks.run_all()
    assert ''.join(sent) == 'ab' + 'ab' + 'c' + 'c' and published == [1, 1, 2]


def test_the_errors_of_a_camera_do_not_flood_the_log(monkeypatch):
    monkeypatch.setattr(thread, 'RETRY_SECONDS', 0.0)
    calls, lines = [], []

    def open_source(camera):
        calls.append(camera)
        raise UrlabError(f'attempt {len(calls)}')

    plan = CameraPlan(EYE, 'eye', 'eye_optical_frame', 1.0)
    publishing = ImagePublishing(Timeline(), StreamTasks(print), Stepping())
    camera = CameraThread(
        plan, [Topic()], publishing, Timeline(), open_source, lambda *line: lines.append(line)
    )
    camera.start()
    wait_until(lambda: len(calls) > 20)
    camera.stop()
    assert lines == [('warning', 'camera eye: attempt 1')]
