#!/usr/bin/env python3
# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Receiving states and images: over ZeroMQ and through shared memory.

A server runs the rover at 500 Hz.  A reader in a process of its own receives snapshots and a VGA
camera at 30 Hz over both transports in turns, and rows, which only ZeroMQ has.  Printed are the
processor time of the reader for each tick or image, how often one of its threads went to sleep,
and the latency.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys

from camera_pipeline import running
from camera_pipeline import server
import numpy as np
from ratios import note

READER = """
import json, resource, sys, time
from urlab_ros_bridge.client import Client, open_camera, open_state, StateStream
way, what, rpc, state, seconds = *sys.argv[1:3], *map(int, sys.argv[3:5]), float(sys.argv[5])
client = Client(rpc_port=rpc, state_port=state, shared=True)
shm_dir = client.connect().shm_session_dir
if what == 'rows':
    stream = StateStream(state_port=state, topics=['rover/'], backlog=20)
elif what == 'states':
    stream = open_state(shm_dir, state_port=state, transport=way)
else:
    camera = client.handshake.articulations['rover'].cameras['front_rgb']
    stream = open_camera(camera, newest_only=False, shm_dir=shm_dir, transport=way)
client.close()
warm = time.monotonic() + 2.0
while time.monotonic() < warm:
    stream.receive(0.1)
late, used, before = [], time.process_time(), resource.getrusage(resource.RUSAGE_SELF)
end = time.monotonic() + seconds
while time.monotonic() < end:
    taken = stream.receive(0.1)
    if taken is not None:
        sent = taken.wall_time if what == 'images' else taken.wall_ns / 1e9
        late.append(time.time() - sent)
used = time.process_time() - used
slept = resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw - before.ru_nvcsw
late.sort()
print(json.dumps([1e6 * used / len(late), slept / len(late), 1e6 * late[len(late) // 2]]))
"""


def read(way: str, what: str, ports: tuple[int, int], seconds: float) -> list[float]:
    """Return us of processor time, sleeps, and us of latency (median) of each tick or image."""
    command = [sys.executable, '-c', READER, way, what, *map(str, ports), str(seconds)]
    done = subprocess.run(command, capture_output=True, check=True)
    found: list[float] = json.loads(done.stdout)
    return found


def compare(what: str, ways: tuple[str, ...], ports: tuple[int, int], values) -> None:
    """Let the transports take turns, and print the medians."""
    found: dict[str, list[list[float]]] = {way: [] for way in ways}
    for number in range(values.rounds):
        for way in ways[:: -1 if number % 2 else 1]:
            found[way].append(read(way, what, ports, values.seconds))
    for way in ways:
        used, slept, late = np.median(found[way], 0)
        print(f'{what:7s} {way:4s} {used:8.0f} us {slept:8.2f} {late:8.0f} us', flush=True)
    if len(ways) > 1:
        pairs = zip(found['shm'], found['zmq'], strict=True)
        ratios = [shm[0] / zmq[0] for shm, zmq in pairs]
        note(f'{what}, processor time', ratios, 'ZeroMQ')
        low, middle, high = np.percentile(ratios, (25, 50, 75))
        print(f'{what}: processor time, shm to zmq {middle:.2f} ({low:.2f} to {high:.2f})')


def main() -> None:
    """Measure rows, snapshots, images."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--seconds', type=float, default=3.0, help='of each turn')
    parser.add_argument('--rounds', type=int, default=5)
    values = parser.parse_args()
    print('what    way    CPU each    sleeps   latency')
    with running(*server('--world', 'rover')) as client:
        ports = client.rpc_port, client.state_port
        compare('rows', ('zmq',), ports, values)
        compare('states', ('zmq', 'shm'), ports, values)
        compare('images', ('zmq', 'shm'), ports, values)


if __name__ == '__main__':
    main()
