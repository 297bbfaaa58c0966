# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Put the simulation of `make demo` back to its initial state; time goes on.

    . ./env.sh
    python examples/reset.py

With an installed ROS 2, `ros2 service call /reset urlab_msgs/srv/Reset` does the same.
"""

import sys

import rclpy
from urlab_msgs.srv import Reset


def main() -> str | None:
    """Call the service; return what went wrong, if anything."""
    rclpy.init()
    node = rclpy.create_node('reset_example')
    client = node.create_client(Reset, 'reset')
    if not client.wait_for_service(timeout_sec=10.0):
        return 'no service /reset: is `make demo` running?'
    future = client.call_async(Reset.Request())
    rclpy.spin_until_future_complete(node, future, timeout_sec=10.0)
    reply = future.result()
    if reply is None:
        return 'no reply within 10 s'
    print(reply)
    return None if reply.success else f'{reply.code}: {reply.message}'


if __name__ == '__main__':
    problem = main()
    rclpy.shutdown()
    sys.exit(problem)
