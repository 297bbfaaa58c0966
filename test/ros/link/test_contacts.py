# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Contacts of the time before a jump are not published after it."""

from types import SimpleNamespace

import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from urlab_ros_bridge.client.replies.ops import Contacts  # noqa: E402
from urlab_ros_bridge.ros.features.timeline import Timeline  # noqa: E402
from urlab_ros_bridge.ros.link.connection import ServerLink  # noqa: E402
from urlab_ros_bridge.ros.link.contacts import ContactTopics  # noqa: E402
from urlab_ros_bridge.ros.link.contacts import DATA  # noqa: E402
from urlab_ros_bridge.ros.link.stream import StreamThread  # noqa: E402
from urlab_ros_bridge.ros.program.features import Settings  # noqa: E402


@pytest.mark.parametrize('jumps', [False, True])
def test_contacts_that_a_jump_overtakes_are_dropped(jumps):
    timeline, sent = Timeline(), []
    timeline.published(5)

    def between_ticks(task):
        if jumps:
            timeline.begin_epoch()
        task()

    found = Contacts((), False)
    parts = {
        ServerLink: SimpleNamespace(client=SimpleNamespace(get_contacts=lambda count: found)),
        StreamThread: SimpleNamespace(between_ticks=between_ticks),
    }
    settings = Settings(observe_only=True)
    bridge = SimpleNamespace(
        node=None, part=parts.__getitem__, settings=settings, timeline=timeline
    )
    topics = ContactTopics(bridge)
    topics._publishers = {DATA: SimpleNamespace(publish=sent.append)}
    topics._poll(timeline.mark(), 5, [DATA])
    assert [message.header.stamp.nanosec for message in sent] == ([] if jumps else [5])
