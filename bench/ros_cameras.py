#!/usr/bin/env python3
# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Cameras and fast state through ROS: drops, latency from render to callback, CPU by process.

A VGA colour and a depth camera at 30 Hz and five topics at 500 Hz, all of them taken reliably by
two subscriber processes.  The floor, in the same run, is a bare rclpy process that publishes
prebuilt messages of the same sizes at the same rates to two subscribers of the same kind.  Turns
alternate; figures are medians over the rounds, drops are the sum.

A picture's latency runs from its capture, before it is drawn, to the subscriber's callback; of the
floor from the beginning of the tick, before any message is put together.  State has no wall time
of its own: its latency is taken from the line of simulated against wall time of the pictures.
"""

from __future__ import annotations

import argparse
from contextlib import ExitStack
import dataclasses
import json
import os
from pathlib import Path
import sys
import tempfile
import time
from typing import Any

import numpy as np
import psutil
from ratios import note
from ros_cameras_programs import BRIDGE
from ros_cameras_programs import FLOOR
from ros_cameras_programs import LISTENER
from ros_cameras_programs import TOPICS
from ros_children import child
from ros_children import cpu_seconds
from ros_children import free_port
from ros_children import FULL_RATE

CAMERAS = ('front_rgb', 'front_depth')
SETTLE = 8.0  # s until everything is discovered and the renderer runs
SUBSCRIBERS = 2
FLOOR_NAME = 'floor'


def transports() -> list[str]:
    """Return the ways between server and bridge that this bridge can be told to take."""
    from urlab_ros_bridge.ros.program.features import Settings

    names = {field.name for field in dataclasses.fields(Settings)}
    return ['zmq', 'shm'] if 'camera_transport' in names else ['zmq']


def measure(way: str, folder: Path, seconds: float) -> dict[str, Any]:
    """Run one turn; returns the figures of `figures` and CPU shares by process."""
    environment = {
        **os.environ,
        'PYTHONPATH': f'{folder}{os.pathsep}{os.environ.get("PYTHONPATH", "")}',
    }
    files = [folder / f'{name}.json' for name in ('source', *range(SUBSCRIBERS))]
    with ExitStack() as stack:
        pids = {}
        if way == FLOOR_NAME:
            source = child('-c', FLOOR, str(files[0]), env=environment)
            pids['publisher'] = stack.enter_context(source).pid
        else:
            pids |= start_bridge(stack, way, files[0], environment)
        for number, file in enumerate(files[1:]):
            listener = child('-c', LISTENER, str(file), str(number), env=environment)
            pids[f'subscriber {number + 1}'] = stack.enter_context(listener).pid
        time.sleep(SETTLE)
        if 'server' in pids:
            renderers = psutil.Process(pids['server']).children()
            pids['renderer'] = renderers[0].pid
        begin, before = time.time_ns(), {name: cpu_seconds(pid) for name, pid in pids.items()}
        time.sleep(seconds)
        end, span = time.time_ns(), (time.time_ns() - begin) / 1e9
        shares = {name: (cpu_seconds(pid) - before[name]) / span for name, pid in pids.items()}
        time.sleep(1.0)  # what was on its way arrives
    source, *heard = (json.loads(file.read_text()) for file in files)
    return {**figures(source, heard, begin, end), 'cpu': shares}


def start_bridge(
    stack: ExitStack, way: str, file: Path, environment: dict[str, str]
) -> dict[str, int]:
    """Start server and bridge; returns their process ids."""
    ports = {'rpc': free_port(), 'state': free_port()}
    words = [f'--{name}-port={port}' for name, port in ports.items()]
    words += ['--camera-port=0', '--control-port=0', '--info-port=0', '--step-mode=live']
    module = ('-m', 'urlab_ros_bridge.cli.main', 'server')
    server = stack.enter_context(child(*module, *words, '--log-level', 'error'))
    given = {f'{name}_port': port for name, port in ports.items()} | FULL_RATE
    if len(transports()) > 1:
        given['camera_transport'] = way
    parameters = [word for name, value in given.items() for word in ('-p', f'{name}:={value}')]
    quiet = ['--log-level', 'error']
    bridge = child('-c', BRIDGE, str(file), *parameters, *quiet, env=environment)
    return {'server': server.pid, 'bridge': stack.enter_context(bridge).pid}


def figures(source: list, heard: list[dict[str, list]], begin: int, end: int) -> dict[str, Any]:
    """
    Work out what came of what was made between two wall times (ns).

    :param source: (camera, stamp, wall time, running number, when the publisher had it) of every
        picture, times in ns; the running numbers count what was drawn.
    :param heard: for each subscriber: topic -> [(stamp, wall time of the callback)].
    :return: `drawn`, `lost` (drawn, and not with the publisher), `dropped` (by subscriptions),
        `rate` and `state_rate` of the slowest subscription in Hz, latencies in ms.
    """
    found: dict[str, Any] = {'drawn': 0, 'lost': 0, 'dropped': 0}
    latencies: list[float] = []
    drawing: list[float] = []
    span, rates = (end - begin) / 1e9, []
    offset = np.median([wall - stamp for _, stamp, wall, *_ in source])
    for camera in CAMERAS:
        made = {item[1]: item[2:] for item in source if item[0] == camera}
        made = {stamp: item for stamp, item in made.items() if begin <= item[0] < end}
        numbers = [number for _, number, _ in made.values() if number is not None]
        drawn = max(numbers) - min(numbers) + 1 if numbers else len(made)
        found['drawn'] += drawn
        found['lost'] += drawn - len(made)
        for topics in heard:
            taken = dict(map(tuple, topics[f'{camera}/image_raw']))
            arrived = [taken[stamp] - item[0] for stamp, item in made.items() if stamp in taken]
            found['dropped'] += len(made) - len(arrived)
            rates.append(len(arrived) / span)
            latencies += arrived
        drawing += [now - wall for wall, _, now in made.values()]
    state, state_rates = state_latencies(heard, offset, begin, end)
    found['rate'] = min(rates)
    found['state_rate'] = min(state_rates)
    for name, values in (('picture', latencies), ('drawing', drawing), ('state', state)):
        found[f'{name} p50'], found[f'{name} p99'] = np.percentile(values, [50, 99]) / 1e6
    return found


def state_latencies(
    heard: list[dict[str, list]], offset: float, begin: int, end: int
) -> tuple[list[float], list[float]]:
    """Return latencies (ns) of all state messages, and the rate of each subscription (Hz)."""
    latencies, rates = [], []
    for topics in heard:
        for topic in topics.keys() - {f'{camera}/image_raw' for camera in CAMERAS}:
            late = [
                now - stamp - offset
                for stamp, now in topics[topic]
                if begin <= stamp + offset < end
            ]
            latencies += late
            rates.append(len(late) / (end - begin) * 1e9)
    return latencies, rates


def report(name: str, rounds: list[dict[str, Any]]) -> dict[str, float]:
    """Print the figures of one way; returns the medians that are compared."""
    total = {key: sum(item[key] for item in rounds) for key in ('drawn', 'lost', 'dropped')}
    kinds = ('picture', 'drawing', 'state')
    keys = ['rate', 'state_rate', *(f'{kind} {part}' for kind in kinds for part in ('p50', 'p99'))]
    middle = {key: float(np.median([item[key] for item in rounds])) for key in keys}
    cpu = {
        process: float(np.median([item['cpu'][process] for item in rounds]))
        for process in rounds[0]['cpu']
    }
    print(
        f'{name}: {total["drawn"]} pictures, {total["lost"]} lost before the publisher, '
        f'{total["dropped"]} dropped on the way to {SUBSCRIBERS} subscribers; '
        f'{middle["rate"]:.2f} Hz, state {middle["state_rate"]:.0f} Hz'
    )
    print(
        f'  pictures p50 {middle["picture p50"]:.1f} ms, p99 {middle["picture p99"]:.1f} ms '
        f'({middle["drawing p50"]:.1f} and {middle["drawing p99"]:.1f} until the publisher); '
        f'state p50 {middle["state p50"]:.2f} ms, p99 {middle["state p99"]:.2f} ms'
    )
    shares = ', '.join(f'{process} {100 * share:.1f} %' for process, share in cpu.items())
    print(f'  CPU of one core: {shares}; together {100 * sum(cpu.values()):.1f} %')
    return {**middle, 'CPU': sum(cpu.values()), 'publisher CPU': cpu.get('bridge', 0.0)}


def main() -> int:
    """Measure all ways in turns and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--seconds', type=float, default=10.0, help='of each turn')
    parser.add_argument('--rounds', type=int, default=2)
    parser.add_argument('--transport', choices=('zmq', 'shm'), help='only this one')
    options, _ = parser.parse_known_args()
    possible = transports()
    if options.transport and options.transport not in possible:
        print(f'this bridge has no camera_transport; skipped {options.transport}')
        return 0
    ways = [FLOOR_NAME, *([options.transport] if options.transport else possible)]
    os.environ.setdefault('ROS_DOMAIN_ID', str(30 + os.getpid() % 60))
    rounds: dict[str, list[dict[str, Any]]] = {way: [] for way in ways}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / 'bench_topics.py').write_text(TOPICS)
        for number in range(options.rounds):
            for way in ways[:: -1 if number % 2 else 1]:
                rounds[way].append(measure(way, folder, options.seconds))
    found = {way: report(way, rounds[way]) for way in ways}
    floor = found[FLOOR_NAME]
    floor['publisher CPU'] = float(
        np.median([item['cpu']['publisher'] for item in rounds[FLOOR_NAME]])
    )
    for way in ways[1:]:
        keys = ('picture p50', 'picture p99', 'state p50', 'state p99', 'CPU', 'publisher CPU')
        ratios = ', '.join(f'{key} {found[way][key] / floor[key]:.2f}' for key in keys)
        for key in keys:
            note(f'{key}, {way}', found[way][key] / floor[key])
        print(f'{way} / floor: {ratios}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
