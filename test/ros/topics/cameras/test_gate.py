# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures of another timeline never come through."""

import pytest

pytestmark = pytest.mark.ros
SECOND = 10**9


@pytest.fixture
def gated():
    from urlab_ros_bridge.ros.features.timeline import Timeline
    from urlab_ros_bridge.ros.topics.cameras.thread import FrameGate

    timeline = Timeline()
    gate, sent = FrameGate(timeline), []

    def tick(stamp):
        timeline.published(stamp)
        gate.tick(stamp)

    def show(stamp):
        return gate.publish(stamp, lambda: sent.append(stamp))

    return gate, tick, show, sent


def test_after_a_jump_only_the_new_timeline_comes(gated):
    gate, tick, show, sent = gated
    tick(100 * SECOND)
    assert show(100 * SECOND - SECOND // 30)
    gate.jump()
    # Between the jump and the first tick of the new time, and afterwards.
    assert not show(100 * SECOND) and not show(0)
    tick(5 * SECOND)
    assert not show(100 * SECOND) and not show(4 * SECOND)
    assert show(5 * SECOND) and sent[-1] == 5 * SECOND
    assert sent == [100 * SECOND - SECOND // 30, 5 * SECOND]
