# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
from bridge_harness import free_domain
from bridge_harness import wait_until
import pytest
import rclpy
from rclpy.context import Context
from rclpy.node import Node

from urlab_ros_bridge.ros.rclpy_tools.side_node import make_side_node
from urlab_ros_bridge.ros.rclpy_tools.side_node import SideThread

pytestmark = [pytest.mark.ros, pytest.mark.distro]


@pytest.fixture
def bridge():
    """Return a function: ROS arguments -> a node that stands for the bridge."""
    nodes = []

    def make(*words):
        context = Context()
        rclpy.init(args=['--ros-args', *words], context=context, domain_id=free_domain())
        nodes.append(Node('urlab_bridge', context=context))
        return nodes[-1]

    yield make
    for node in nodes:
        node.destroy_node()
        rclpy.shutdown(context=node.context)


@pytest.mark.parametrize(
    ('words', 'name'),
    [
        ((), '/urlab_bridge_services'),
        (('-r', '__node:=sim'), '/sim_services'),
        (('-r', 'urlab_bridge:__node:=sim'), '/sim_services'),
        (('-r', '__ns:=/there'), '/there/urlab_bridge_services'),
        (('-r', '__ns:=/there', '-r', '__node:=sim'), '/there/sim_services'),
    ],
)
def test_it_is_named_after_the_bridge_and_never_like_it(bridge, words, name):
    side = make_side_node(bridge(*words), 'services')
    assert side.get_fully_qualified_name() == name
    side.destroy_node()


def test_names_that_are_remapped_for_all_are_remapped_here(bridge):
    side = make_side_node(bridge('-r', 'reset:=again'), 'services')
    assert side.resolve_service_name('reset') == '/again'
    side.destroy_node()


def test_it_never_follows_the_clock_and_answers_for_its_parameters(bridge):
    side = make_side_node(bridge('-p', 'use_sim_time:=true'), 'services')
    assert side.get_parameter('use_sim_time').value is False
    assert not [s for s in side.subscriptions if s.topic_name == '/clock']
    assert any(s.srv_name.endswith('/list_parameters') for s in side.services)
    side.destroy_node()


def test_what_is_to_be_done_is_done_in_order_before_the_thread_ends(bridge):
    side = SideThread(bridge(), 'actions')
    done = []
    side.start()
    for number in range(50):
        side.run(lambda number=number: done.append(number))
    side.stop()
    assert done == list(range(50))
    side.destroy()


def test_a_thread_that_was_never_started_leaves_no_node(bridge):
    node = bridge()
    side = SideThread(node, 'services')
    side.destroy()
    wait_until(lambda: node.get_node_names() == ['urlab_bridge'])
