#!/usr/bin/env python3
# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Cost of a live tick as robots grow: 1, 2, 4, 8, 16 of them in one world.

All rows, state/full and sim_time are published on a real socket to another process that takes
them all.  The floor is mj_step itself on the same world and state, measured between the same
ticks; what stays is ours: controllers, rows, snapshot, sending.  Costs are CPU time of the thread
that steps.  "to linear" is the cost divided by the straight line through the whole series: near 1
everywhere means that robots add up.  "select" is what a change of subscriptions costs when a
client subscribes to every topic by itself, as a bridge does.
"""

from __future__ import annotations

import argparse
from pathlib import Path
import subprocess
import sys
import tempfile
import time
from xml.etree import ElementTree

import mujoco
import numpy as np
from ratios import note
import yaml
import zmq

from urlab_ros_bridge import models
from urlab_ros_bridge.sim.building import build_simulation
from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.model.world import load_world
from urlab_ros_bridge.sim.observe.state import SEND_QUEUE
from urlab_ros_bridge.sim.observe.state import StatePublisher
from urlab_ros_bridge.sim.requests.paths import DataFolder
from urlab_ros_bridge.sim.simulation import Simulation
from urlab_ros_bridge.transport.publisher import Publisher

COUNTS = (1, 2, 4, 8, 16)
SPACING = 3.0  # m; far enough that robots never touch
LISTENER = """
import sys, zmq
socket = zmq.Context().socket(zmq.SUB)
socket.setsockopt(zmq.RCVHWM, 0)
socket.setsockopt(zmq.SUBSCRIBE, b'')
socket.connect(sys.argv[1])
while True:
    socket.recv_multipart(copy=False)
"""
FLOOR = """<mujoco>{option}<worldbody><geom type="plane" size="100 100 1"/></worldbody></mujoco>"""


def sidecar(folder: Path, robot: str, count: int) -> Path:
    """Write a world of `count` robots in a row."""
    own = models.world_path(robot).with_suffix('.yaml')
    scene = ElementTree.parse(own.with_suffix('.xml')).find('option')
    option = '' if scene is None else ElementTree.tostring(scene, encoding='unicode')
    spec = yaml.safe_load(own.read_text())['articulations'][0]
    spec['model'] = str(own.parent / spec['model'])
    spec.pop('actor_id', None)
    spec.pop('cameras', None)
    (folder / 'floor.xml').write_text(FLOOR.format(option=option))
    height = (spec.get('pose') or {}).get('pos', [0, 0, 0])[2]
    robots = [
        {
            **spec,
            'prefix': f'{robot}{chr(97 + number)}',
            'pose': {'pos': [SPACING * number, 0, height]},
        }
        for number in range(count)
    ]
    path = folder / f'{count}.yaml'
    path.write_text(yaml.safe_dump({'scene': 'floor.xml', 'articulations': robots}))
    return path


def measure(
    simulation: Simulation, publisher: StatePublisher, ticks: int
) -> tuple[float, float, float]:
    """Return seconds per tick: mj_step alone, the whole sub-step, publishing."""
    engine, world = simulation.engine, simulation.world
    floor = mujoco.MjData(world.model)
    costs = np.empty((ticks, 3))
    clock = time.thread_time

    def bare() -> None:
        start = clock()
        mujoco.mj_step(world.model, floor)
        costs[tick, 0] = clock() - start

    def ours() -> None:
        with engine.lock:
            start = clock()
            engine.substep()
            costs[tick, 1] = clock() - start

    for tick in range(ticks):
        floor.qpos[:], floor.qvel[:] = world.data.qpos, world.data.qvel
        floor.ctrl[:], floor.qacc_warmstart[:] = world.data.ctrl, world.data.qacc_warmstart
        # Whoever comes second finds the model in the cache: they take turns.
        for step in (bare, ours) if tick % 2 else (ours, bare):
            step()
        start = clock()
        with engine.lock:
            publisher.publish(True)
        costs[tick, 2] = clock() - start
        # A tick has its time: without it the queue to the listener would fill.
        time.sleep(max(costs[tick, 2], 1e-3))
    return tuple((np.median(costs[::2], axis=0) + np.median(costs[1::2], axis=0)) / 2)


def select(publisher: StatePublisher, topics: list[bytes]) -> float:
    """Return the seconds that a change of subscriptions costs with one for every topic."""
    subscribed = publisher._publisher
    subscribed._topics = set(topics)
    subscribed._sizes = tuple(sorted({len(topic) for topic in topics}))
    costs = []
    for _ in range(20):
        start = time.thread_time()
        publisher._select()
        costs.append(time.thread_time() - start)
    return float(np.median(costs))


def one(
    robot: str, count: int, ticks: int, folder: Path
) -> tuple[float, float, float, float, int]:
    """Measure a world of `count` robots: `measure`, `select`, and the messages of a tick."""
    config = ServerConfig(model=sidecar(folder, robot, count))
    simulation = build_simulation(config, DataFolder(folder), load_world(config))
    with zmq.Context() as zmq_context, zmq_context.socket(zmq.XPUB) as socket:
        socket.setsockopt(zmq.LINGER, 0)
        socket.setsockopt(zmq.SNDHWM, SEND_QUEUE)
        port = socket.bind_to_random_port('tcp://127.0.0.1')
        listener = subprocess.Popen([sys.executable, '-c', LISTENER, f'tcp://127.0.0.1:{port}'])
        try:
            subscribed = Publisher(socket)
            while not subscribed.has_subscribers:
                subscribed.read_subscriptions()
                time.sleep(0.01)
            publisher = StatePublisher(simulation.engine, simulation.observer, subscribed)
            measure(simulation, publisher, 50)
            figures = measure(simulation, publisher, ticks)
            topics = sent_topics(publisher)
            return *figures, select(publisher, topics), len(topics)
        finally:
            listener.kill()
            listener.wait()


def sent_topics(publisher: StatePublisher) -> list[bytes]:
    """Return the topics of one tick."""
    topics: list[bytes] = []
    send, publisher._send = publisher._send, lambda topic, payload: topics.append(topic)
    publisher.publish(True)
    publisher._send = send
    return topics


def to_linear(counts: list[int], values: list[float]) -> np.ndarray:
    """Return each value over the line that fits all best, relative errors weighing alike."""
    x, y = np.array(counts, float), np.array(values)
    design = np.stack([1 / y, x / y], axis=1)
    (start, slope), *_ = np.linalg.lstsq(design, np.ones(len(y)), rcond=None)
    return y / (start + slope * x)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--robot', default='quadruped')
    parser.add_argument('--ticks', type=int, default=600)
    options, _ = parser.parse_known_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for count in COUNTS:
            rows.append(one(options.robot, count, options.ticks, Path(folder)))
    physics, step, publish, chosen = (np.array([row[i] for row in rows]) * 1e6 for i in range(4))
    ours = step - physics + publish
    linear = to_linear(list(COUNTS), list(ours))
    print(f'{options.robot}: us of CPU per tick (medians), all rows and the snapshot subscribed')
    print('robots  messages  mj_step  our step  publish  ours per robot  to linear   select')
    for index, count in enumerate(COUNTS):
        print(
            f'{count:6d}  {rows[index][4]:8d}  {physics[index]:7.0f}  '
            f'{step[index] - physics[index]:8.0f}  {publish[index]:7.0f}  '
            f'{ours[index] / count:14.1f}  {linear[index]:9.2f}  {chosen[index]:7.0f}'
        )
    growth = [np.log(v[-1] / v[0]) / np.log(COUNTS[-1] / COUNTS[0]) for v in (ours, chosen)]
    note('growth with robots, exponent', growth[0], 'linear')
    print(
        f'ours grows with robots^{growth[0]:.2f}, select with robots^{growth[1]:.2f} (1 = linear)'
    )
    return 0


if __name__ == '__main__':
    sys.exit(main())
