# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The server program under attack by models: it goes on, keeps no memory, and ends when asked."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
import gc
from pathlib import Path
import re
import signal
import subprocess
import sys
import time
import weakref

from client_places import Places
from lifelines import start_process
import numpy as np
import pytest
from spawn_models import BOX

from urlab_ros_bridge.client.client import Client
from urlab_ros_bridge.client.errors import RemoteError
from urlab_ros_bridge.sim.model.client_models import limits

PORTS = ('rpc', 'state', 'camera', 'control', 'info')


class Program:
    """The server in a process of its own."""

    def __init__(self, folder, *options):
        self.places = Places(folder)
        # Live, but slowly: physics are not what is attacked.
        words = ['server', '--speed=10', '--data-dir', str(self.places.data), *options]
        words += [f'--{name}-port=0' for name in PORTS]
        with (folder / 'log.txt').open('w') as log:
            self.process = start_process(
                [sys.executable, '-m', 'urlab_ros_bridge.cli.main', *words],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        ports = dict(re.findall(r'(\w+)=tcp://[^:]+:(\d+)', self.process.stdout.readline()))
        self.ports = {'rpc_port': int(ports['rpc']), 'state_port': int(ports['state'])}

    def close(self):
        self.process.kill()
        self.process.wait()

    def client(self, **options):
        client = Client(shared=True, timeout=90.0, **self.ports, **options)
        client.connect()
        return client

    def descendants(self):
        found, new = [], [str(self.process.pid)]
        while new:
            number = new.pop()
            children = Path(f'/proc/{number}/task')
            for task in children.iterdir() if children.exists() else ():
                with suppress(FileNotFoundError):  # the thread has just ended
                    more = (task / 'children').read_text().split()
                    found += more
                    new += more
        return found


@pytest.fixture
def program(tmp_path, keep):
    """Return a factory of server programs; they are killed at the end if need be."""
    return lambda *options: keep(Program(tmp_path, *options))


def gone(processes):
    """Wait until processes have ended; the time-out of pytest ends the waiting."""
    while any(Path(f'/proc/{number}').exists() for number in processes):
        time.sleep(0.01)


def heavy():
    """Return a model within all limits of numbers whose hull takes a second."""
    points = np.random.default_rng(1).normal(size=(50_000, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    text = ' '.join(f'{value:.4f}' for value in points.ravel())
    return (
        f'<mujoco><asset><mesh name="m" vertex="{text}"/></asset><worldbody>'
        '<geom type="mesh" mesh="m"/></worldbody></mujoco>'
    )


def test_a_server_that_tries_a_model_ends_at_once(program):
    served = program()
    client = served.client()
    client.spawn_entity('box', xml=BOX)
    served.places.write('heavy.xml', heavy())  # larger than a request
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(client.spawn_entity, 'hull', file='heavy.xml', timeout=100.0)
        while len(served.descendants()) < 2:
            time.sleep(0.01)
        left = served.descendants()
        served.process.send_signal(signal.SIGINT)
        # Long before the limit of the trial, and not by the alarm of a server that hangs.
        assert served.process.wait(limits.CPU_SECONDS / 2) == 0
        with pytest.raises(RemoteError, match='shutting_down'):
            slow.result()
    gone(left)
    client.close()


@pytest.mark.parametrize('world', ['rover', 'fleet'])
def test_a_world_that_was_replaced_is_gone_at_once(server, connect, world):
    """Without the collector: nothing holds it in a circle, nothing remembers it."""
    running = server(world=world)
    socket = connect(running, timeout=60.0, shared=True)
    gone = []
    gc.collect()
    gc.disable()
    try:
        for model in ({'xml': BOX}, {'file': 'rover.yaml'}):
            for op, fields in (
                ('spawn_entity', {'name': 'thing', **model}),
                ('delete_entity', {'entity': 'thing'}),
            ):
                gone.append(weakref.ref(running.context.world))
                socket.ask(op, **fields)
                # The thread that has answered may not have let go yet.
                for _ in range(500):
                    if gone[-1]() is None:
                        break
                    time.sleep(0.01)
                assert gone[-1]() is None
    finally:
        gc.enable()
