#!/usr/bin/env python3
# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
What a bag costs the bridge: CPU, and the time from a tick of the physics to its messages.

One process listens to five state topics at 500 Hz.  Beside it nobody records (the floor), the
same topics are recorded, or VGA pictures at 30 Hz too; and pictures are heard by the listener
instead of being recorded.  Turns alternate; figures are medians over the rounds.  Each bag is read
afterwards: it must hold a message of each topic for each tick between its first and its last one.

    . ./env.sh && python bench/bags.py [--seconds 8] [--rounds 3] [--compression zstd]
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
import statistics
import subprocess
import sys
import tempfile
import time

from bridge_cost import SETTLE
from bridge_cost import TICK_RATE
from mcap.reader import make_reader
from ratios import note
from ros_children import cpu_seconds
from ros_children import free_port
from ros_children import FULL_RATE
from ros_children import take_own_domain

LISTENER = """
import json, os, rclpy, signal, sys
from rclpy.qos import QoSProfile
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Odometry
from sensor_msgs.msg import Image, Imu, JointState
from tf2_msgs.msg import TFMessage
from urlab_msgs.msg import BridgeStatistics
heard, late = [0], []
def count(message):
    heard[0] += 1
def tell(*_):
    print(json.dumps([heard[0], late[-int(sys.argv[2]):]]), flush=True)
    os._exit(0)
rclpy.init(signal_handler_options=rclpy.signals.SignalHandlerOptions.NO)
signal.signal(signal.SIGTERM, tell)
node = rclpy.create_node('bench_listener')
topics = [(Odometry, 'odom'), (Imu, 'imu/data'), (JointState, 'joint_states'),
          (TFMessage, '/tf'), (PoseStamped, 'ground_truth/pose')]
if sys.argv[1] == 'pictures':
    topics.append((Image, 'front_rgb/image_raw'))
for kind, topic in topics:
    node.create_subscription(kind, topic, count, QoSProfile(depth=50), raw=True)
node.create_subscription(BridgeStatistics, '/urlab_bridge/statistics',
                         lambda m: late.append([m.latency_p50, m.latency_p99]), 10)
while True:
    rclpy.spin_once(node, timeout_sec=0.2)
"""
STATE = ('odom', 'imu/data', 'joint_states', 'ground_truth/pose')
PICTURES = (*STATE, 'front_rgb/image_raw')
# What the listener hears beside the state, and what is recorded.
VARIANTS = {
    'state heard': ('', ()),
    'state heard and recorded': ('', STATE),
    'pictures heard': ('pictures', ()),
    'pictures recorded': ('', PICTURES),
}


def check(folder: Path) -> tuple[float, int]:
    """Return megabytes on the disk and messages of a bag; end when ticks are missing in it."""
    (path,) = folder.glob('*.mcap')
    times: dict[str, set[int]] = {}
    with path.open('rb') as stream:
        messages = 0
        for _, channel, message in make_reader(stream).iter_messages():
            times.setdefault(channel.topic, set()).add(message.log_time)
            messages += 1
    odom = sorted(times['/odom'])
    for topic in ('/imu/data', '/joint_states', '/ground_truth/pose'):
        start = max(odom[0], min(times[topic]))
        if {t for t in odom if t >= start} != {t for t in times[topic] if t >= start}:
            raise SystemExit(f'{topic} is not there for every tick')
    return path.stat().st_size / 1e6, messages


def measure(name: str, ports: tuple[int, int], domain: int, options: argparse.Namespace) -> dict:
    """Return the figures of one turn."""
    heard, recorded = VARIANTS[name]
    environment = {**os.environ, 'ROS_DOMAIN_ID': str(domain)}
    with tempfile.TemporaryDirectory() as folder:
        values = {'rpc_port': ports[0], 'state_port': ports[1], **FULL_RATE}
        if recorded:
            values |= {'bag': 'bench', 'bag_topics': json.dumps(recorded), 'data_dir': folder}
            values['bag_compression'] = options.compression
        words = [word for key, value in values.items() for word in ('-p', f'{key}:={value}')]
        command = [sys.executable, '-m', 'urlab_ros_bridge.cli.main', 'bridge', '--ros-args']
        listener = subprocess.Popen(
            [sys.executable, '-c', LISTENER, heard, str(int(options.seconds))],
            env=environment, text=True, stdout=subprocess.PIPE,
        )  # fmt: skip
        bridge = subprocess.Popen(
            [*command, *words],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            time.sleep(SETTLE)
            begin, cpu = time.monotonic(), cpu_seconds(bridge.pid)
            time.sleep(options.seconds)
            spent, span = cpu_seconds(bridge.pid) - cpu, time.monotonic() - begin
        finally:
            listener.terminate()
            bridge.terminate()
            _, late = json.loads(listener.communicate(timeout=10)[0])
            bridge.wait(30)
        size, messages = check(Path(folder) / 'Bags' / 'bench') if recorded else (0.0, 0)
    return {
        'cpu': spent / (span * TICK_RATE) * 1e6,
        'p50': statistics.median(each[0] for each in late) * 1e3,
        'p99': statistics.median(each[1] for each in late) * 1e3,
        'size': size,
        'messages': messages,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--world', default='rover')
    parser.add_argument('--seconds', type=float, default=8.0, help='of each turn')
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--compression', default='zstd')
    options, _ = parser.parse_known_args()
    ports = free_port(), free_port()
    command = [sys.executable, '-m', 'urlab_ros_bridge.cli.main', 'server']
    command += ['--world', options.world, '--step-mode', 'live', '--camera-port', '0']
    command += ['--rpc-port', str(ports[0]), '--state-port', str(ports[1])]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    domain = take_own_domain()
    rounds: list[dict[str, dict]] = []
    try:
        for number in range(options.rounds):
            order = list(VARIANTS)[:: 1 if number % 2 else -1]
            rounds.append({name: measure(name, ports, domain, options) for name in order})
            print(f'round {number + 1} of {options.rounds}:', rounds[-1], file=sys.stderr)
    finally:
        server.terminate()
        server.wait(10)
    print(f'{options.world}, {TICK_RATE} ticks/s, compression {options.compression}')
    print(f'{"":26s} us/tick  p50 ms  p99 ms  MB on disk  messages')
    for name in VARIANTS:
        cpu, p50, p99, size, messages = (
            statistics.median(each[name][key] for each in rounds)
            for key in ('cpu', 'p50', 'p99', 'size', 'messages')
        )
        print(f'{name:26s} {cpu:7.1f} {p50:7.2f} {p99:7.2f} {size:11.1f} {messages:9.0f}')
    for name, floor in (
        ('state heard and recorded', 'state heard'),
        ('pictures recorded', 'pictures heard'),
    ):
        note(f'CPU, {name}', [each[name]['cpu'] / each[floor]['cpu'] for each in rounds], floor)
    return 0


if __name__ == '__main__':
    sys.exit(main())
