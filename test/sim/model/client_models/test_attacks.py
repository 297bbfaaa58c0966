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
from urlab_ros_bridge.client.errors import ImportFailed
from urlab_ros_bridge.client.errors import RemoteError
from urlab_ros_bridge.sim.model.client_models import limits

PORTS = ('rpc', 'state', 'camera', 'control', 'info')
WARM, MORE, LONG = 6, 10, 40  # rounds of spawning and deleting; more with --long


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

    def resident(self):
        text = Path(f'/proc/{self.process.pid}/status').read_text()
        return int(re.search(r'VmRSS:\s+(\d+)', text)[1])

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


def test_the_names_of_files_tell_nothing(program):
    """Whatever op names a file outside: there or not there, the answer is the same."""
    served = program('--editor', '--world', 'rover')
    client, outside = served.client(), served.places.outside
    client.recording_start()
    client.recording_stop()
    here = (
        lambda path: client.spawn_entity('a', file=path),
        lambda path: client.editor.import_xml(path),
        lambda path: client.editor.create_level('new', scene=path),
    )
    # Names without a folder lie in folders of their own there.
    elsewhere = (
        lambda path: client.replay_load(path),
        lambda path: client.recording_save(path),
        lambda path: client.editor.load_level(path),
        lambda path: client.editor.create_level(path),
    )
    answers = []
    for file in ('o.xml', 'n.xml'):
        said = []
        for path, asks in (
            (f'{outside}/{file}', (*here, *elsewhere)),
            (f'../../outside/{file}', (*here, *elsewhere)),
            (f'away/{file}', here),
            (f'{served.places.data}/away/{file}', (*here, *elsewhere)),
        ):
            for ask in asks:
                with pytest.raises(RemoteError) as caught:
                    ask(path)
                said.append(str(caught.value).replace(path, 'PATH'))
        answers.append(said)
    assert answers[0] == answers[1]
    client.close()


def test_others_go_on_while_a_model_is_tried(program):
    served = program()
    client, other = served.client(), served.client()
    client.spawn_entity('box', xml=BOX)
    served.places.write('heavy.xml', heavy())  # larger than a request
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(client.spawn_entity, 'hull', file='heavy.xml', timeout=100.0)
        while len(served.descendants()) < 2:
            time.sleep(0.01)
        other.delete_entity('box')
        assert not slow.done()
        with suppress(ImportFailed):  # on a slow machine it takes too long
            slow.result()
    assert 'box' not in client.get_entities()
    for each in (client, other):
        each.close()


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


def test_a_server_that_compiles_a_model_ends_at_once(program):
    """What has passed the trial takes as long again in the server itself."""
    served = program()
    client = served.client()
    client.spawn_entity('box', xml=BOX)
    served.places.write('heavy.xml', heavy())  # larger than a request
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(client.spawn_entity, 'hull', file='heavy.xml', timeout=100.0)
        while len(served.descendants()) < 2:
            time.sleep(0.01)
        while len(served.descendants()) > 1:
            time.sleep(0.01)
        served.process.send_signal(signal.SIGINT)
        assert served.process.wait(limits.CPU_SECONDS) == 0, 'not by the alarm'
        with suppress(RemoteError, TimeoutError):
            slow.result()
    client.close()


def test_a_killed_server_leaves_no_process(program):
    served = program()
    client = served.client()
    client.spawn_entity('box', xml=BOX)
    left = served.descendants()
    assert left
    served.process.kill()
    served.process.wait()
    gone(left)
    client.close()


@pytest.mark.slow
@pytest.mark.parametrize('model', [{'xml': BOX}, {'file': 'rover.yaml'}], ids=['box', 'rover'])
def test_memory_does_not_grow_with_spawning_and_deleting(program, model, request, monkeypatch):
    monkeypatch.setenv('MALLOC_ARENA_MAX', '1')  # threads keep what they have freed
    served, more = program(), LONG if request.config.getoption('long') else MORE
    client, resident = served.client(), []
    for _ in range(WARM + more):
        client.spawn_entity('thing', **model)
        client.delete_entity('thing')
        resident.append(served.resident())
    early, late = max(resident[:WARM]), max(resident[-WARM:])
    assert late < 1.1 * early, resident
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
