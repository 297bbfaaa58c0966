#!/usr/bin/env python3
# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Receiving states and pictures: the client's own connections against sockets of libzmq.

A server streams the rover's rows at 500 Hz, and another process VGA pictures at 100 Hz.  A reader
in a process of its own takes them in both ways, in turns.  Printed are its processor time a tick
or picture, how often one of its threads went to sleep, and how late it had what was sent.
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
from urlab_ros_bridge.client.cameras.stream import CameraStream
from urlab_ros_bridge.client.replies.handshake import CameraInfo
from urlab_ros_bridge.client.state.stream import StateStream
from urlab_ros_bridge.client.transports.subscriptions import ZmtpSubscriber
way, what, port, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
if way == 'libzmq':
    ZmtpSubscriber.can_reach = staticmethod(lambda endpoint: False)
if what == 'rows':
    stream = StateStream(state_port=port, topics=['rover/'], backlog=20)
    sent = lambda tick: tick.wall_ns / 1e9
else:
    camera = CameraInfo('eye', 'real', (640, 480), 45.0, '', 'rover/camera_ucm1/eye')
    stream = CameraStream(f'tcp://127.0.0.1:{port}', camera, newest_only=False)
    sent = lambda frame: frame.wall_time
warm = time.monotonic() + 1.0
while time.monotonic() < warm:
    stream.receive(0.1)
late, used, before = [], time.process_time(), resource.getrusage(resource.RUSAGE_SELF)
end = time.monotonic() + seconds
while time.monotonic() < end:
    taken = stream.receive(0.1)
    if taken is not None:
        late.append(time.time() - sent(taken))
used = time.process_time() - used
slept = resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw - before.ru_nvcsw
late.sort()
print(json.dumps([1e6 * used / len(late), slept / len(late), 1e6 * late[len(late) // 2]]))
"""

PICTURES = """
import time, zmq
from urlab_ros_bridge.wire.camera_frame import pack_header
socket = zmq.Context.instance().socket(zmq.PUB)
print(socket.bind_to_random_port('tcp://127.0.0.1'), flush=True)
number, pixels = 0, bytes(640 * 480 * 4)
while True:
    number += 1
    header = pack_header(640, 480, number, number * 0.01, time.time())
    socket.send_multipart([b'rover/camera_ucm1/eye ', header + pixels], copy=False)
    time.sleep(0.01)
"""

WAYS = ('libzmq', 'own')


def read(way: str, what: str, port: int, seconds: float) -> list[float]:
    """Return us of processor time, sleeps, and us of latency (median) of each tick or picture."""
    command = [sys.executable, '-c', READER, way, what, str(port), str(seconds)]
    done = subprocess.run(command, capture_output=True, check=True)
    found: list[float] = json.loads(done.stdout)
    return found


def compare(what: str, port: int, seconds: float, rounds: int) -> None:
    """Let both ways take turns, and print the medians."""
    found: dict[str, list[list[float]]] = {way: [] for way in WAYS}
    for number in range(rounds):
        for way in WAYS[:: -1 if number % 2 else 1]:
            found[way].append(read(way, what, port, seconds))
    for way in WAYS:
        used, slept, late = np.median(found[way], 0)
        print(f'{what:9s} {way:7s} {used:8.0f} us {slept:8.2f} {late:8.0f} us', flush=True)
    pairs = zip(found['own'], found['libzmq'], strict=True)
    ratios = [own[0] / libzmq[0] for own, libzmq in pairs]
    note(f'{what}, processor time', ratios, 'libzmq')
    low, middle, high = np.percentile(ratios, (25, 50, 75))
    print(f'{what}: processor time to libzmq {middle:.2f} (quartiles {low:.2f} to {high:.2f})')


def main() -> None:
    """Measure rows, then pictures."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--seconds', type=float, default=3.0, help='of each turn')
    parser.add_argument('--rounds', type=int, default=5)
    values = parser.parse_args()
    print('what      way       CPU each    sleeps   latency')
    with running(*server('--world', 'rover')) as client:
        compare('rows', client.state_port, values.seconds, values.rounds)
    with subprocess.Popen([sys.executable, '-c', PICTURES], stdout=subprocess.PIPE) as sender:
        assert sender.stdout
        try:
            compare('pictures', int(sender.stdout.readline()), values.seconds, values.rounds)
        finally:
            sender.terminate()


if __name__ == '__main__':
    main()
