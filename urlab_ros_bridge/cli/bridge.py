# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`urlab bridge`: run the ROS node, with our arguments turned into ROS parameters."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
import sys

from urlab_ros_bridge.cli.commands import BRIDGE
from urlab_ros_bridge.cli.errors import FileMissing
from urlab_ros_bridge.cli.errors import RosNotFound
from urlab_ros_bridge.cli.parser import make_parser
from urlab_ros_bridge.cli.parser import plain_errors
from urlab_ros_bridge.cli.parser import split_ros_arguments
from urlab_ros_bridge.cli.ports import connect_address

_PARAMETERS = ('rpc_port', 'state_port')


def parse(argv: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """Return the arguments that were given, and nothing for the others, and the ROS words."""
    ours, ros = split_ros_arguments(argv)
    parser = make_parser(BRIDGE)
    parser.add_argument(
        '--status-fd',
        type=int,
        default=argparse.SUPPRESS,
        metavar='N',
        help='File descriptor that gets one JSON line of figures a second.',
    )
    parser.add_argument(
        '--lifecycle',
        action='store_true',
        help='Run as a managed node (urlab_bridge_lifecycle) that waits to be configured and '
        'activated.',
    )
    # A default here must not beat the parameter file, so only given arguments are passed on.
    for action in parser._actions:
        action.default = argparse.SUPPRESS
    return parser.parse_args(ours), ros


def node_arguments(values: argparse.Namespace, ros: Sequence[str]) -> list[str]:
    """
    Return the argv of the ROS node.

    Later words win in ROS: our parameter file, then the ROS words, with the parameter file that
    launch names there, and last what was given in our other options.  The shipped file holds the
    defaults and is not passed: beside a value in a file ROS ignores a ``-p`` of another type, so
    that a mistake would go unnoticed.

    :raises FileMissing: when the parameter file is not there.
    """
    given = vars(values)
    words = ['--ros-args']
    ours: list[str] = []
    if given.get('params_file'):
        file = Path(given['params_file']).expanduser()
        if not file.is_file():
            raise FileMissing('--params-file', given['params_file'])
        words += ['--params-file', str(file)]
    if given.get('host'):
        # Launch passes the address that the server binds, which may be a wildcard.
        ours += ['-p', f'host:={connect_address(given["host"])}']
    for name in _PARAMETERS:
        if name in given:
            ours += ['-p', f'{name}:={given[name]}']
    if given.get('namespace', '').strip('/'):
        ours += ['-r', f'__ns:=/{given["namespace"].strip("/")}']
    if 'log_level' in given:
        ours += ['--log-level', given['log_level']]
    status = [f'--status-fd={given["status_fd"]}'] if 'status_fd' in given else []
    status += ['--lifecycle'] if given.get('lifecycle') else []
    return [*status, *words, *ros, *ours]


@plain_errors
def main(argv: Sequence[str]) -> int:
    """Run `urlab bridge` with the words after its name; return the exit code."""
    values, ros = parse(argv)
    words = node_arguments(values, ros)
    try:
        import rclpy  # noqa: F401
        import tf2_msgs.msg  # noqa: F401
        import urlab_msgs.msg  # noqa: F401
    except ImportError as error:
        raise RosNotFound(error) from None
    from urlab_ros_bridge.ros.main import main as ros_main

    return ros_main(words)


if __name__ == '__main__':
    sys.exit(main())
