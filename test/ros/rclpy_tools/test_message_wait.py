# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import threading
import time

from bridge_harness import free_domain
from bridge_harness import Listener
from bridge_harness import PATIENCE
from bridge_harness import wait_until
import pytest
import rclpy
from rclpy.context import Context
from std_msgs.msg import Int32

from urlab_ros_bridge.ros.rclpy_tools.executor import make_executor
from urlab_ros_bridge.ros.rclpy_tools.message_info import WithMessageInfo
from urlab_ros_bridge.ros.rclpy_tools.message_wait import LendingNode
from urlab_ros_bridge.ros.rclpy_tools.message_wait import MessageWait

pytestmark = pytest.mark.ros


@pytest.fixture(scope='module')
def sender():
    listener = Listener(free_domain())
    yield listener
    listener.close()


@pytest.fixture
def node(sender):
    """Return a node whose executor runs in a thread of its own."""
    context, stop = Context(), threading.Event()
    rclpy.init(context=context, domain_id=sender.context.get_domain_id())
    node, executor = LendingNode('lender', context=context), make_executor(context)
    executor.add_node(node)

    def spin():
        while not stop.is_set():
            executor.spin_once(timeout_sec=0.05)

    thread = threading.Thread(target=spin)
    thread.start()
    yield node
    stop.set()
    thread.join()
    executor.remove_node(node)
    node.destroy_node()
    rclpy.shutdown(context=context)


@pytest.mark.distro
def test_messages_come_once_and_in_order_whoever_takes_them(sender, node):
    heard = []

    def take(message, info=None):
        heard.append((message.data, threading.get_ident()))

    plain = node.create_subscription(Int32, 'plain', take, 1000)
    informed = node.create_subscription(Int32, 'informed', WithMessageInfo(take), 1000)
    publishers = [sender.publisher(Int32, topic) for topic in ('plain', 'informed')]
    wait, me, numbers = MessageWait(node), threading.get_ident(), iter(range(10**6))

    def say(count):
        for _ in range(count):
            number = next(numbers)
            publishers[number % 2].publish(Int32(data=number))
            # One at a time: ROS keeps no order between topics.
            deadline = time.monotonic() + PATIENCE
            while len(heard) <= number and time.monotonic() < deadline:
                wait.wait(0.01, lambda number=number: len(heard) > number)

    for _ in range(3):
        wait.take_over([plain, informed])
        assert not {plain, informed} & set(node.subscriptions)
        assert {plain, informed} <= set(node.all_subscriptions)
        say(1)
        say(30)
        assert {who for _, who in heard[-10:]} == {me}
        wait.take_over([])
        say(20)
        assert {who for _, who in heard[-5:]} != {me}
    assert [number for number, _ in heard] == list(range(153))
    # What has come before it is given back is not forgotten.
    wait.take_over([plain])
    say(10)
    publishers[0].publish(Int32(data=-1))
    time.sleep(0.1)
    wait.close()
    wait_until(lambda: heard[-1][0] == -1)


def test_who_waits_is_woken_and_does_not_wait_for_what_is_over(node):
    wait, over = MessageWait(node), []
    assert wait.wait(PATIENCE, lambda: True)
    assert not wait.wait(0.0, lambda: False)
    for _ in range(20):
        over.clear()
        begun = threading.Event()

        def change(begun=begun):
            begun.wait()
            over.append(True)
            wait.wake()

        thread = threading.Thread(target=change)
        thread.start()

        def is_over(begun=begun):
            begun.set()
            return bool(over)

        before = time.monotonic()
        while not wait.wait(PATIENCE, is_over):
            assert time.monotonic() - before < PATIENCE
        thread.join()
    wait.wake()  # nobody waits
    wait.close()


def test_what_is_destroyed_meanwhile_is_passed_over(sender, node):
    heard = []
    gone, there = (
        node.create_subscription(Int32, topic, lambda message: heard.append(message.data), 10)
        for topic in ('gone', 'there')
    )
    wait = MessageWait(node)
    wait.take_over([gone, there])
    node.destroy_subscription(gone)
    publisher = sender.publisher(Int32, 'there')
    publisher.publish(Int32(data=5))
    deadline = time.monotonic() + PATIENCE
    while not heard and time.monotonic() < deadline:
        wait.wait(1.0, lambda: bool(heard))
    assert heard == [5]
    wait.close()
