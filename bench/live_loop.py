#!/usr/bin/env python3
# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The live loop: real-time factor, tick jitter and CPU share at 500 Hz and 1 kHz.

The floor is a loop in its own process that steps the same model on an absolute schedule and does
nothing else.  Jitter is the distance of a tick from the schedule line through the run, taken from
the wall time and the step that the closing row of each tick carries; ticks that this reader does
not get are counted, and are no slowing of the simulation.  With --bridged (the default where rclpy
is installed) the ROS bridge runs too, and a subscriber in another process takes its main topics.
With --busy 2 on two processors all of them, the floor too, run beside programs that compute.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
import time

import busy_loops
import numpy as np
import psutil
from ratios import note
from ros_children import FULL_RATE
import zmq

from urlab_ros_bridge.client.client import Client
from urlab_ros_bridge.client.state.stream import StateStream

FLOOR = """
import sys, time, mujoco
from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.model.world import load_world
world = load_world(ServerConfig(world=sys.argv[1]))
world.model.opt.timestep = dt = float(sys.argv[2])
stamps = []
deadline = time.perf_counter()
end = deadline + float(sys.argv[3])
while deadline < end:
    now = time.perf_counter()
    if now < deadline:
        time.sleep(deadline - now)
    mujoco.mj_step(world.model, world.data)
    stamps.append(time.time_ns())
    deadline += dt
print(time.process_time(), *stamps)
"""

SUBSCRIBER = """
import rclpy, sys
from rclpy.qos import QoSProfile
from nav_msgs.msg import Odometry
from sensor_msgs.msg import Imu, JointState, LaserScan
from tf2_msgs.msg import TFMessage
rclpy.init()
node = rclpy.create_node('bench_listener')
for kind, topic in ((Odometry, 'odom'), (Imu, 'imu/data'), (JointState, 'joint_states'),
                    (LaserScan, 'scan'), (TFMessage, 'tf')):
    node.create_subscription(kind, topic, lambda message: None, QoSProfile(depth=50), raw=True)
rclpy.spin(node)
"""


def free_port() -> int:
    with zmq.Context() as context, context.socket(zmq.REP) as socket:
        return socket.bind_to_random_port('tcp://127.0.0.1')


def jitter(ticks: np.ndarray, step: float) -> np.ndarray:
    """Return how far (us) each tick lies behind the earliest possible schedule line."""
    late = (ticks[:, 1] - ticks[0, 1]) / 1e3 - (ticks[:, 0] - ticks[0, 0]) * step * 1e6
    return late - np.percentile(late, 1)


def row(name: str, ticks: np.ndarray, step: float, cpu: float, seconds: float) -> dict:
    """Print the figures of one run; `ticks` has the number and the wall time (ns) of each."""
    late = jitter(ticks, step)
    steps, took = ticks[-1] - ticks[0]
    factor = steps * step / (took / 1e9)
    missed = f'   {steps + 1 - len(ticks)} ticks missed' if len(ticks) <= steps else ''
    print(
        f'{name:22s} {1 / step:6.0f} Hz   {factor:6.4f}  {np.percentile(late, 50):7.0f} '
        f'{np.percentile(late, 99):7.0f}   {100 * cpu / seconds:5.1f} %{missed}',
        flush=True,
    )
    return {'factor': factor, 'p99': np.percentile(late, 99), 'cpu': cpu}


def measure_floor(world: str, step: float, seconds: float) -> dict:
    out = subprocess.run(
        [sys.executable, '-c', FLOOR, world, str(step), str(seconds)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    ticks = np.array(list(enumerate(out[1:])), dtype=np.int64)
    return row('floor: mj_step only', ticks, step, float(out[0]), seconds)


def start_bridge(rpc: int, state: int) -> list[subprocess.Popen]:
    environment = {**os.environ, 'ROS_DOMAIN_ID': str(30 + os.getpid() % 60)}
    command = ['-m', 'urlab_ros_bridge.cli.main', 'bridge', '--rpc-port', str(rpc)]
    parameters = [word for name in FULL_RATE for word in ('-p', f'{name}:=0.0')]
    quiet = {'stdout': subprocess.DEVNULL, 'stderr': subprocess.DEVNULL}
    return [
        subprocess.Popen(
            [sys.executable, *command, '--state-port', str(state), '--ros-args', *parameters],
            env=environment,
            **quiet,
        ),
        subprocess.Popen([sys.executable, '-c', SUBSCRIBER], env=environment, **quiet),
    ]


def measure_server(world: str, step: float, seconds: float, bridged: bool) -> dict:
    rpc, state = free_port(), free_port()
    command = [sys.executable, '-m', 'urlab_ros_bridge.cli.main', 'server', '--world', world]
    command += ['--rpc-port', str(rpc), '--state-port', str(state), '--step-mode', 'live']
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    helpers: list[subprocess.Popen] = []
    try:
        client = Client('127.0.0.1', rpc, shared=True, timeout=30.0)
        client.connect()
        client.set_sim_options(timestep=step)
        if bridged:
            helpers = start_bridge(rpc, state)
            time.sleep(6.0)
        stream = StateStream('127.0.0.1', state, topics=['sim_time'], backlog=None)
        while stream.receive(1.0) is None:
            pass
        process = psutil.Process(server.pid)
        before = sum(process.cpu_times()[:2])
        ticks = []
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            tick = stream.receive(0.5)
            if tick is not None:
                ticks.append((tick.step, tick.wall_ns))
        cpu = sum(process.cpu_times()[:2]) - before
        stream.close()
        client.close()
        name = 'server, bridged' if bridged else 'server'
        return row(name, np.array(ticks, dtype=np.int64), step, cpu, seconds)
    finally:
        for child in [*helpers, server]:
            child.terminate()
        for child in [*helpers, server]:
            child.wait(10)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--world', default='rover')
    parser.add_argument('--seconds', type=float, default=8.0)
    parser.add_argument(
        '--bridged',
        action=argparse.BooleanOptionalAction,
        default=importlib.util.find_spec('rclpy') is not None,
    )
    parser.add_argument('--rate', type=int, choices=(500, 1000), help='only this one, in Hz')
    busy_loops.add_option(parser)
    options, _ = parser.parse_known_args()
    busy_loops.start(options.busy)
    print(
        '                          rate   real-time  late p50  late p99   CPU of\n'
        '                                    factor      (us)      (us)  one core'
    )
    for rate in (500, 1000) if options.rate is None else (options.rate,):
        step = 1 / rate
        bare = measure_floor(options.world, step, options.seconds)
        mine = measure_server(options.world, step, options.seconds, bridged=False)
        lines = [('server', mine)]
        if options.bridged:
            lines.append(
                ('bridged', measure_server(options.world, step, options.seconds, bridged=True))
            )
        for name, figures in lines:
            ratios = {key: figures[key] / bare[key] for key in bare}
            note(f'real-time factor, {name}, {1 / step:.0f} Hz', ratios['factor'])
            note(f'CPU, {name}, {1 / step:.0f} Hz', ratios['cpu'])
            print(
                f'  {name} / floor: real-time factor {ratios["factor"]:.4f}, '
                f'late p99 {ratios["p99"]:.1f}, CPU {ratios["cpu"]:.1f}'
            )
    return 0


if __name__ == '__main__':
    sys.exit(main())
