# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Requests of version 2 of the standard, whose fields differ, and the lines of the page."""

from types import SimpleNamespace

from geometry_msgs.msg import PoseStamped
import pytest
from simulation_interfaces import msg

from urlab_ros_bridge.ros.extras.standard import StandardServices
from urlab_ros_bridge.ros.extras.standard.entities import set_entity_state
from urlab_ros_bridge.ros.extras.standard.spawn import spawn

pytestmark = pytest.mark.distro


@pytest.fixture
def context(yard):
    """Return what handlers get; the world is held at its start before and after."""
    yard.client.set_paused(True)
    yard.client.reset()
    yield yard.bridge.node.bridge.part(StandardServices).context
    yard.well('reset_simulation')


def test_a_resource_stands_for_uri_and_text(yard, context):
    request = SimpleNamespace(
        name='second',
        allow_renaming=False,
        entity_resource=SimpleNamespace(uri='urlab:wall', resource_string=''),
        entity_namespace='',
        initial_pose=PoseStamped(),
    )
    assert spawn(context, request, deadline=0.0) == 'second'
    assert 'second' in yard.client.get_entities()


@pytest.mark.parametrize(('pose', 'twist'), [(False, True), (True, False)])
def test_flags_select_what_is_set(yard, context, pose, twist):
    state = msg.EntityState()
    state.pose.position.x, state.twist.linear.x = 7.0, 2.0
    request = SimpleNamespace(
        entity='ball', state=state, set_pose=pose, set_twist=twist, set_acceleration=False
    )
    set_entity_state(context, request, None)
    after = yard.client.get_entities(['ball'])['ball']
    assert (after.pos[0], after.linear[0]) == ((7.0, 0.0) if pose else (3.0, 2.0))
