# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The plugin costs nothing until it is used, and its fixtures are simulations that end."""

import os
from pathlib import Path
import shutil
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
from urlab_ros_bridge.testing.errors import NoBridge

@pytest.mark.simulation('rover', bridge=None, mode='direct')
def test_marked(simulation):
    assert simulation.client.handshake.world == 'rover'
    assert simulation.domain is None
    start = simulation.client.forward().time
    assert abs(simulation.run_for(0.1).time - start - 0.1) < 1e-6
    assert simulation.position('rover').shape == (3,)
    assert 'urlab server ready' in simulation.output
    with pytest.raises(NoBridge, match='odom'):
        simulation.wait_for_message(object, 'odom')

SIDECAR = {'articulations': [{'prefix': 'ball', 'model': os.path.abspath('ball.xml')}]}

@pytest.mark.parametrize('simulation', [{'sidecar': SIDECAR, 'bridge': None}], indirect=True)
def test_own_sidecar(simulation):
    assert set(simulation.client.handshake.articulations) == {'ball'}

def test_a_world_that_is_not_there_says_so():
    with pytest.raises(RuntimeError, match="unknown world 'mars'"):
        Simulation('mars', bridge=None)

@pytest.mark.simulation('arm')
def test_fake(fake_server):
    assert list(fake_server.robots) == ['arm']
"""
BALL = """<mujoco><worldbody><body name="ball"><freejoint/><geom size=".1"/></body>
  </worldbody></mujoco>"""
FOREVER = """
import os, pathlib, threading

import pytest

@pytest.mark.simulation('rover', bridge=None)
def test_forever(simulation):
    pathlib.Path(os.environ['READY']).touch()
    threading.Event().wait()
"""


def inner(folder, **environ):
    command = [sys.executable, '-m', 'pytest', '-p', PLUGIN, '-p', 'no:cacheprovider', '-v', '.']
    places = [str(folder), str(ROOT), os.environ.get('PYTHONPATH', '')]
    environ |= {'PYTHONPATH': os.pathsep.join(filter(None, places))}
    options = {'cwd': folder, 'env': {**os.environ, **environ}, 'text': True}
    return command, {**options, 'stdout': subprocess.PIPE, 'stderr': subprocess.STDOUT}


def passed(folder):
    """Run the tests of a folder; return what pytest prints."""
    command, options = inner(folder)
    done = run_process(command, timeout=200, **options)
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_the_fixtures_of_the_plugin_work(tmp_path):
    (tmp_path / 'test_inner.py').write_text(TESTS)
    (tmp_path / 'ball.xml').write_text(BALL)
    assert '4 passed' in passed(tmp_path)


@pytest.mark.ros
@pytest.mark.slow
def test_the_example_package_passes_its_tests(tmp_path):
    pytest.importorskip('rclpy')
    package = ROOT / 'examples' / 'my_robot'
    # By this `colcon test` knows that the tests are pytest's; else it finds none, and is content.
    assert "extras_require={'test': ['pytest']}" in (package / 'setup.py').read_text()
    shutil.copytree(package, tmp_path, dirs_exist_ok=True)
    assert '2 passed' in passed(tmp_path)


def test_the_plugin_imports_no_heavy_module_and_the_fake_server_needs_neither_mujoco_nor_ros():
    program = f"""
import sys, pytest
before = set(sys.modules)
import {PLUGIN}, urlab_ros_bridge.testing
new = {{name.partition('.')[0] for name in set(sys.modules) - before}}
assert not new & set({HEAVY!r}), new
sys.modules['mujoco'] = sys.modules['rclpy'] = None
from urlab_ros_bridge.client import Client
from urlab_ros_bridge.testing import FakeServer
with FakeServer(mode='direct') as server, Client('127.0.0.1', server.ports['rpc']) as client:
    assert client.step(3).time == 0.03
"""
    done = run_process([sys.executable, '-c', program], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_killed_test_run_leaves_no_processes(tmp_path):
    (tmp_path / 'test_inner.py').write_text(FOREVER)
    run = str(uuid.uuid4())
    command, options = inner(tmp_path, READY=str(tmp_path / 'ready'), URLAB_TEST_RUN=run)
    victim = start_process(command, **options)

    def started():
        every = psutil.process_iter(['environ'])
        return [one for one in every if (one.info['environ'] or {}).get('URLAB_TEST_RUN') == run]

    try:
        wait_until(lambda: (tmp_path / 'ready').exists() or victim.poll() is not None, 100)
        assert victim.poll() is None, victim.stdout.read()
        assert len(started()) >= 2
        victim.kill()
        wait_until(lambda: not started(), 30)
    finally:
        for process in started():
            process.kill()
        victim.wait()
        victim.stdout.close()
