# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The program: one process, one bridge."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
import sys

import rclpy
from rclpy.signals import SignalHandlerOptions

from urlab_ros_bridge.files.no_windows import open_no_windows
from urlab_ros_bridge.ros.program.lifecycle import ManagedBridge
from urlab_ros_bridge.ros.program.node import BridgeNode
from urlab_ros_bridge.ros.rclpy_tools.executor import make_executor
from urlab_ros_bridge.ros.rclpy_tools.executor import release
from urlab_ros_bridge.ros.rclpy_tools.executor import spin_until
from urlab_ros_bridge.ros.rclpy_tools.executor import start_problem
from urlab_ros_bridge.ros.rclpy_tools.executor import StopSignal
from urlab_ros_bridge.wire.errors import UrlabError


def main(argv: Sequence[str] | None = None) -> int:
    """
    Run the bridge until SIGINT or SIGTERM.

    :param argv: ROS arguments, ``--status-fd N``, and ``--lifecycle`` for a managed node that
        waits to be configured and activated; None: those of the process.
    :return: exit code: 0, or 1 when it could not start or must not go on.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument('--status-fd', type=int)
    parser.add_argument('--lifecycle', action='store_true')
    ours, ros = parser.parse_known_args(arguments)
    if argv is None:
        open_no_windows()
    stop = StopSignal()
    failures: list[UrlabError] = []

    def fail(error: UrlabError) -> None:
        failures.append(error)
        stop.received = True

    try:
        rclpy.init(args=ros, signal_handler_options=SignalHandlerOptions.NO)
        kind = ManagedBridge if ours.lifecycle else BridgeNode
        node = kind(status_fd=ours.status_fd, on_failure=fail)
    except (UrlabError, RuntimeError) as error:
        print(f'urlab bridge: {start_problem(error)}', file=sys.stderr)
        rclpy.try_shutdown()
        return 1
    executor = make_executor()
    executor.add_node(node)
    if isinstance(node, BridgeNode) and (stop.received or not _started(node)):
        release(executor, node)
        return int(not stop.received)
    spin_until(stop, executor, node, node.stop)
    for failure in failures:
        print(f'urlab bridge: {failure}', file=sys.stderr)
    return int(bool(failures))


def _started(node: BridgeNode) -> bool:
    try:
        node.start()
    except UrlabError as error:
        print(f'urlab bridge: {error}', file=sys.stderr)
        return False
    return True


if __name__ == '__main__':
    sys.exit(main())
