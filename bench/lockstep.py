#!/usr/bin/env python3
# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
How many rounds of lockstep there are in a second.

The rover at 500 Hz physics, 10 steps a round, a controller in its own process that answers
odometry with cmd_vel at once.  The floors, in the same run: the same requests (step, set_twist) by
a client without ROS, and the same two messages between two nodes without a simulation.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
import contextlib
import os
import statistics
import sys
import threading
import time

from geometry_msgs.msg import TwistStamped
from nav_msgs.msg import Odometry
from ratios import note
import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from ros_children import child
from ros_children import free_port

from urlab_ros_bridge.client.client import Client

STEPS = 10
PERIOD = 0.02
SERVER = ('-m', 'urlab_ros_bridge.cli.main', 'server', '--world', 'rover', '--cameras', 'off')
BRIDGE = (
    '-m',
    'urlab_ros_bridge.ros.program.main',
    '--ros-args',
    '-p',
    'cmd_vel_type:=twist_stamped',
)


def control() -> None:
    """Answer every odometry at once, until the process is ended."""
    rclpy.init()
    node = Node('controller')
    publisher = node.create_publisher(TwistStamped, 'cmd_vel', 1)

    def take(odometry: Odometry) -> None:
        answer = TwistStamped(header=odometry.header)
        answer.twist.linear.x = 0.3
        publisher.publish(answer)

    node.create_subscription(Odometry, 'odom', take, 10)
    with contextlib.suppress(KeyboardInterrupt, ExternalShutdownException):
        rclpy.spin(node)


def without_ros(client: Client, seconds: float, twist: bool) -> float:
    """Return rounds per second of a client that sends the requests itself."""
    client.set_mode('direct')
    count, end = 0, time.perf_counter() + seconds
    while time.perf_counter() < end:
        client.step(STEPS, observations='minimal')
        if twist:
            client.set_twist('rover', (0.3, 0.0, 0.0), timeout=0.5)
        count += 1
    return count / seconds


def without_simulation(seconds: float) -> float:
    """Return how often a second an odometry goes out and its answer comes back."""
    rclpy.init()
    node = Node('floor')
    publisher, answered = node.create_publisher(Odometry, 'odom', 10), threading.Event()
    node.create_subscription(TwistStamped, 'cmd_vel', lambda message: answered.set(), 1)
    spinner = threading.Thread(target=rclpy.spin, args=(node,), daemon=True)
    spinner.start()
    while not publisher.get_subscription_count() or not node.count_publishers('cmd_vel'):
        time.sleep(0.05)
    time.sleep(0.5)
    count, message, end = 0, Odometry(), time.perf_counter() + seconds
    while time.perf_counter() < end:
        answered.clear()
        publisher.publish(message)
        count += answered.wait(1.0)
    rclpy.shutdown()
    spinner.join(5.0)
    return count / seconds


def in_lockstep(client: Client, seconds: float) -> float:
    """Return rounds per second while the bridge steps."""
    start, wall = client.status().sim_time_ns, time.perf_counter()
    time.sleep(seconds)
    spent = time.perf_counter() - wall
    return (client.status().sim_time_ns - start) * 1e-9 / PERIOD / spent


def wait_for_rounds(client: Client) -> None:
    """Wait until all nodes are there and the bridge steps."""
    for _ in range(100):
        before = client.status()
        time.sleep(0.2)
        if before.mode == 'direct' and client.status().sim_time_ns > before.sim_time_ns:
            return
    raise SystemExit('the lockstep did not begin')


def turns(name: str, measure: Callable[[], float], count: int) -> float:
    """Print and return the median of some turns."""
    rates = [measure() for _ in range(count)]
    rate = statistics.median(rates)
    low, high = min(rates), max(rates)
    print(f'{name:44} {rate:7.0f} /s  ({low:.0f}-{high:.0f})', flush=True)
    return rate


def main() -> None:
    """Measure the floors, then lockstep."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('--seconds', type=float, default=2.0, help='for each turn')
    parser.add_argument('--turns', type=int, default=3, help='of each, the median counts')
    parser.add_argument('--controller', action='store_true', help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.controller:
        control()
        return
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    seconds, count = arguments.seconds, arguments.turns
    rpc, state = free_port(), free_port()
    ports = ('--rpc-port', str(rpc), '--state-port', str(state), '--camera-port', '0')
    with child(*SERVER, *ports), child(sys.argv[0], '--controller') as controller:
        client = Client('127.0.0.1', rpc, shared=True)
        client.connect(20.0)
        turns('step alone, without ROS', lambda: without_ros(client, seconds, False), count)
        floor = turns(
            'step and set_twist, without ROS', lambda: without_ros(client, seconds, True), count
        )
        nodes = turns(
            'odom and cmd_vel, without simulation', lambda: without_simulation(seconds), count
        )
        client.set_mode('live')
        words = (f'rpc_port:={rpc}', f'state_port:={state}', 'lockstep_topics:=["cmd_vel"]')
        with child(*BRIDGE, *(word for each in words for word in ('-p', each))):
            wait_for_rounds(client)
            rate = turns('lockstep', lambda: in_lockstep(client, seconds), count)
        client.close()
        assert controller.poll() is None
    both = 1.0 / (1.0 / floor + 1.0 / nodes)
    note('rounds', rate / floor, 'requests without ROS')
    note('rounds, both floors', rate / both, 'both floors in turn')
    print(f'ratio to the same requests without ROS           {rate / floor:.2f}')
    print(f'ratio to both floors one after the other         {rate / both:.2f}')
    print(f'faster than real time                            {rate * PERIOD:.1f} times')


if __name__ == '__main__':
    main()
