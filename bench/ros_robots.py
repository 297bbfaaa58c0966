#!/usr/bin/env python3
# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Cost of a robot in ROS: CPU per tick of server and bridge with 1 to 8 rovers in one world.

Every rover has its five topics at the rate of the ticks (odometry, joint states, IMU, transform,
true pose) and its laser scan, all of them taken by another process.  Costs are measured at a fifth
of real time, where nothing is short of processor time; they are the least of several windows and
rounds, because whatever else the machine does can only add to them.  Then the world runs at full
speed, and the real-time factor and what arrives tell whether it keeps up.

The floor of the bridge is a bare rclpy process that publishes as many prebuilt messages a tick to
the same kind of subscriber.
"""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
import subprocess
import sys
import tempfile
import time
from typing import Any

import numpy as np
from ratios import note
from robots import sidecar
from ros_children import child
from ros_children import cpu_seconds
from ros_children import free_port
from ros_children import FULL_RATE
from ros_children import take_own_domain

from urlab_ros_bridge.client.client import Client

COUNTS = (1, 2, 4, 8)
SLOW = 20.0  # percent of real time
SETTLE = 7.0  # s until everything is discovered
TOPICS = 5
WINDOWS = 5
RESULTS = ('factor', 'messages')
COLUMNS = ('server', 'bridge', 'floor')
LISTENER = """
import sys, threading, time
import rclpy
from rclpy.qos import QoSProfile
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Odometry
from sensor_msgs.msg import Imu, JointState, LaserScan
from tf2_msgs.msg import TFMessage
from urlab_ros_bridge.ros.rclpy_tools.executor import make_executor
kinds = {'nav_msgs/msg/Odometry': Odometry, 'sensor_msgs/msg/Imu': Imu,
         'sensor_msgs/msg/JointState': JointState, 'sensor_msgs/msg/LaserScan': LaserScan,
         'tf2_msgs/msg/TFMessage': TFMessage, 'geometry_msgs/msg/PoseStamped': PoseStamped}
heard, stop = [0], []
def count(message):
    heard[0] += 1
def answer():
    for line in sys.stdin:
        print(heard[0], flush=True)
    stop.append(1)
threading.Thread(target=answer, daemon=True).start()
rclpy.init()
node = rclpy.create_node('bench_listener')
taken, looked = set(), 0.0
executor = make_executor()
executor.add_node(node)
while not stop:
    executor.spin_once(timeout_sec=0.1)
    if len(taken) < int(sys.argv[1]) and time.monotonic() - looked > 0.5:
        looked = time.monotonic()
        for topic, types in node.get_topic_names_and_types():
            robot = topic.startswith('/rover') and not topic.endswith('tf_static')
            if robot and types[0] in kinds and topic not in taken and 'goal' not in topic:
                taken.add(topic)
                node.create_subscription(
                    kinds[types[0]], topic, count, QoSProfile(depth=100), raw=True)
executor.remove_node(node)
node.destroy_node()
rclpy.shutdown()
"""
FLOOR = """
import signal, sys, time
import rclpy
from rclpy.qos import QoSProfile
from rclpy.serialization import serialize_message
from geometry_msgs.msg import PoseStamped, TransformStamped
from nav_msgs.msg import Odometry
from sensor_msgs.msg import Imu, JointState
from tf2_msgs.msg import TFMessage
stop = []
signal.signal(signal.SIGTERM, lambda *_: stop.append(1))
rclpy.init(signal_handler_options=rclpy.signals.SignalHandlerOptions.NO)
node = rclpy.create_node('bench_floor')
pair = [0.0, 0.0]
state = JointState(name=['left', 'right'], position=pair, velocity=pair, effort=pair)
kinds = (Odometry(), Imu(), state, TFMessage(transforms=[TransformStamped()]), PoseStamped())
pairs = [
    (node.create_publisher(type(message), f'/rover{robot}/{topic}', QoSProfile(depth=10)),
     serialize_message(message))
    for robot in range(int(sys.argv[1]))
    for topic, message in zip(('odom', 'imu/data', 'joint_states', 'tf', 'pose'), kinds)
]
deadline = time.monotonic()
while not stop:
    time.sleep(max(deadline - time.monotonic(), 0))
    for publisher, message in pairs:
        publisher.publish(message)
    deadline += float(sys.argv[2])
node.destroy_node()
rclpy.shutdown()
"""


class Listener:
    """A subscriber process that counts."""

    def __init__(self, stack: ExitStack, topics: int) -> None:
        pipe = subprocess.PIPE
        command = [sys.executable, '-c', LISTENER, str(topics)]
        # It ends when its input does, at the end of the stack.
        self._process = stack.enter_context(
            subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
        )

    def count(self) -> int:
        """Return how many messages it has heard."""
        self._process.stdin.write('\n')
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


def window(
    client: Client, pids: dict[str, int], listener: Listener, seconds: float
) -> dict[str, float]:
    """Return CPU ms per tick by process (the least), messages per second and tick, real time."""

    def look() -> tuple[Any, float, dict[str, float], int]:
        cpu = {name: cpu_seconds(pid) for name, pid in pids.items()}
        return client.status(), time.monotonic(), cpu, listener.count()

    looks = [look()]
    for _ in range(WINDOWS):
        time.sleep(seconds / WINDOWS)
        looks.append(look())
    (first, begin, _, heard), (last, end, _, more) = looks[0], looks[-1]
    costs = {
        name: min(
            1e3 * (b[2][name] - a[2][name]) / (b[0].step - a[0].step) for a, b in pairwise(looks)
        )
        for name in pids
    }
    return {
        **costs,
        'messages': (more - heard) / (end - begin),
        'per tick': (more - heard) / (last.step - first.step),
        'factor': (last.sim_time_ns - first.sim_time_ns) / 1e9 / (end - begin),
    }


def measure(count: int, folder: Path, seconds: float) -> tuple[dict, dict]:
    """Return the figures of a world of `count` rovers: slowly, and at full speed."""
    ports = {'rpc': free_port(), 'state': free_port()}
    words = [f'--{name}-port={port}' for name, port in ports.items()]
    words += ['--control-port=0', '--info-port=0', '--step-mode=live', '--cameras=off']
    words += ['--model', str(sidecar(folder, 'rover', count)), '--log-level=error']
    cli = ('-m', 'urlab_ros_bridge.cli.main')
    places = {f'{name}_port': port for name, port in ports.items()}
    given = {**places, 'namespace_robots': 'always', **FULL_RATE}
    parameters = [word for name, value in given.items() for word in ('-p', f'{name}:={value}')]
    with ExitStack() as stack:
        pids = {'server': stack.enter_context(child(*cli, 'server', *words)).pid}
        client = Client(
            rpc_port=ports['rpc'], state_port=ports['state'], shared=True, timeout=20.0
        )
        stack.enter_context(client)
        client.set_sim_speed(SLOW)
        bridge = child(*cli, 'bridge', '--ros-args', *parameters, '--log-level', 'error')
        pids['bridge'] = stack.enter_context(bridge).pid
        listener = Listener(stack, (TOPICS + 1) * count)
        time.sleep(SETTLE)
        slow = window(client, pids, listener, seconds)
        client.set_sim_speed(100.0)
        time.sleep(1.0)
        return slow, window(client, pids, listener, seconds)


def floor(count: int, seconds: float, period: float) -> float:
    """Return CPU ms of a bare publisher for the topics of one tick."""
    with ExitStack() as stack:
        bare = stack.enter_context(child('-c', FLOOR, str(count), str(period)))
        listener = Listener(stack, TOPICS * count)
        time.sleep(SETTLE / 2)
        before, heard = cpu_seconds(bare.pid), listener.count()
        time.sleep(seconds)
        ticks = (listener.count() - heard) / (TOPICS * count)
        return (cpu_seconds(bare.pid) - before) / ticks * 1e3


def one(count: int, folder: Path, seconds: float) -> dict[str, float]:
    """Return the costs of `COLUMNS`, messages per tick, and `RESULTS` at full speed."""
    slow, full = measure(count, folder, seconds)
    bare = floor(count, seconds / 2, 0.002 * 100 / SLOW)
    costs = (slow['server'], slow['bridge'], bare)
    rest = {'per tick': slow['per tick'], **{key: full[key] for key in RESULTS}}
    return {**dict(zip(COLUMNS, costs, strict=True)), **rest}


def fit(counts: list[int], costs: list[float]) -> str:
    """Return the straight line through the costs in words, and how well it fits."""
    x, y = np.array(counts, float), np.array(costs)
    slope, start = np.polyfit(x, y, 1)
    spread = ((y - y.mean()) ** 2).sum()
    fits = 1 - ((y - start - slope * x) ** 2).sum() / spread
    return (
        f'{start:.3f} + {slope:.3f} ms per robot, R^2 {fits:.4f}; '
        f'cost({counts[-1]})/{counts[-1]}/cost({counts[0]}) = {y[-1] / x[-1] / y[0] * x[0]:.2f}'
    )


def main() -> int:
    """Print the table and the lines."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--seconds', type=float, default=5.0, help='of each measurement')
    parser.add_argument('--counts', type=int, nargs='+', default=list(COUNTS))
    parser.add_argument('--rounds', type=int, default=2)
    options, _ = parser.parse_known_args()
    take_own_domain()
    found: dict[int, list[dict[str, float]]] = {count: [] for count in options.counts}
    with tempfile.TemporaryDirectory() as name:
        for number in range(options.rounds):
            for count in options.counts[:: -1 if number % 2 else 1]:
                found[count].append(one(count, Path(name), options.seconds))
    print(f'                 at {SLOW:g} % of real time     at full speed')
    print('robots  messages  server  bridge   floor  real-time  messages')
    print('        per tick      ms      ms      ms     factor     per s')
    rows: dict[str, list[float]] = {key: [] for key in COLUMNS}
    for count, rounds in found.items():
        for key, costs in rows.items():
            costs.append(min(item[key] for item in rounds))
        last = [costs[-1] for costs in rows.values()]
        rest = [np.median([item[key] for item in rounds]) for key in ('per tick', *RESULTS)]
        print(
            f'{count:6d}  {rest[0]:8.1f}  {last[0]:6.3f}  {last[1]:6.3f}  {last[2]:6.3f}  '
            f'{rest[1]:9.4f}  {rest[2]:8.0f}'
        )
    for key, costs in rows.items():
        print(f'{key}: {fit(options.counts, costs)}')
    ratios = np.divide(rows['bridge'], rows['floor'])
    note('CPU of the bridge, by number of robots', ratios)
    print(f'bridge / floor: {ratios.min():.2f} to {ratios.max():.2f}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
