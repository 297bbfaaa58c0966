# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A feature is one file: what is declared there is on DDS, on the pages, in the parameters."""

from bridge_harness import LATCHED
from bridge_harness import wait_until
from std_msgs.msg import String

from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.program.features import FEATURES


def test_a_latched_topic_is_published_and_a_duplicate_is_reported(small_server, bridged):
    taken = Feature('motto', latched=lambda plan, settings: {'motto': String(data='first')})
    late = Feature('other motto', latched=lambda plan, settings: {'motto': String(data='second')})
    bridge, listener = bridged(small_server(), features=(*FEATURES, taken, late))
    assert listener.wait_for(String, 'motto', qos=LATCHED).data == 'first'
    world = wait_until(lambda: bridge.stream.world)
    (note,) = (note for note in world.notes if 'motto' in note)
    assert 'other motto' in note
