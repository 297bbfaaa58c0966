# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The sub-commands of `urlab`, as one table; the modules are imported when they run."""

from __future__ import annotations

from urlab_ros_bridge.cli.arguments import BRIDGE_ARGUMENTS
from urlab_ros_bridge.cli.arguments import DOCTOR_ARGUMENTS
from urlab_ros_bridge.cli.arguments import SERVER_ARGUMENTS
from urlab_ros_bridge.cli.arguments import UP_ARGUMENTS
from urlab_ros_bridge.cli.parser import Command

SERVER = Command(
    name='server',
    module='urlab_ros_bridge.cli.server',
    summary='Serve a MuJoCo world over the URLab protocol.',
    text='Serve a MuJoCo world over the URLab protocol: requests, state stream and cameras,\n'
    'each on its own port. Needs no ROS. Prints "urlab server ready" when clients may\n'
    'connect, and runs until it gets Ctrl-C.',
    arguments=SERVER_ARGUMENTS,
    examples=(
        ('urlab server', 'the rover world, in real time'),
        ('urlab server --world quadruped --paused', 'a walking robot, time held still'),
        ('urlab server --model my_robot.xml --step-mode direct', 'your MJCF, stepped on request'),
        ('urlab server --rpc-port 0 --state-port 0 --camera-port 0', 'any free ports'),
    ),
)

BRIDGE = Command(
    name='bridge',
    module='urlab_ros_bridge.cli.bridge',
    summary='Bring a running simulation into ROS 2.',
    text='Bring a running simulation into ROS 2: its state as topics and transforms, commands\n'
    'and services back to it. Connects again by itself when the server restarts.',
    arguments=BRIDGE_ARGUMENTS,
    takes_ros_args=True,
    examples=(
        ('urlab bridge', 'the server on this machine'),
        ('urlab bridge --host 192.168.1.20', 'a simulation on another machine'),
        ('urlab bridge --namespace sim --ros-args -p clock_rate:=50.0', 'with ROS arguments'),
    ),
)

UP = Command(
    name='up',
    module='urlab_ros_bridge.cli.up',
    summary='Run the step server and the ROS 2 bridge together.',
    text='Run the step server and the ROS 2 bridge together, with a line of live figures below\n'
    'their messages. Takes the arguments of launch/sim.launch.py, as --name value or as\n'
    'name:=value. Ctrl-C ends everything, a second Ctrl-C at once.',
    arguments=UP_ARGUMENTS,
    takes_ros_args=True,
    examples=(
        ('urlab up', 'the rover world in ROS 2'),
        ('urlab up world:=quadruped rviz:=true', 'another world, with RViz'),
        ('urlab up --model my_robot.xml --use-respawn', 'your MJCF, restarted when it dies'),
    ),
)

DOCTOR = Command(
    name='doctor',
    module='urlab_ros_bridge.cli.doctor',
    summary='Check this machine and say what to do.',
    text='Check Python, packages, ROS 2, MuJoCo, rendering, ports and a running server, and say\n'
    'what to do about each problem. Changes nothing. Exit code 1 when something fails.',
    arguments=DOCTOR_ARGUMENTS,
    examples=(
        ('urlab doctor', 'check everything'),
        ('urlab doctor --host 192.168.1.20', 'ask the server of another machine'),
    ),
)

COMMANDS: dict[str, Command] = {c.name: c for c in (UP, SERVER, BRIDGE, DOCTOR)}
