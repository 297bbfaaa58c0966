#!/usr/bin/env python3
# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
What a command costs, for each way to send setpoints in live mode.

For 12 joints of the quadruped at 500 Hz physics: time of the call, CPU of client and server for
each command beyond an idle server, and the time from the command to the effort in the stream.
"""

import argparse
from collections.abc import Callable
import re
import struct
import subprocess
import sys
import time

import numpy as np
import psutil
import zmq

from urlab_ros_bridge.client.client import Client
from urlab_ros_bridge.client.state.stream import StateStream

SERVER = ('-u', '-m', 'urlab_ros_bridge.cli.main', 'server', '--world', 'quadruped')
PORTS = ('--rpc-port', '--state-port', '--camera-port', '--control-port', '--info-port')


def cpu(process: psutil.Process) -> float:
    """Return the CPU seconds that a process has used."""
    return sum(process.cpu_times()[:2])


def cost(call: Callable[[], object], rate: int, seconds: float, server: psutil.Process) -> str:
    """Call at a rate, and describe what it cost; `idle` of the server is taken first."""
    begun = cpu(server)
    time.sleep(seconds)
    idle = (cpu(server) - begun) / seconds
    own, count, times = psutil.Process(), round(rate * seconds), []
    mine, begun, start = cpu(own), cpu(server), time.perf_counter()
    for index in range(count):
        before = time.perf_counter()
        call()
        times.append(time.perf_counter() - before)
        time.sleep(max(0.0, start + (index + 1) / rate - time.perf_counter()))
    wall = time.perf_counter() - start
    spent = (cpu(server) - begun) / wall - idle
    p50, p99 = np.percentile(times, (50, 99)) * 1e6
    return (
        f'call p50 {p50:.0f} us, p99 {p99:.0f} us; CPU for each: client '
        f'{(cpu(own) - mine) / count * 1e6:.0f} us, server {spent / rate * 1e6:.0f} us'
    )


def delay(call: Callable[[], object], joints: list[float], stream: StateStream) -> str:
    """Move a joint back and forth; return the time until its effort shows it."""

    def effort() -> float:
        while True:
            tick = stream.receive(1.0)
            if tick is not None and tick.rows:
                return float(np.frombuffer(tick.rows[0][1], '<f4')[0])

    found = []
    for index in range(60):
        joints[0] = 0.1 if index % 2 else -0.1
        end = time.perf_counter() + 0.15
        while time.perf_counter() < end:
            before = effort()
        start = time.perf_counter()
        call()
        while abs(effort() - before) < 5.0 and time.perf_counter() - start < 0.2:
            pass
        found.append(time.perf_counter() - start)
    p50, p90 = np.percentile(found, (50, 90)) * 1e3
    return f'effort after p50 {p50:.2f} ms, p90 {p90:.2f} ms'


def main() -> None:
    """Measure each way."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('--rate', type=int, default=200, help='commands a second')
    parser.add_argument('--seconds', type=float, default=4.0, help='for each way')
    arguments = parser.parse_args()
    words = [word for port in PORTS for word in (port, '0')]
    program = subprocess.Popen(
        [sys.executable, *SERVER, *words], stdout=subprocess.PIPE, text=True
    )
    try:
        ports = dict(re.findall(r'(\w+)=\S+?:(\d+)', program.stdout.readline()))
        measure(ports, psutil.Process(program.pid), arguments)
    finally:
        program.terminate()
        program.wait()


def measure(ports: dict[str, str], server: psutil.Process, arguments: argparse.Namespace) -> None:
    """Print a line for each way."""
    with Client('127.0.0.1', int(ports['rpc']), shared=True) as client, zmq.Context() as context:
        client.set_mode('live')
        robot = client.handshake.articulations['quadruped']
        names = list(robot.actuator_types)
        joints = client.step().articulations['quadruped'].qpos[7:].tolist()
        socket = context.socket(zmq.PUB)
        socket.linger = 0
        socket.connect(f'tcp://127.0.0.1:{ports["control"]}')
        stream = StateStream('127.0.0.1', int(ports['state']), (b'quadruped/effort',))
        time.sleep(1.0)

        def through_the_stream() -> None:
            parts = [struct.pack('<if', index, value) for index, value in enumerate(joints)]
            payload = struct.pack('<i', len(parts)) + b''.join(parts)
            socket.send_multipart([b'quadruped/control ', payload])

        ways = {
            'step with ctrl': lambda: client.step(
                ctrl={'quadruped': joints}, observations='minimal'
            ),
            'set_setpoints': lambda: client.set_setpoints(
                'quadruped', dict(zip(names, joints, strict=True)), 1.0
            ),
            'control stream': through_the_stream,
        }
        for name, call in ways.items():
            spent = cost(call, arguments.rate, arguments.seconds, server)
            print(f'{name:15} {spent}; {delay(call, joints, stream)}', flush=True)
        stream.close()
        socket.close()


if __name__ == '__main__':
    main()
