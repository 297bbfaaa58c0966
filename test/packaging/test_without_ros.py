# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The wheel in a fresh virtual environment without ROS."""

import os
from pathlib import Path
import shutil
import subprocess
import sys

from lifelines import run_process
import pytest

ROOT = Path(__file__).parents[2]
UV = shutil.which('uv', path=f'{Path(sys.executable).parent}{os.pathsep}{os.environ["PATH"]}')
KEPT = ('HOME', 'LANG', 'TMPDIR', 'SSL_CERT_FILE')

pytestmark = [
    pytest.mark.long,
    pytest.mark.slow,
    pytest.mark.skipif(UV is None, reason='needs uv'),
]

POLICY = 'def hold(seen):\n    return seen.proprios["joint_pos"]\n'
TESTS = """
import sys
import gymnasium
import numpy as np
import pytest

def test_there_is_no_ros():
    with pytest.raises(ImportError):
        import rclpy

@pytest.mark.simulation('rover', bridge=None, mode='direct')
def test_server_and_client(simulation):
    assert simulation.client.step(5).step == 5

def test_environment():
    env = gymnasium.make('urlab_ros_bridge.gym:Urlab-v0', world='rover')
    seen, _ = env.reset(seed=1)
    assert np.isfinite(env.step(env.action_space.high)[0]).all()
    env.close()
"""


@pytest.fixture(scope='module')
def environment(tmp_path_factory):
    """Return a function that runs a command in an environment with nothing but the wheel."""
    folder = tmp_path_factory.mktemp('fresh')
    clean = {name: value for name, value in os.environ.items() if name in KEPT}
    clean |= {
        name: value for name, value in os.environ.items() if name.startswith(('UV_', 'PIP_'))
    }
    clean['PATH'] = f'{folder / "venv" / "bin"}:/usr/local/bin:/usr/bin:/bin'
    source = folder / 'source'
    made = [f'{name}{end}' for name in ('build', 'install', 'log') for end in ('', '-*')]
    ignored = shutil.ignore_patterns('.*', *made, '__pycache__')
    shutil.copytree(ROOT, source, ignore=ignored)

    def run(*command, cwd=folder):
        done = run_process(
            command, cwd=cwd, env=clean, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, timeout=250,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout
        return done.stdout

    base = getattr(sys, '_base_executable', sys.executable)
    run(UV, 'venv', '--quiet', '--python', base, str(folder / 'venv'))
    run(UV, 'build', '--quiet', '--wheel', '--out-dir', str(folder / 'dist'), str(source))
    (wheel,) = (folder / 'dist').glob('*.whl')
    python = str(folder / 'venv' / 'bin' / 'python')

    def install(*names):
        run(UV, 'pip', 'install', '--quiet', '--python', python, *names)

    install('pytest', f'{wheel}[sim,chiral,eval]')
    run.install, run.wheel = install, wheel
    return run


def test_plugin_server_client_and_environment(environment, tmp_path):
    (tmp_path / 'test_it.py').write_text(TESTS)
    assert '3 passed' in environment('python', '-m', 'pytest', '-q', cwd=tmp_path)


def test_an_evaluation(environment, tmp_path):
    (tmp_path / 'policy.py').write_text(POLICY)
    (tmp_path / 'profile.yaml').write_text('cameras: []\n')
    words = '--policy policy:hold --world quadruped --profile profile.yaml --workers 1'
    words += ' --results out --episodes 2 --max-steps 5'
    assert 'mean' in environment('urlab', 'eval', *words.split(), cwd=tmp_path)
