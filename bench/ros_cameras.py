#!/usr/bin/env python3
# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Cameras and fast state through ROS: drops, latency from render to callback, CPU by process.

A VGA colour and a depth camera at 30 Hz and five topics at 500 Hz, all of them taken reliably by
two subscriber processes.  The floor, in the same run, is a bare rclpy process that publishes
prebuilt messages of the same sizes at the same rates to two subscribers of the same kind.  Turns
alternate; figures are medians over the rounds, drops are the sum.  With --default-rates the bridge
publishes state at the rates that it has unless told otherwise; those of the floor stay.

A picture's latency runs from its capture, before it is drawn, to the subscriber's callback; of the
floor from the beginning of the tick, before any message is put together.  State has no wall time
of its own: its latency is taken from the line of simulated against wall time of the pictures.

It is compared with what drawing takes by itself: the same pictures at the same rate, from the
state to pixels in memory, in a process that does nothing else.  Both take turns of a second or two
while time in the simulation stands still or goes on, and each turn is compared with the ones
before and after it, because the speed of a machine changes.  And the way is cut into its stages,
in the order in which a picture passes them, before the turns and within them.

With --busy 2 on two processors, all of it, the floor and drawing alone too, runs beside programs
that compute.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from contextlib import ExitStack
import dataclasses
import json
import os
from pathlib import Path
import subprocess
import sys
import tempfile
import time
from typing import Any
from typing import NamedTuple

import busy_loops
import numpy as np
import psutil
from ratios import note
from ros_cameras_programs import BRIDGE
from ros_cameras_programs import DRAWING
from ros_cameras_programs import FLOOR
from ros_cameras_programs import LISTENER
from ros_cameras_programs import RENDERER
from ros_cameras_programs import SERVER
from ros_cameras_programs import TOPICS
from ros_children import child
from ros_children import cpu_seconds
from ros_children import free_port
from ros_children import FULL_RATE
from ros_children import take_own_domain

from urlab_ros_bridge.client import Client
from urlab_ros_bridge.kept_memory import allocator_variables
from urlab_ros_bridge.sim.cameras.renderer import environment

CAMERAS = ('front_rgb', 'front_depth')
SETTLE = 8.0  # s until everything is discovered and the renderer runs
RENDERER_SECONDS = 60.0
SUBSCRIBERS = 2
FLOOR_NAME = 'floor'
TURNS, TURN_SECONDS = 6, 1.5
TURN_SETTLE_NS = 300_000_000  # from the beginning of a turn, not counted
STAGES = ('until drawing begins', 'drawing', 'until it is converted', 'conversion and sending',
          'until the bridge has it', 'until it is published', 'until it is heard')  # fmt: skip


def transports() -> list[str]:
    """Return the ways between server and bridge that this bridge can be told to take."""
    from urlab_ros_bridge.ros.program.features import Settings

    names = {field.name for field in dataclasses.fields(Settings)}
    return ['zmq', 'shm'] if 'camera_transport' in names else ['zmq']


def measure(way: str, folder: Path, seconds: float, rates: Mapping[str, float]) -> dict[str, Any]:
    """
    Run one turn; returns the figures of `figures` and CPU shares by process.

    :param rates: parameters of the bridge.
    """
    environment = {
        **os.environ,
        'PYTHONPATH': f'{folder}{os.pathsep}{os.environ.get("PYTHONPATH", "")}',
        'BENCH_STAGES': str(folder / 'stages.json'),
    }
    files = [folder / f'{name}.json' for name in ('source', *range(SUBSCRIBERS))]
    stages = Path(environment['BENCH_STAGES'])
    stages.write_text('[]')
    with ExitStack() as stack:
        pids = {}
        if way == FLOOR_NAME:
            source = child('-c', FLOOR, str(files[0]), env=environment)
            pids['publisher'] = stack.enter_context(source).pid
        else:
            started, rpc_port = start_bridge(stack, way, rates, files[0], environment)
            pids |= started
        for number, file in enumerate(files[1:]):
            kept = environment | allocator_variables()  # as env.sh sets them
            listener = child('-c', LISTENER, str(file), str(number), env=kept)
            pids[f'subscriber {number + 1}'] = stack.enter_context(listener).pid
        time.sleep(SETTLE)
        if 'server' in pids:
            pids['renderer'] = find_renderer(pids['server'])
        begin, before = time.time_ns(), {name: cpu_seconds(pid) for name, pid in pids.items()}
        time.sleep(seconds)
        end, span = time.time_ns(), (time.time_ns() - begin) / 1e9
        shares = {name: (cpu_seconds(pid) - before[name]) / span for name, pid in pids.items()}
        turns = Turns() if way == FLOOR_NAME else take_turns(rpc_port, folder)
        time.sleep(1.0)  # what was on its way arrives
    source, *heard = (json.loads(file.read_text()) for file in files)
    drawn = json.loads(stages.read_text())
    found = figures(source, heard, begin, end)
    found['ratios'] = {} if way == FLOOR_NAME else turn_ratios(turns, source, heard)
    spans = {'': [(begin, end)]}
    if turns.streamed:
        spans[', in turns'] = [(first + TURN_SETTLE_NS, last) for first, last in turns.streamed]
    stages = {
        f'{camera}{when}': times
        for when, chosen in spans.items()
        for camera, times in stage_times(drawn, source, heard, chosen).items()
    }
    return {**found, 'cpu': shares, 'stages': stages}


class Turns(NamedTuple):
    """
    What was measured when; wall times in ns.

    :ivar streamed: begin and end of the turns of the simulation.
    :ivar alone: of the turns of drawing alone, one more.
    :ivar drawn: camera -> (begin of a picture, how long it took).
    """

    streamed: Sequence[tuple[int, int]] = ()
    alone: Sequence[tuple[int, int]] = ()
    drawn: Mapping[str, Sequence[tuple[int, int]]] = {}


def take_turns(rpc_port: int, folder: Path) -> Turns:
    """Let the running simulation and a process that only draws the same take turns."""
    variables = {
        **environment.platform_variables('egl'),
        **environment.thread_variables(),
        **allocator_variables(),
    }
    file, streamed, alone = folder / 'drawing.json', [], []
    program = child(
        '-c', DRAWING, str(file), *CAMERAS, env={**os.environ, **variables},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    with program as drawing, Client(rpc_port=rpc_port, shared=True) as client:

        def draw_alone(seconds: float) -> tuple[int, int]:
            client.set_paused(True)
            begin = time.time_ns()
            print(seconds, file=drawing.stdin, flush=True)
            drawing.stdout.readline()
            end = time.time_ns()
            client.set_paused(False)
            return begin, end

        draw_alone(0.5)  # it starts
        for _ in range(TURNS):
            alone.append(draw_alone(TURN_SECONDS))
            begin = time.time_ns()
            time.sleep(TURN_SECONDS)
            streamed.append((begin, time.time_ns()))
        alone.append(draw_alone(TURN_SECONDS))
        drawing.stdin.close()
        drawing.wait()
    return Turns(streamed, alone, json.loads(file.read_text()))


def turn_ratios(
    turns: Turns, source: list, heard: list[dict[str, list]]
) -> dict[str, list[tuple[float, float]]]:
    """Return for each camera (way, drawing alone) of each turn in ms: medians of its pictures."""

    def middle(pictures: Iterable[tuple[int, float]], turn: tuple[int, int]) -> float:
        begin, end = turn[0] + TURN_SETTLE_NS, turn[1]
        return float(np.median([took for at, took in pictures if begin <= at < end])) / 1e6

    found = {}
    for camera in CAMERAS:
        callbacks = [dict(map(tuple, topics[f'{camera}/image_raw'])) for topics in heard]
        ways = [
            (wall, callback[stamp] - wall)
            for name, stamp, wall, *_ in source
            for callback in callbacks
            if name == camera and stamp in callback
        ]
        drawn = [middle(turns.drawn[camera], turn) for turn in turns.alone]
        found[camera] = [
            (middle(ways, turn), (before + after) / 2)
            for turn, before, after in zip(turns.streamed, drawn[:-1], drawn[1:], strict=True)
        ]
    return found


def find_renderer(server: int) -> int:
    """Return the renderer's process id; on a busy machine it starts later than the rest."""
    deadline = time.monotonic() + RENDERER_SECONDS
    while time.monotonic() < deadline:
        found = psutil.Process(server).children()
        if found:
            return found[0].pid
        time.sleep(0.2)
    raise TimeoutError(f'there is no renderer after {RENDERER_SECONDS:g} s')


def start_bridge(
    stack: ExitStack,
    way: str,
    rates: Mapping[str, float],
    file: Path,
    environment: dict[str, str],
) -> tuple[dict[str, int], int]:
    """Start server and bridge; returns their process ids, and the port for requests."""
    ports = {'rpc': free_port(), 'state': free_port()}
    words = [f'--{name}-port={port}' for name, port in ports.items()]
    words += ['--camera-port=0', '--control-port=0', '--info-port=0', '--step-mode=live']
    program = ('-c', SERVER, 'server', *words, '--log-level', 'error')
    server = stack.enter_context(child(*program, env=environment))
    given = {f'{name}_port': port for name, port in ports.items()} | rates
    if len(transports()) > 1:
        given['camera_transport'] = way
    parameters = [word for name, value in given.items() for word in ('-p', f'{name}:={value}')]
    quiet = ['--log-level', 'error']
    bridge = child('-c', BRIDGE, str(file), *parameters, *quiet, env=environment)
    return {'server': server.pid, 'bridge': stack.enter_context(bridge).pid}, ports['rpc']


def figures(source: list, heard: list[dict[str, list]], begin: int, end: int) -> dict[str, Any]:
    """
    Work out what came of what was made between two wall times (ns).

    :param source: (camera, stamp, wall time, running number, when the publisher had it, when it
        was published) of every picture, times in ns; the running numbers count what was drawn.
    :param heard: for each subscriber: topic -> [(stamp, wall time of the callback)].
    :return: `drawn`, `lost` (drawn, and not with the publisher), `dropped` (by subscriptions),
        `rate` and `state_rate` of the slowest subscription in Hz, latencies in ms, those of each
        camera by its name besides.
    """
    found: dict[str, Any] = {'drawn': 0, 'lost': 0, 'dropped': 0}
    latencies: list[float] = []
    drawing: list[float] = []
    span, rates = (end - begin) / 1e9, []
    offset = np.median([wall - stamp for _, stamp, wall, *_ in source if begin <= wall < end])
    for camera in CAMERAS:
        made = {item[1]: item[2:] for item in source if item[0] == camera}
        made = {stamp: item for stamp, item in made.items() if begin <= item[0] < end}
        numbers = [number for _, number, *_ in made.values() if number is not None]
        drawn = max(numbers) - min(numbers) + 1 if numbers else len(made)
        found['drawn'] += drawn
        found['lost'] += drawn - len(made)
        ways: list[float] = []
        for topics in heard:
            taken = dict(map(tuple, topics[f'{camera}/image_raw']))
            arrived = [taken[stamp] - item[0] for stamp, item in made.items() if stamp in taken]
            found['dropped'] += len(made) - len(arrived)
            rates.append(len(arrived) / span)
            ways += arrived
        found[camera] = float(np.median(ways)) / 1e6
        latencies += ways
        drawing += [now - wall for wall, _, now, _ in made.values()]
    state, state_rates = state_latencies(heard, offset, begin, end)
    found['rate'] = min(rates)
    found['state_rate'] = min(state_rates)
    for name, values in (('picture', latencies), ('drawing', drawing), ('state', state)):
        found[f'{name} p50'], found[f'{name} p99'] = np.percentile(values, [50, 99]) / 1e6
    return found


def stage_times(
    drawn: list, source: list, heard: list[dict[str, list]], spans: Sequence[tuple[int, int]]
) -> dict[str, list[float]]:
    """
    Return for each camera the medians of its pictures' `STAGES` in ms; none of the floor's.

    :param spans: begin and end of the wall times (ns) of the captures that count.
    """
    found = {}
    renderer = {(camera, stamp): times for camera, stamp, *times in drawn}
    for camera in CAMERAS:
        callbacks = [dict(map(tuple, topics[f'{camera}/image_raw'])) for topics in heard]
        rows = []
        for name, stamp, wall, _, received, published in source:
            times = renderer.get((name, stamp))
            taken = [callback[stamp] for callback in callbacks if stamp in callback]
            counts = any(begin <= wall < end for begin, end in spans)
            if name == camera and times and taken and published and counts:
                moments = [wall, *times, received, published, np.mean(taken)]
                rows.append(np.diff(moments) / 1e6)
        if rows:
            found[camera] = np.median(rows, 0).tolist()
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
    keys += CAMERAS
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
    for camera in rounds[0]['stages']:
        parts = np.median(
            [item['stages'][camera] for item in rounds if camera in item['stages']], 0
        )
        text = ', '.join(f'{stage} {part:.1f}' for stage, part in zip(STAGES, parts, strict=True))
        print(f'  {camera}, ms: {text}')
    return {**middle, 'CPU': sum(cpu.values()), 'publisher CPU': cpu.get('bridge', 0.0)}


def main() -> int:
    """Measure all ways in turns and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--seconds', type=float, default=10.0, help='of each turn')
    parser.add_argument('--rounds', type=int, default=2)
    parser.add_argument('--transport', choices=('zmq', 'shm'), help='only this one')
    parser.add_argument(
        '--default-rates',
        action='store_true',
        help='state as often as a bridge publishes it by itself, not at every tick',
    )
    busy_loops.add_option(parser)
    options, _ = parser.parse_known_args()
    rates = {} if options.default_rates else FULL_RATE
    busy_loops.start(options.busy)
    possible = transports()
    if options.transport and options.transport not in possible:
        print(f'this bridge has no camera_transport; skipped {options.transport}')
        return 0
    ways = [FLOOR_NAME, *([options.transport] if options.transport else possible)]
    take_own_domain()
    rounds: dict[str, list[dict[str, Any]]] = {way: [] for way in ways}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / 'bench_topics.py').write_text(TOPICS)
        (folder / 'bench_renderer.py').write_text(RENDERER)
        for number in range(options.rounds):
            for way in ways[:: -1 if number % 2 else 1]:
                rounds[way].append(measure(way, folder, options.seconds, rates))
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
        for camera in CAMERAS:
            turns = np.array([pair for turn in rounds[way] for pair in turn['ratios'][camera]])
            ratios = turns[:, 0] / turns[:, 1]
            note(f'{camera}, capture to callback, {way}', ratios, 'drawing alone')
            low, middle, high = np.percentile(ratios, (25, 50, 75))
            took, drawing = np.median(turns, 0)
            print(
                f'{way}, {camera}, in turns: {took:.1f} ms from capture to callback, '
                f'drawing alone {drawing:.1f} ms, ratio {middle:.2f} '
                f'(quartiles {low:.2f} to {high:.2f})'
            )
    return 0


if __name__ == '__main__':
    sys.exit(main())
