#!/usr/bin/env python3
# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
CPU time of the ROS bridge per tick and per message, against the floor.

The same bridge process, with the same server and the same subscriber process, publishes (1) CDR
templates, as shipped, and (2) the floor: the bytes of each topic's first message again and again.
Turns alternate, so that the noise of the machine affects both; ratios are medians over the rounds.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time

from ratios import note
from ros_children import cpu_seconds
from ros_children import free_port
from ros_children import FULL_RATE
from ros_children import take_own_domain

BRIDGE = """
import sys
from urlab_ros_bridge.ros.features.feed import Feed
from urlab_ros_bridge.ros.program.main import main

if sys.argv[1] == 'prebuilt':
    make = Feed.__init__
    def prebuilt(self, topic, publisher, build, **more):
        kept = []
        def first(stamp_ns):
            if not kept:
                message = build(stamp_ns)
                if message is None:
                    return None
                kept.append(message)
            return kept[0]
        make(self, topic, publisher, first, **more)
    Feed.__init__ = prebuilt
sys.exit(main(['--ros-args', *sys.argv[2:]]))
"""

LISTENER = """
import os, rclpy, signal, sys
from rclpy.qos import QoSProfile
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu, JointState
from tf2_msgs.msg import TFMessage
heard = [0]
def count(message):
    heard[0] += 1
def tell(*_):
    print(heard[0], flush=True)
    os._exit(0)
rclpy.init(signal_handler_options=rclpy.signals.SignalHandlerOptions.NO)
signal.signal(signal.SIGTERM, tell)
node = rclpy.create_node('bench_listener')
for kind, topic in ((Odometry, 'odom'), (Imu, 'imu/data'), (JointState, 'joint_states'),
                    (TFMessage, '/tf'), (PoseStamped, 'ground_truth/pose')):
    node.create_subscription(kind, topic, count, QoSProfile(depth=50), raw=True)
while True:
    rclpy.spin_once(node, timeout_sec=0.2)
"""
TOPICS = 5
TICK_RATE = 500
SETTLE = 6.0  # s until everything is discovered
VARIANTS = ('templates', 'prebuilt')


def measure(variant: str, ports: tuple[int, int], domain: int, seconds: float) -> float:
    """Return CPU microseconds of the bridge per tick (500 ticks a second) of one variant."""
    environment = {**os.environ, 'ROS_DOMAIN_ID': str(domain)}
    parameters = {'rpc_port': ports[0], 'state_port': ports[1], **FULL_RATE}
    words = [word for name, value in parameters.items() for word in ('-p', f'{name}:={value}')]
    children = [
        subprocess.Popen(
            [sys.executable, '-c', LISTENER], env=environment, text=True, stdout=subprocess.PIPE
        ),
        subprocess.Popen(
            [sys.executable, '-c', BRIDGE, variant, *words],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        ),
    ]
    try:
        time.sleep(SETTLE)
        begin, cpu = time.monotonic(), cpu_seconds(children[1].pid)
        time.sleep(seconds)
        spent, span = cpu_seconds(children[1].pid) - cpu, time.monotonic() - begin
    finally:
        for child in children:
            child.terminate()
        heard = int(children[0].communicate(timeout=10)[0] or 0)
        said = children[1].communicate(timeout=10)[1]
    if heard < 0.9 * span * TICK_RATE * TOPICS:
        raise SystemExit(
            f'{variant}: only {heard} messages arrived; the figures would lie\n{said[-2000:]}'
        )
    return spent / (span * TICK_RATE) * 1e6


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--world', default='quadruped')
    parser.add_argument('--seconds', type=float, default=5.0, help='of each turn')
    parser.add_argument('--rounds', type=int, default=3)
    options, _ = parser.parse_known_args()
    ports = free_port(), free_port()
    command = [sys.executable, '-m', 'urlab_ros_bridge.cli.main', 'server']
    command += ['--world', options.world, '--step-mode', 'live']
    command += ['--rpc-port', str(ports[0]), '--state-port', str(ports[1])]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    domain = take_own_domain()
    rounds: list[dict[str, float]] = []
    try:
        for number in range(options.rounds):
            order = VARIANTS if number % 2 else VARIANTS[::-1]
            rounds.append({name: measure(name, ports, domain, options.seconds) for name in order})
            print(f'round {number + 1} of {options.rounds}:', rounds[-1], file=sys.stderr)
    finally:
        server.terminate()
        server.wait(10)
    print(f'{options.world}, {TICK_RATE} ticks/s, {TOPICS} topics, one subscriber process')
    print('variant     us/tick  us/message  ratio to prebuilt bytes')
    for name in VARIANTS:
        cost = statistics.median(item[name] for item in rounds)
        ratio = statistics.median(item[name] / item['prebuilt'] for item in rounds)
        note(f'CPU, {name}', [item[name] / item['prebuilt'] for item in rounds], 'prebuilt bytes')
        print(f'{name:10s} {cost:8.1f} {cost / TOPICS:11.1f} {ratio:8.2f}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
