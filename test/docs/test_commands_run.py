# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Every `urlab` command of every page runs as it is written, on its default ports.

Each has a network of its own (a network namespace of Linux), in which the address of the pages is
this machine's, and a folder with the files that the pages speak of.  Who serves must say that it
is ready and end with 0 on Ctrl-C; all others must end with 0.  Commands that need no other program
and no ROS are among the ordinary tests, the others among the long ones; that all of them parse is
an ordinary test too (`test_pages.py`, which also looks at the commands of ROS, whose command line
is not among the wheels).
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time

from lifelines import run_process
from lifelines import start_process
import pytest

from test.docs.test_how_tos import FILE
from test.docs.test_pages import OURS
from test.docs.test_pages import ROOT

OTHER_MACHINE = '192.168.1.20'
PATIENCE = 120.0
# What a line means that the program has started, by command; all others end by themselves.
READY = {
    'server': 'urlab server ready',
    'chiral': 'urlab chiral ready',
    'webxr': 'urlab webxr ready',
    'simspark': 'urlab simspark ready',
    'bridge': ' connected',
    'up': ' connected',
    'policy': 'observations',
}
# A managed node says nothing before it is configured.
PENDULUM = """<robot name="pendulum">
  <link name="base"/>
  <link name="bob"><inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01"
    ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="swing" type="continuous"><parent link="base"/><child link="bob"/></joint>
</robot>"""
MANAGED = """
import sys
import rclpy
from lifecycle_msgs.srv import GetState

rclpy.init()
node = rclpy.create_node('asking')
client = node.create_client(GetState, sys.argv[1])
assert client.wait_for_service(100.0)
asked = client.call_async(GetState.Request())
rclpy.spin_until_future_complete(node, asked, timeout_sec=20.0)
assert asked.result().current_state.label == 'unconfigured'
rclpy.shutdown()
"""
# Full runs are tests of their own (test/conformance, test_eval_workers.py).
FEWER = {
    'conformance': ['--only', 'hello.*'],
    'eval': ['--episodes', '2', '--max-steps', '5'],
}
NEEDS_SERVER = ('bridge', 'chiral', 'webxr', 'simspark', 'policy', 'doctor', 'conformance')
NETWORK = (
    'ip link set lo multicast on && ip link set lo up && ip route add 224.0.0.0/4 dev lo && '
    f'ip address add {OTHER_MACHINE}/32 dev lo && echo up && exec sleep 3600'
)
CART = """<mujoco model="cart">
  <worldbody>
    <light pos="0 0 3"/>
    <geom name="floor" type="plane" size="5 5 0.1"/>
    <geom name="wall" type="box" size="0.1 2 0.5" pos="2 0 0.5"/>
    <body name="cart" pos="0 0 0.1">
      <freejoint/>
      <geom type="box" size="0.2 0.1 0.05"/>
      <body name="wheel"><joint name="wheel" axis="0 1 0"/><geom size="0.05" pos="0 0.2 0"/></body>
    </body>
  </worldbody>
  <actuator><motor joint="wheel"/></actuator>
</mujoco>
"""
POLICY = """
import numpy as np


def act(seen):
    if 'joint_pos' in seen.proprios:
        joints = seen.proprios['joint_pos']  # of two arms with a finger more each than commands
        return np.zeros(14) if len(joints) == 16 else joints
    arms = [f'{side}_{part}' for side in ('left', 'right') for part in ('joint_pos', 'gripper')]
    return np.concatenate([np.ravel(seen.proprios[name]) for name in arms])


class Policy:
    def __call__(self, seen):
        return act(seen)
"""
COMMANDS = list({' '.join(words): words for _, words in OURS}.values())

HAS_NETWORKS = run_process(['unshare', '-n', 'ip', 'link'], capture_output=True).returncode == 0

pytestmark = pytest.mark.skipif(
    not HAS_NETWORKS, reason='a network of its own needs Linux, root, and the program ip'
)
LONG = (pytest.mark.long, pytest.mark.slow)


def is_quick(words):
    """Return whether a command is done within a second or two, starts included."""
    return words[1] in ('keys', 'soccer') or words[1:] in (
        ['conformance', '--list'],
        ['map'],
        ['map', '--model', 'my_house.xml', '--height', '0.1:0.6', '--output', 'maps/house'],
        ['server'],
        ['server', '--editor'],
    )


def urlab(words):
    return [sys.executable, '-m', 'urlab_ros_bridge.cli.main', *words]


class Network:
    """A network of its own, and the programs that run in it."""

    def __init__(self, folder):
        self.folder = folder
        self.started = []
        holder = ['unshare', '-n', 'sh', '-c', NETWORK]
        self._holder = start_process(holder, stdout=subprocess.PIPE)
        assert self._holder.stdout.readline() == b'up\n'
        self._environment = {
            **os.environ,
            'PYTHONPATH': os.pathsep.join([str(folder), str(ROOT), os.environ['PYTHONPATH']]),
            'PYTHONUNBUFFERED': '1',
        }

    def inside(self, words):
        command = words if words[0] == sys.executable else urlab(words)
        return ['nsenter', '-n', '-t', str(self._holder.pid), '--', *command]

    def run(self, words):
        """Run a command to its end, which must be a good one; return what it has said."""
        done = run_process(
            self.inside(words), cwd=self.folder, env=self._environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE,
        )  # fmt: skip
        assert done.returncode == 0 and 'Traceback' not in done.stdout, done.stdout
        return done.stdout

    def serve(self, words):
        """Start a command that serves, and wait until it does."""
        log = self.folder / f'log_{len(self.started)}.txt'
        with log.open('w') as file:
            process = start_process(
                self.inside(words), cwd=self.folder, env=self._environment,
                stdout=file, stderr=subprocess.STDOUT,
            )  # fmt: skip
        self.started.append((words, process, log))
        deadline = time.monotonic() + PATIENCE
        if '--lifecycle' in words:
            space = words[words.index('--namespace') + 1] if '--namespace' in words else ''
            name = f'/{space}/urlab_{words[0]}/get_state'.replace('//', '/')
            self.run([sys.executable, '-c', MANAGED, name])
            return
        while READY[words[0]] not in log.read_text():
            assert process.poll() is None and time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)

    def end(self):
        """Interrupt what runs, the last one first; all must end well."""
        for words, process, log in reversed(self.started):
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE) == 0, (words, log.read_text())
            assert 'Traceback' not in log.read_text(), log.read_text()

    def close(self):
        for process in [*(process for _, process, _ in self.started), self._holder]:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            process.wait()
        self._holder.stdout.close()


@pytest.fixture
def network(tmp_path):
    shutil.copytree(ROOT / 'config', tmp_path / 'config')
    for name, text in FILE.findall((ROOT / 'docs' / 'howto' / 'own_robot.md').read_text()):
        (tmp_path / name).write_text(text)
    for name in ('cart_and_floor.xml', 'my_robot.xml', 'my_house.xml'):
        (tmp_path / name).write_text(CART)
    for name in ('my_robot.urdf', 'my_robot.xacro'):
        (tmp_path / name).write_text(PENDULUM)
    for name in ('my_world', 'depot'):
        for ending in ('.yaml', '.xml'):
            shutil.copy(tmp_path / f'yard{ending}', tmp_path / f'{name}{ending}')
    (tmp_path / 'my_profile.yaml').write_text('cameras: []\n')
    (tmp_path / 'my_policy.py').write_text(POLICY)
    for file in (ROOT / 'config' / 'policy').iterdir():
        shutil.copy(file, tmp_path)
    shutil.copy(tmp_path / 'quadruped_trot.yaml', tmp_path / 'walk.yaml')
    made = Network(tmp_path)
    yield made
    made.close()


def prepare(network, words):
    """Start, or make, what a page has had before it comes to a command."""
    name, line = words[0], ' '.join(words)
    if ('my_keys' in line or 'laptop' in line) and name != 'keys':
        network.run(['keys', 'my_keys', '--clients', 'laptop'])
        shutil.copytree(network.folder / 'my_keys' / 'laptop', network.folder / 'laptop')
    if 'pitch/soccer.yaml' in line:
        network.run(['soccer', '--players', '4', '--output', 'pitch'])
    by_itself = '--workers' in words or '--world' in words
    served = name in NEEDS_SERVER or (name in ('eval', 'export') and not by_itself)
    if not served:
        return
    world = next((each for each in ('bimanual', 'quadruped') if each in line), 'rover')
    server = ['server', '--world', world]
    if OTHER_MACHINE in words or f'tcp://{OTHER_MACHINE}' in words:
        keys = ['--keys', 'my_keys'] if 'laptop' in words else ['--insecure']
        server += ['--bind', '0.0.0.0', *keys]
    # It starts a server of its own.
    if line != 'conformance' and not (name == 'conformance' and 'tcp:' not in line):
        network.serve(server)
    if name in ('eval', 'export'):
        network.serve(['chiral', '--pace', 'lockstep', '--profile', 'my_profile.yaml'])
    if name == 'export':
        network.run(['eval', '--policy', 'my_policy:act', '--record', 'runs', *FEWER['eval']])


def left_out(words):
    """Return why a command cannot run here, '' when it can."""
    if '--rviz' in words and shutil.which('rviz2') is None:
        return 'RViz is not among the wheels'
    if '--robot' in words:
        return 'it is downloaded; test/robot_import/test_menagerie.py serves a copy'
    if '--ray' in words:
        return 'test/gateways/chiral/evaluation/test_episode_cluster.py starts a cluster'
    if words[0] in ('bridge', 'up', 'policy'):
        pytest.importorskip('rclpy')
    return ''


@pytest.mark.parametrize(
    'words',
    [pytest.param(words, marks=() if is_quick(words) else LONG) for words in COMMANDS],
    ids=' '.join,
)
def test_a_command_of_a_page_runs(network, words):
    words = words[1:]
    if why := left_out(words):
        pytest.skip(why)
    prepare(network, words)
    if words[0] in READY:
        network.serve(words)
    else:
        network.run([*words, *FEWER.get(words[0], ())])
    network.end()


def test_no_command_is_forgotten():
    names = [words[1] for words in COMMANDS]
    assert sum(map(is_quick, COMMANDS)) >= 10
    assert len(names) > 60 and set(READY) | {'eval', 'keys', 'map', 'export'} <= set(names)
