# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
How many rounds of lockstep there are in a second.

The rover at 500 Hz physics, 10 steps a round, a controller in its own process that answers
odometry with cmd_vel at once.  The floors: the same requests (step, set_twist) by a client without
ROS, and the same two messages between two nodes without a simulation.

A machine is faster in one second than in the next, so floors and lockstep take short turns, and
each turn of lockstep is compared with the floors right beside it.  Every one has processes of its
own; those that do not have their turn are asleep, or stopped.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from collections.abc import Iterator
import contextlib
from functools import partial
import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any

from geometry_msgs.msg import TwistStamped
from nav_msgs.msg import Odometry
import numpy as np
from ratios import note
import rclpy
from rclpy.context import Context
from rclpy.executors import ExternalShutdownException
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from ros_children import child
from ros_children import free_port
from ros_children import take_own_domain

from urlab_ros_bridge.client.client import Client
from urlab_ros_bridge.testing.domains import take_domain

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
OTHER_PORTS = ('--camera-port', '0', '--control-port', '0', '--info-port', '0')
# A turn counts after this (s): programs that have slept are slow at first.
WARM_UP = 0.15
REQUESTS = 'step and set_twist, without ROS'
MESSAGES = 'odom and cmd_vel, without simulation'
LOCKSTEP = 'lockstep'


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


def repeat(once: Callable[[], object], seconds: float) -> float:
    """Return how often a second something can be done."""
    _repeat_until(once, time.perf_counter() + WARM_UP)
    start = time.perf_counter()
    count = _repeat_until(once, start + seconds)
    return count / (time.perf_counter() - start)


def _repeat_until(once: Callable[[], object], end: float) -> int:
    count = 0
    while time.perf_counter() < end:
        once()
        count += 1
    return count


class Requests:
    """The requests of a round, by a client without ROS."""

    def __init__(self, port: int) -> None:
        self._client = Client('127.0.0.1', port, shared=True)
        self._client.connect(20.0)
        self._client.set_mode('direct')

    def step(self) -> None:
        """Step alone."""
        self._client.step(STEPS, observations='minimal')

    def round(self) -> None:
        """Send what lockstep has the server do in a round."""
        self.step()
        self._client.set_twist('rover', (0.3, 0.0, 0.0), timeout=0.5)

    def close(self) -> None:
        """End the session."""
        self._client.close()


class Messages:
    """The messages of a round, without a simulation: odometry goes out, its answer comes back."""

    def __init__(self, domain: int) -> None:
        self._context = Context()
        rclpy.init(context=self._context, domain_id=domain)
        self._node = Node('floor', context=self._context)
        self._publisher = self._node.create_publisher(Odometry, 'odom', 10)
        self._answered, self._message = threading.Event(), Odometry()
        self._node.create_subscription(
            TwistStamped, 'cmd_vel', lambda message: self._answered.set(), 1
        )
        self._spinner = threading.Thread(target=self._spin, daemon=True)
        self._spinner.start()
        while not self._publisher.get_subscription_count():
            time.sleep(0.05)
        while not self._node.count_publishers('cmd_vel'):
            time.sleep(0.05)
        time.sleep(0.5)

    def round(self) -> None:
        """Send odometry and wait for its answer."""
        self._answered.clear()
        self._publisher.publish(self._message)
        if not self._answered.wait(1.0):
            raise SystemExit('the floor got no answer')

    def close(self) -> None:
        """End the node."""
        rclpy.shutdown(context=self._context)
        self._spinner.join(5.0)

    def _spin(self) -> None:
        executor = SingleThreadedExecutor(context=self._context)
        executor.add_node(self._node)
        with contextlib.suppress(ExternalShutdownException):
            executor.spin()


class Lockstep:
    """
    A bridge in lockstep, and the controller, which run in its turns alone.

    Both are stopped together: Fast DDS takes a listener for dead that does not read for a second.
    """

    def __init__(self, port: int, *nodes: subprocess.Popen) -> None:
        self._nodes = nodes
        self._client = Client('127.0.0.1', port, shared=True)
        self._client.connect(20.0)
        wait_for_rounds(self._client)
        self._signal(signal.SIGSTOP)

    def _signal(self, number: signal.Signals) -> None:
        for node in self._nodes:
            node.send_signal(number)

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Let the nodes run in this block."""
        self._signal(signal.SIGCONT)
        try:
            yield
        finally:
            self._signal(signal.SIGSTOP)

    def rate(self, seconds: float) -> float:
        """Return rounds a second."""
        with self.running():
            time.sleep(WARM_UP)
            start, wall = self._client.status().sim_time_ns, time.perf_counter()
            time.sleep(seconds)
            now, spent = self._client.status().sim_time_ns, time.perf_counter() - wall
        return (now - start) * 1e-9 / PERIOD / spent

    def close(self) -> None:
        """Let the nodes end."""
        self._signal(signal.SIGCONT)
        self._client.close()


def wait_for_rounds(client: Client) -> None:
    """Wait until all nodes are there and the bridge steps."""
    for _ in range(100):
        before = client.status()
        time.sleep(0.2)
        if before.mode == 'direct' and client.status().sim_time_ns > before.sim_time_ns:
            return
    raise SystemExit('the lockstep did not begin')


def measure(jobs: dict[str, Callable[[float], float]], seconds: float, turns: int) -> np.ndarray:
    """Return rates, shape (turns, jobs); every other turn has the opposite order."""
    rates = np.zeros((turns, len(jobs)))
    for turn in range(turns):
        order = list(enumerate(jobs.values()))
        for place, job in order if turn % 2 else reversed(order):
            rates[turn, place] = job(seconds)
    return rates


def show(name: str, rates: np.ndarray, digits: int, unit: str = '') -> None:
    """Print the median of some turns and their quartiles."""
    low, middle, high = np.percentile(rates, (25, 50, 75))
    print(f'{name:48} {middle:7.{digits}f}{unit}  ({low:.{digits}f}-{high:.{digits}f})')


def compare(rates: dict[str, np.ndarray]) -> None:
    """Print all rates, and the ratios of the turns."""
    for name, each in rates.items():
        show(name, each, 0, ' /s')
    both = 1.0 / (1.0 / rates[REQUESTS] + 1.0 / rates[MESSAGES])
    for name, text, floor in (
        ('rounds', 'requests without ROS', rates[REQUESTS]),
        ('rounds, both floors', 'both floors in turn', both),
    ):
        ratios = rates[LOCKSTEP] / floor
        note(name, ratios, text)
        show(f'ratio to {text}', ratios, 2)
    show('faster than real time', rates[LOCKSTEP] * PERIOD, 1, ' times')


def main() -> None:
    """Measure the floors and lockstep in turns."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('--seconds', type=float, default=0.5, help='for each part of a turn')
    parser.add_argument('--turns', type=int, default=16, help='the median of all counts')
    parser.add_argument('--controller', action='store_true', help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.controller:
        control()
        return
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    take_own_domain()
    beside = take_domain().number
    elsewhere = {**os.environ, 'ROS_DOMAIN_ID': str(beside)}
    with contextlib.ExitStack() as stack:

        def start(*command: str, **options: Any) -> subprocess.Popen:
            return stack.enter_context(child(*command, **options))

        def start_server() -> tuple[int, int]:
            rpc, state = free_port(), free_port()
            start(*SERVER, '--rpc-port', str(rpc), '--state-port', str(state), *OTHER_PORTS)
            return rpc, state

        controller = (sys.argv[0], '--controller')
        controllers = start(*controller), start(*controller, env=elsewhere)
        requests = stack.enter_context(contextlib.closing(Requests(start_server()[0])))
        messages = stack.enter_context(contextlib.closing(Messages(beside)))
        rpc, state = start_server()
        words = f'rpc_port:={rpc}', f'state_port:={state}', 'lockstep_topics:=["cmd_vel"]'
        bridge = start(*BRIDGE, *(word for each in words for word in ('-p', each)))
        lockstep = stack.enter_context(contextlib.closing(Lockstep(rpc, bridge, controllers[0])))
        jobs = {
            'step alone, without ROS': partial(repeat, requests.step),
            MESSAGES: partial(repeat, messages.round),
            REQUESTS: partial(repeat, requests.round),
            LOCKSTEP: lockstep.rate,
        }
        rates = measure(jobs, arguments.seconds, arguments.turns)
        assert all(each.poll() is None for each in (*controllers, bridge))
    compare(dict(zip(jobs, rates.T, strict=True)))


if __name__ == '__main__':
    main()
