# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The sub-commands of `urlab`, as one table; the modules are imported when they run."""

from __future__ import annotations

from urlab_ros_bridge.cli.arguments import Argument
from urlab_ros_bridge.cli.arguments import BRIDGE_ARGUMENTS
from urlab_ros_bridge.cli.arguments import DOCTOR_ARGUMENTS
from urlab_ros_bridge.cli.arguments import SERVER_ARGUMENTS
from urlab_ros_bridge.cli.arguments import UP_ARGUMENTS
from urlab_ros_bridge.cli.gateway_arguments import CHIRAL_ARGUMENTS
from urlab_ros_bridge.cli.gateway_arguments import EVAL_ARGUMENTS
from urlab_ros_bridge.cli.map_arguments import MAP_ARGUMENTS
from urlab_ros_bridge.cli.parser import Command
from urlab_ros_bridge.wire.ops import CONTROL_PORT
from urlab_ros_bridge.wire.ops import INFO_PORT
from urlab_ros_bridge.wire.ops import STATE_PORT

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
        ('urlab server --editor', 'no world yet: clients build levels and play them'),
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

CHIRAL = Command(
    name='chiral',
    module='urlab_ros_bridge.cli.chiral',
    summary='Serve a robot of a simulation to policies (Chiral protocol).',
    text='Serve a robot of a running simulation to policies that speak the Chiral protocol:\n'
    'pictures, depth and joint states of one moment out, actions in, over a WebSocket. Takes\n'
    'any URLab server; needs no ROS. Prints "urlab chiral ready" when a policy may connect.',
    arguments=CHIRAL_ARGUMENTS,
    examples=(
        ('urlab chiral', 'the first robot of the server on this machine'),
        ('urlab chiral --pace lockstep', 'time goes on with each action: repeatable'),
        ('urlab chiral --profile my_robot.yaml --viewers', 'your choice of cameras and actions'),
    ),
)

EVAL = Command(
    name='eval',
    module='urlab_ros_bridge.cli.eval',
    summary='Run a policy for some episodes and print how it did.',
    text='Run a policy against a Chiral server for some episodes and print a table of the\n'
    'results. The policy is a callable of yours: observation in, action out.',
    arguments=EVAL_ARGUMENTS,
    examples=(
        ('urlab eval --policy my_policy:act', 'ten episodes'),
        ('urlab eval --policy my_policy:Policy --episodes 50 --record runs', 'with recordings'),
    ),
)

CONFORMANCE = Command(
    name='conformance',
    module='urlab_ros_bridge.cli.conformance',
    summary='Try every rule of the protocol on a server.',
    text='Try every rule of the protocol on a server, one named check each, and print a table.\n'
    'Give tcp://HOST[:PORT] to test a running server, Unreal or any other; it is reset again\n'
    'and again and left in live mode. Without it the bundled server is started and tested.\n'
    'Exit code 1 when a rule is broken.',
    arguments=(
        Argument('transport', 'How requests travel.', 'both', ('zmq', 'shm', 'both')),
        Argument('mode', 'Step modes that are tried.', 'all', ('live', 'direct', 'puppet', 'all')),
        Argument(
            'only',
            'Only checks of this name, glob or beginning of a name; several with commas.',
            metavar='PATTERN',
        ),
        Argument('list', 'List the checks with their rules and sources, and run none.', False),
        Argument('quick', 'Leave out checks that wait for seconds.', False),
        Argument('json', 'Write the results to a file too, as JSON.', metavar='FILE'),
        Argument('state_port', 'TCP port of the state stream.', STATE_PORT, metavar='PORT'),
        Argument('control_port', 'TCP port of the control stream.', CONTROL_PORT, metavar='PORT'),
        Argument('info_port', 'TCP port of the info stream.', INFO_PORT, metavar='PORT'),
    ),
    examples=(
        ('urlab conformance', 'the bundled server, over ZMQ and shared memory'),
        ('urlab conformance tcp://192.168.1.20', 'a server on another machine'),
        ('urlab conformance --only "step.*,reset" --mode direct', 'some checks'),
        ('urlab conformance --list', 'every rule with its place in the pages'),
    ),
)

MAP = Command(
    name='map',
    module='urlab_ros_bridge.cli.map',
    summary='Draw the map of a world for Nav2.',
    text='Draw the occupancy grid of a world from its geometry, as two files for map_server of\n'
    'Nav2. The frame of the map is the world, which is where odom has its origin. Robots are\n'
    'left out; what no robot can reach is unknown. Needs no ROS and no server.',
    arguments=MAP_ARGUMENTS,
    examples=(
        ('urlab map', 'rover.pgm and rover.yaml: what the scanner sees'),
        ('urlab map --height robot --movable', 'everything that the robot would bump into'),
        ('urlab map --model my_house.xml --height 0.1:0.6 --output maps/house', 'your MJCF'),
    ),
)

COMMANDS: dict[str, Command] = {
    c.name: c for c in (UP, SERVER, BRIDGE, CHIRAL, EVAL, MAP, DOCTOR, CONFORMANCE)
}
