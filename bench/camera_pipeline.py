#!/usr/bin/env python3
# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Cameras: frames per second from renderer to subscriber, and what they do to the physics.

Part one compares the whole way (live server, renderer process, ZeroMQ or shared memory, a client
that takes every frame) with a loop that only renders the same camera of the same world into
memory; they take turns.  Processor time is shown too, because the renderer goes behind everything
else on a machine: whatever runs besides takes frames from it.  Part two measures the jitter of
physics ticks: without cameras, with two of them streaming at 30 Hz, and with a thread of the
server's own process rendering the same two instead.

With --busy 2 on two processors, all of it runs beside programs that compute.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from collections.abc import Iterator
from contextlib import contextmanager
import os
from pathlib import Path
import subprocess
import sys
import tempfile
import time

import busy_loops
from camera_programs import DRAIN
from camera_programs import IN_A_THREAD
from camera_programs import RENDER_ONLY
import numpy as np
import psutil
from ratios import note
import yaml

from urlab_ros_bridge.client.cameras.stream import FrameSource
from urlab_ros_bridge.client.cameras.stream import open_camera
from urlab_ros_bridge.client.client import Client
from urlab_ros_bridge.client.replies.handshake import CameraInfo
from urlab_ros_bridge.client.state.stream import StateStream
from urlab_ros_bridge.kept_memory import allocator_variables
from urlab_ros_bridge.models import world_path
from urlab_ros_bridge.sim.cameras.renderer import environment

ENVIRONMENT = {
    **os.environ,
    **environment.platform_variables('egl'),
    **environment.thread_variables(),
    **allocator_variables(),
}


@contextmanager
def running(*command: str, env: dict[str, str] | None = None) -> Iterator[Client]:
    """Run a server program until the end of the block; gives a client of it."""
    process = subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, env=env)
    try:
        line = process.stdout.readline().decode()
        ports = {
            name: int(place.rpartition(':')[2])
            for name, _, place in (word.partition('=') for word in line.split() if '=' in word)
        }
        with Client(rpc_port=ports['rpc'], state_port=ports['state'], shared=True) as client:
            client.set_mode('live')
            yield client
    finally:
        process.terminate()
        process.wait()


def server(*options: str) -> tuple[str, ...]:
    ports = (f'--{name}-port=0' for name in ('rpc', 'state', 'camera', 'control', 'info'))
    return ('-m', 'urlab_ros_bridge.cli.main', 'server', *ports, '--log-level', 'error', *options)


def count_frames(source: FrameSource, seconds: float) -> np.ndarray:
    """Return frames per second that a subscriber receives, and ms of the renderer's for each."""
    source.receive(20.0)
    children = psutil.Process().children(recursive=True)
    (renderer,) = (child for child in children if WORKER in child.cmdline())
    warm = time.perf_counter() + 1.0
    while time.perf_counter() < warm:
        source.receive(0.1)
    frames, used, start = source.stats.frames, sum(renderer.cpu_times()[:2]), time.perf_counter()
    while time.perf_counter() - start < seconds:
        source.receive(0.1)
    frames, took = source.stats.frames - frames, time.perf_counter() - start
    return np.array((frames / took, 1000 * (sum(renderer.cpu_times()[:2]) - used) / frames))


def streamed(client: Client, camera: str, transport: str, seconds: float) -> np.ndarray:
    """Return what `count_frames` does, over a transport."""
    found = client.handshake.articulations['rover'].cameras[camera]
    directory = client.handshake.shm_session_dir
    source = open_camera(found, newest_only=False, shm_dir=directory, transport=transport)
    try:
        return count_frames(source, seconds)
    finally:
        source.close()


def throughput(folder: Path, cameras: list[str], seconds: float, rounds: int) -> None:
    path = eager_world(folder)
    print('frames/s and, besides, ms of processor time a frame that drawing and sending take')
    print('camera         render-only        ZMQ          ratios      SHM          ratios')
    for camera in cameras:
        found = []
        for _ in range(rounds):
            command = [sys.executable, '-c', RENDER_ONLY, str(path), camera, str(seconds)]
            output = subprocess.run(command, env=ENVIRONMENT, capture_output=True, check=True)
            *alone, renderer = output.stdout.decode().strip().split('|')
            with running(*server('--model', str(path))) as client:
                ways = [streamed(client, camera, way, seconds) for way in ('zmq', 'shm')]
            found.append((np.array(alone, float), *ways))
        text = f'{camera:14s}'
        alone, *ways = np.median(found, 0)
        text += f'{alone[0]:6.1f} {alone[1]:6.2f}'
        for number, way in enumerate(ways, 1):
            ratios = np.median([turn[number] / turn[0] for turn in found], 0)
            way_name = ('ZMQ', 'SHM')[number - 1]
            rates = [turn[number][0] / turn[0][0] for turn in found]
            note(f'{camera} over {way_name}', rates, 'render-only')
            text += f'{way[0]:9.1f} {way[1]:6.2f}   {ratios[0]:4.2f} {1 / ratios[1]:4.2f}'
        print(f'{text}   ({renderer})')


def eager_world(folder: Path) -> Path:
    """Write the rover's sidecar again with cameras that want a thousand frames a second."""
    source = world_path('rover').with_suffix('.yaml')
    content = yaml.safe_load(source.read_text())
    content['scene'] = str(source.parent / content['scene'])
    for robot in content['articulations']:
        robot['model'] = str(source.parent / robot['model'])
        for camera in robot['cameras'].values():
            camera['rate'] = 1000
    path = folder / 'rover.yaml'
    path.write_text(yaml.safe_dump(content))
    return path


def ticks(client: Client, seconds: float) -> np.ndarray:
    """Return how far (us) each tick lies behind the earliest possible schedule line."""
    stamps = []
    with StateStream(state_port=client.state_port, topics=(), backlog=None) as stream:
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            tick = stream.receive(0.1)
            if tick is not None:
                stamps.append((tick.step, tick.wall_ns))
    steps, wall = np.array(stamps, dtype=np.int64).T
    late = wall / 1e3 - steps * client.handshake.timestep * 1e6
    return late - np.percentile(late, 1)


def jitter(seconds: float, rounds: int) -> None:
    """Take turns, because the machine's own noise changes from minute to minute."""
    print('\nphysics at 500 Hz         p50 us  p99 us  max us   frames/s   (medians of segments)')
    found: dict[str, list[np.ndarray]] = {QUIET: [], PROCESS: [], THREAD: []}
    frames: dict[str, list[float]] = {QUIET: [0.0], PROCESS: [], THREAD: [60.0]}
    with running(*server()) as client, running('-c', IN_A_THREAD, env=ENVIRONMENT) as threaded:
        cameras = client.handshake.articulations['rover'].cameras
        places = [place(cameras[name]) for name in CAMERAS]
        threaded.set_paused(True)
        with drained(places):
            time.sleep(3.0)  # the renderer starts
        for _ in range(rounds * 3):
            time.sleep(0.5)
            found[QUIET].append(ticks(client, seconds / 3))
            with drained(places) as count:
                time.sleep(1.0)
                before, start = count(), time.perf_counter()
                found[PROCESS].append(ticks(client, seconds / 3))
                frames[PROCESS].append((count() - before) / (time.perf_counter() - start))
            client.set_paused(True)
            threaded.set_paused(False)  # its thread renders while time runs
            time.sleep(1.0)
            found[THREAD].append(ticks(threaded, seconds / 3))
            threaded.set_paused(True)
            client.set_paused(False)
    for name, segments in found.items():
        p50, p99, worst = np.median([np.percentile(late, [50, 99, 100]) for late in segments], 0)
        print(f'{name:24s} {p50:7.0f} {p99:7.0f} {worst:7.0f}   {np.median(frames[name]):8.1f}')
    middle = {
        name: np.median([np.percentile(late, 99) for late in segments])
        for name, segments in found.items()
    }
    for name in (PROCESS, THREAD):
        note(f'p99 of ticks with {name}', middle[name] / middle[QUIET], QUIET)
        print(f'p99 with {name} / without: {middle[name] / middle[QUIET]:.2f}')


def place(camera: CameraInfo) -> str:
    return f'tcp://127.0.0.1:{camera.port}|{camera.topic}'


@contextmanager
def drained(places: list[str]) -> Iterator[Callable[[], int]]:
    """Subscribe to cameras in its own process; gives a function that counts frames."""
    command = [sys.executable, '-c', DRAIN, *places]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:

        def count() -> int:
            process.stdin.write('\n')
            process.stdin.flush()
            return int(process.stdout.readline())

        yield count
        process.terminate()


CAMERAS = ('front_rgb', 'front_depth')
WORKER = 'urlab_ros_bridge.sim.cameras.renderer.worker'
QUIET, PROCESS, THREAD = 'no camera', 'cameras, own process', 'cameras, a thread'


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('--seconds', type=float, default=6.0, help='of each measurement')
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--part', choices=('throughput', 'jitter', 'both'), default='both')
    parser.add_argument('--camera', choices=CAMERAS, help='only this one, in part one')
    busy_loops.add_option(parser)
    values = parser.parse_args()
    busy_loops.start(values.busy)
    with tempfile.TemporaryDirectory() as folder:
        if values.part != 'jitter':
            cameras = [values.camera] if values.camera else list(CAMERAS)
            throughput(Path(folder), cameras, values.seconds, values.rounds)
        if values.part != 'throughput':
            jitter(values.seconds, values.rounds)


if __name__ == '__main__':
    main()
