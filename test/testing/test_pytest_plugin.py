# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The plugin costs nothing until it is used, and its fixtures are simulations that end."""

import os
from pathlib import Path
import signal
import subprocess
import sys
import uuid

from lifelines import run_process
from lifelines import start_process
import psutil
import pytest
from waiting import wait_until

ROOT = Path(__file__).parents[2]
PLUGIN = 'urlab_ros_bridge.testing.pytest_plugin'
HEAVY = ('rclpy', 'mujoco', 'numpy', 'zmq', 'yaml', 'msgpack')

# Without any bridge, so that it runs without ROS too.
TESTS = """
import os
import pytest
from urlab_ros_bridge.testing import Simulation

@pytest.mark.simulation('rover', bridge=None, mode='direct')
def test_marked(simulation):
    assert simulation.client.handshake.world == 'rover'
    assert simulation.domain is None
    start = simulation.client.forward().time
    assert abs(simulation.run_for(0.1).time - start - 0.1) < 1e-6
    assert simulation.position('rover').shape == (3,)
    assert 'urlab server ready' in simulation.output

@pytest.mark.parametrize('simulation', [{'world': 'quadruped', 'bridge': None}], indirect=True)
def test_parametrised(simulation):
    assert simulation.client.handshake.world == 'quadruped'

def test_own_sidecar(tmp_path):
    file = tmp_path / 'ball.xml'
    file.write_text('<mujoco><worldbody><body name="ball"><freejoint/><geom size=".1"/></body>'
                    '</worldbody></mujoco>')
    sidecar = {'articulations': [{'prefix': 'ball', 'model': str(file)}]}
    with Simulation(sidecar=sidecar, bridge=None) as running:
        assert set(running.client.handshake.articulations) == {'ball'}

def test_a_world_that_is_not_there_says_so():
    with pytest.raises(RuntimeError, match="unknown world 'mars'"):
        Simulation('mars', bridge=None)

@pytest.mark.simulation('arm')
def test_fake(fake_server):
    assert list(fake_server.robots) == ['arm']
"""
FOREVER = """
import os, pathlib, threading

import pytest

@pytest.mark.simulation('rover', bridge=None)
def test_forever(simulation):
    pathlib.Path(os.environ['READY']).touch()
    threading.Event().wait()
"""


def inner(folder, text, *words, **environ):
    (folder / 'test_inner.py').write_text(text, encoding='utf-8')
    command = [sys.executable, '-m', 'pytest', '-p', PLUGIN, '-p', 'no:cacheprovider', *words]
    places = [str(ROOT), os.environ.get('PYTHONPATH', '')]
    environ |= {'PYTHONPATH': os.pathsep.join(filter(None, places))}
    options = {'cwd': folder, 'env': {**os.environ, **environ}, 'text': True}
    return command, {**options, 'stdout': subprocess.PIPE, 'stderr': subprocess.STDOUT}


def test_the_fixtures_of_the_plugin_work(tmp_path):
    command, options = inner(tmp_path, TESTS, '-v')
    done = run_process(command, timeout=200, **options)
    assert done.returncode == 0, done.stdout
    assert '5 passed' in done.stdout


def test_the_plugin_imports_no_heavy_module_until_used():
    program = f"""
import sys, pytest
before = set(sys.modules)
import {PLUGIN}, urlab_ros_bridge.testing
new = {{name.partition('.')[0] for name in set(sys.modules) - before}}
print(sorted(new & set({HEAVY!r})), len(set(sys.modules) - before))
"""
    done = run_process(
        [sys.executable, '-c', program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    heavy, _, count = done.stdout.strip().rpartition(' ')
    assert heavy == '[]' and int(count) < 10


@pytest.mark.parametrize('number', [signal.SIGKILL, signal.SIGINT])
def test_a_killed_test_run_leaves_no_processes(tmp_path, number):
    run = str(uuid.uuid4())
    command, options = inner(tmp_path, FOREVER, READY=str(tmp_path / 'ready'), URLAB_TEST_RUN=run)
    # Whoever runs this in the background of a script has SIGINT ignored, which is inherited.
    victim = start_process(['env', '--default-signal=INT', *command], **options)

    def started():
        found = []
        for process in psutil.process_iter():
            try:
                if process.environ().get('URLAB_TEST_RUN') == run:
                    found.append(process)
            except (psutil.NoSuchProcess, psutil.ZombieProcess, psutil.AccessDenied):
                continue
        return found

    try:
        wait_until(lambda: (tmp_path / 'ready').exists() or victim.poll() is not None, 100)
        assert victim.poll() is None, victim.stdout.read()
        assert len(started()) >= 2
        victim.send_signal(number)
        wait_until(lambda: not started(), 30)
    finally:
        for process in started():
            process.kill()
        victim.wait()
        victim.stdout.close()
