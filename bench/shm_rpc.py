#!/usr/bin/env python3
# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Round trips through shared memory against round trips over ZeroMQ.

A server program is asked by this process with the same request bytes, in short turns through both:
the client's pair of regions, and a bare REQ socket (which does less than the client over ZMQ).  A
ratio is p50 through shared memory over p50 over ZMQ of the same run.  Of a step, the physics is a
part that no transport can save: it is measured in this process on the same model and shown, and so
is what is left to transport and server without it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
import subprocess
import sys
import time
from typing import NamedTuple

import numpy as np
from ratios import note
import zmq

from urlab_ros_bridge.transport.shm.client import ShmRequester
from urlab_ros_bridge.wire.encoding import codec
from urlab_ros_bridge.wire.encoding.limits import MAX_REPLY_BYTES

ROBOT, JOINTS = 'quadruped', 12
TURN = 200  # requests
WARM_UP = 30  # of them, at the beginning of each turn, are not counted


class Ways(NamedTuple):
    """Two ways to one server: bytes of a request to bytes of its reply."""

    zmq: Callable[[bytes], bytes]
    shm: Callable[[bytes], bytes]
    session_id: str


@contextmanager
def running(world: str) -> Iterator[dict[str, str]]:
    """Run the server program until the end of the block; gives its places."""
    ports = (f'--{name}-port=0' for name in ('rpc', 'state', 'camera', 'control', 'info'))
    words = ('--world', world, '--cameras', 'off', '--log-level', 'error', *ports)
    command = [sys.executable, '-m', 'urlab_ros_bridge.cli.main', 'server', *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            line = process.stdout.readline()
            yield dict(word.split('=', 1) for word in line.split() if '=' in word)
        finally:
            process.terminate()


@contextmanager
def connected(places: dict[str, str]) -> Iterator[Ways]:
    """Say hello, and open both ways."""
    context = zmq.Context()
    socket = context.socket(zmq.REQ)
    socket.connect(places['rpc'])

    def over_zmq(request: bytes) -> bytes:
        socket.send(request)
        return socket.recv()

    hello = {'op': 'hello', 'shared': True, 'shm_channel': True}
    reply = checked(over_zmq(codec.pack(hello)))
    rpc = ShmRequester(Path(reply['shm_session_dir']), reply['shm_channel'])
    try:
        yield Ways(
            over_zmq, lambda request: rpc.exchange('bench', request, 5.0), reply['session_id']
        )
    finally:
        rpc.close()
        context.destroy(linger=0)


def checked(reply: bytes) -> dict:
    """Decode a reply that has to be a good one."""
    message = codec.unpack(reply, MAX_REPLY_BYTES)
    if message['op'] == 'error':
        raise SystemExit(f'the server refused: {message}')
    return message


def turn(way: Callable[[bytes], bytes], request: bytes) -> np.ndarray:
    """Return the microseconds of each request of a turn."""
    marks = np.empty(TURN + 1)
    clock = time.perf_counter
    marks[0] = clock()
    for index in range(TURN):
        way(request)
        marks[index + 1] = clock()
    return np.diff(marks)[WARM_UP:] * 1e6


def measure(ways: Ways, message: dict, rounds: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the times over ZMQ and through shared memory, us."""
    request = codec.pack({**message, 'session_id': ways.session_id})
    for way in (ways.zmq, ways.shm):
        checked(way(request))
    times: tuple[list, list] = ([], [])
    for _ in range(rounds):
        for way, found in zip((ways.zmq, ways.shm), times, strict=True):
            time.sleep(0.01)  # what looks out for the other way has gone to sleep
            found.append(turn(way, request))
    return np.concatenate(times[0]), np.concatenate(times[1])


def physics(ctrl: list[float], seconds: float) -> float:
    """Return the median microseconds of one mj_step of the same world under the same control."""
    import mujoco

    from urlab_ros_bridge.sim.config import ServerConfig
    from urlab_ros_bridge.sim.model.world import load_world

    loaded = load_world(ServerConfig(world=ROBOT))
    model, data = loaded.model, loaded.data
    data.ctrl[:] = ctrl
    marks, end = [], time.perf_counter() + seconds
    while not marks or marks[-1] < end:
        mujoco.mj_step(model, data)
        marks.append(time.perf_counter())
    return float(np.median(np.diff(marks)) * 1e6)


def table(world: str, mode: str, requests: dict[str, dict], rounds: int) -> list[np.ndarray]:
    """Print a row for each op; return the p50 of each over ZMQ and through shared memory, us."""
    found = []
    with running(world) as places, connected(places) as ways:
        change = {'op': 'set_mode', 'mode': mode, 'session_id': ways.session_id}
        checked(ways.zmq(codec.pack(change)))
        for op, fields in requests.items():
            times = measure(ways, {'op': op, **fields}, rounds)
            (slow, slow99), (fast, fast99) = (np.percentile(part, (50, 99)) for part in times)
            row = f'{slow:7.1f} {slow99:6.0f}   {fast:7.1f} {fast99:6.0f}   {fast / slow:14.2f}'
            note(f'{op}, {mode}', fast / slow, 'ZMQ')
            print(f'{mode:7s} {op:17s} {row}')
            found.append(np.array((slow, fast)))
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--rounds', type=int, default=60, help=f'turns of {TURN} requests each')
    rounds = parser.parse_args().rounds
    small = {'status': {}, 'read_mocap_pose': {'body': 'target'}}
    ctrl = [0.1] * JOINTS
    commands = {ROBOT: {'ctrl': ctrl, 'control_mode': 'raw'}}
    floor = physics(ctrl, 1.0)
    print('mode    op                ZMQ p50    p99   SHM p50    p99 us   SHM / ZMQ of p50')
    for mode in ('live', 'direct'):
        table('rover', mode, small, rounds)
    (step,) = table(
        ROBOT, 'direct', {'step': {'n_steps': 1, 'per_articulation': commands}}, rounds
    )
    slow, fast = step - floor
    note('step without its physics', fast / slow, 'ZMQ')
    print(
        f'of a step, mj_step alone takes {floor:.1f} us; without it {slow:.1f} and {fast:.1f} us, '
        f'ratio {fast / slow:.2f}'
    )


if __name__ == '__main__':
    main()
