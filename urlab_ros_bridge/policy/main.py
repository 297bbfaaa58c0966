# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The program `urlab policy`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
import sys

import rclpy
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions

from urlab_ros_bridge.policy.node import PolicyNode
from urlab_ros_bridge.ros.rclpy_tools.executor import make_executor
from urlab_ros_bridge.ros.rclpy_tools.executor import release
from urlab_ros_bridge.ros.rclpy_tools.executor import spin_until
from urlab_ros_bridge.ros.rclpy_tools.executor import start_problem
from urlab_ros_bridge.ros.rclpy_tools.executor import StopSignal


def main(argv: Sequence[str] | None = None) -> int:
    """
    Run a policy until SIGINT or SIGTERM.

    :param argv: name or file of the policy, ROS arguments, and ``--lifecycle`` for a node that
        waits to be configured and activated; None: those of the process.
    :return: exit code: 0, or 1 when it could not start.
    """
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument('policy')
    parser.add_argument('--lifecycle', action='store_true')
    ours, ros = parser.parse_known_args(sys.argv[1:] if argv is None else argv)
    stop = StopSignal()
    try:
        rclpy.init(args=ros, signal_handler_options=SignalHandlerOptions.NO)
        node = PolicyNode(
            parameter_overrides=[Parameter('policy', value=ours.policy)],
            is_stopping=lambda: stop.received,
        )
    except RuntimeError as error:
        print(f'urlab policy: {start_problem(error)}', file=sys.stderr)
        rclpy.try_shutdown()
        return 1
    executor = make_executor()
    executor.add_node(node)
    success = TransitionCallbackReturn.SUCCESS
    started = ours.lifecycle or (
        node.trigger_configure() is success and node.trigger_activate() is success
    )
    if not started:
        node.stop()
        release(executor, node)
        return int(not stop.received)
    spin_until(stop, executor, node, node.stop)
    return 0


if __name__ == '__main__':
    sys.exit(main())
