# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`urlab policy`: run a policy on a robot in ROS."""

from __future__ import annotations

from dataclasses import dataclass

from urlab_ros_bridge.cli.arguments.argument import Arguments
from urlab_ros_bridge.cli.arguments.checks import policy_file
from urlab_ros_bridge.cli.arguments.command import Command
from urlab_ros_bridge.cli.arguments.command import ParsedArguments
from urlab_ros_bridge.cli.arguments.groups import LogLevel
from urlab_ros_bridge.cli.arguments.groups import NAME_OR_FILE
from urlab_ros_bridge.cli.arguments.groups import Namespace
from urlab_ros_bridge.cli.logs import ros_level
from urlab_ros_bridge.cli.packages import require
from urlab_ros_bridge.schema import key


@dataclass(frozen=True, kw_only=True)
class Policy(Arguments):
    """Policy."""

    policy: str = key(
        text='Bundled policy such as quadruped_trot, or YAML file that describes your own.',
        check=policy_file,
        **NAME_OR_FILE,
        positional=True,
    )


@dataclass(frozen=True, kw_only=True)
class PolicyArguments(Policy, Namespace, LogLevel):
    """The arguments of `urlab policy`."""

    lifecycle: bool = key(
        False, 'Run as a managed node (urlab_policy), which has to be configured and activated.'
    )


def node_arguments(given: ParsedArguments[PolicyArguments]) -> list[str]:
    """Return the argv of the ROS node; our options take precedence over the ROS arguments."""
    values = given.values
    ours: list[str] = []
    if values.namespace.strip('/'):
        ours += ['-r', f'__ns:=/{values.namespace.strip("/")}']
    if 'log_level' in given.names:
        ours += ['--log-level', ros_level(values.log_level)]
    first = [values.policy, *(['--lifecycle'] if values.lifecycle else [])]
    return [*first, '--ros-args', *given.ros, *ours]


def run(given: ParsedArguments[PolicyArguments]) -> int:
    """
    Run the node until a signal comes.

    :raises CliError: when ROS or onnxruntime is not installed.
    """
    require('policy')
    from urlab_ros_bridge.policy.main import main as policy_main

    return policy_main(node_arguments(given))


COMMAND = Command(
    name='policy',
    summary='Run a locomotion policy (ONNX) on a robot in ROS 2.',
    text='Run your own locomotion policy on any robot in ROS 2, simulated or real: an ONNX model\n'
    'that reads imu/data, joint_states and cmd_vel and publishes joint_commands, as described\n'
    'by a YAML file. The file names the model: run only files that you trust to move your robot.',
    section=PolicyArguments,
    run=run,
    takes_ros_args=True,
    handles_signals=True,
    examples=(
        ('urlab policy quadruped_trot', 'the bundled policy, for the world quadruped'),
        (
            'urlab policy walk.yaml --ros-args -p use_sim_time:=true',
            'your own policy, in a simulation',
        ),
        ('urlab policy walk.yaml --namespace robot_1 --lifecycle', 'with a lifecycle manager'),
    ),
)
