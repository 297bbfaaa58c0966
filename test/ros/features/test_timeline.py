# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0

from urlab_ros_bridge.ros.features.timeline import Step
from urlab_ros_bridge.ros.features.timeline import Timeline


def at(*stamps):
    timeline = Timeline()
    for stamp in stamps:
        if timeline.step(stamp) is Step.JUMP:
            timeline.begin_epoch()
        timeline.published(stamp)
    return timeline


def test_time_that_grows_stays_in_its_epoch():
    timeline = at(5, 6, 6, 100)
    assert timeline.epoch == 1
    assert timeline.step(101) is Step.FORWARD
    assert timeline.step(100) is Step.SAME
    assert timeline.step(99) is Step.JUMP


def test_a_requested_jump_happens_once_at_the_next_tick():
    timeline = at(5)
    timeline.request_jump()
    assert timeline.step(6) is Step.JUMP
    timeline.begin_epoch()
    timeline.published(6)
    assert timeline.step(7) is Step.FORWARD


def test_a_jump_back_is_waited_for_and_a_reply_behind_the_stream_is_no_jump():
    timeline = at(500)
    mark = timeline.mark()
    assert not timeline.wait_for(0, mark, 0.01)
    timeline.published(504)
    assert timeline.wait_for(502, mark, 0.0)
    timeline.begin_epoch()
    assert not timeline.wait_for(0, mark, 0.0)  # nothing of the new time is published yet
    between = timeline.mark()
    timeline.published(2)
    assert timeline.wait_for(0, mark, 0.0)
    assert timeline.wait_for(0, between, 0.0)
