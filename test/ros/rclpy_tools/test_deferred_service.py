# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A service is answered from another thread, while its executor does other things."""

from bridge_harness import free_domain
from bridge_harness import Listener
from bridge_harness import wait_until
import pytest
import rclpy
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_srvs.srv import SetBool

from urlab_ros_bridge.ros.rclpy_tools.deferred_service import create_deferred_service
from urlab_ros_bridge.ros.rclpy_tools.executor import make_executor

pytestmark = pytest.mark.distro


@pytest.mark.parametrize(
    'make', [make_executor, lambda context: SingleThreadedExecutor(context=context)]
)
def test_responses_may_be_sent_in_any_order_and_from_any_thread(make):
    domain, context = free_domain(), Context()
    rclpy.init(context=context, domain_id=domain)
    node, executor = Node('server', context=context), make(context)
    waiting = []
    create_deferred_service(node, SetBool, 'later', lambda *request: waiting.append(request))
    executor.add_node(node)
    listener = Listener(domain)
    client = listener.run(lambda: listener.node.create_client(SetBool, 'later'))

    def spin_until(condition):
        wait_until(lambda: executor.spin_once(timeout_sec=0.05) or condition())

    wait_until(client.service_is_ready)
    asked = [
        listener.run(lambda data=data: client.call_async(SetBool.Request(data=data)))
        for data in (True, False)
    ]
    spin_until(lambda: len(waiting) == 2)
    assert not any(future.done() for future in asked)
    for request, response, reply in reversed(waiting):
        response.success, response.message = request.data, 'later'
        reply(response)  # in another thread than an executor's
    wait_until(lambda: all(future.done() for future in asked))
    assert [future.result().success for future in asked] == [True, False]
    executor.remove_node(node)
    node.destroy_node()
    reply(response)  # the node no longer exists
    listener.close()
    rclpy.shutdown(context=context)
