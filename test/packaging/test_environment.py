# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""env.sh in the shells that people use, and what the set-up says when it cannot continue."""

import os
from pathlib import Path
import shutil
import subprocess

from lifelines import run_process
import pytest

ROOT = Path(__file__).resolve().parents[2]
DISTRO = os.environ.get('ROS_DISTRO', 'jazzy')
INHERITED = ('HOME', 'LANG', 'TERM', 'USER')
SYSTEM_PATH = '/usr/local/bin:/usr/bin:/bin'

is_set_up = pytest.mark.skipif(
    not (ROOT / ('install' if DISTRO == 'jazzy' else f'install-{DISTRO}')).exists(),
    reason='this checkout has no environment made by `make setup`',
)
SHELLS = [
    pytest.param(shell, marks=pytest.mark.skipif(not shutil.which(shell), reason='not installed'))
    for shell in ('bash', 'zsh')
]


def run(
    shell: str, script: str, cwd: Path = Path('/'), **variables: str
) -> subprocess.CompletedProcess[str]:
    environment = {name: os.environ[name] for name in INHERITED if name in os.environ}
    environment |= {'PATH': SYSTEM_PATH, 'ROS_DISTRO': DISTRO} | variables
    return run_process(
        [shutil.which(shell) or shell, '-c', script],
        cwd=cwd, env=environment, capture_output=True, text=True, timeout=60,
    )  # fmt: skip


@pytest.mark.ros
@pytest.mark.distro
@is_set_up
@pytest.mark.parametrize('shell', SHELLS)
def test_environment_from_any_directory(shell):
    program = (
        'import rclpy, urlab_msgs.srv, tf2_msgs.action, urlab_ros_bridge as u; print(u.__file__)'
    )
    done = run(shell, f'. {ROOT}/env.sh && command -v urlab && python -c "{program}"')
    assert done.returncode == 0, done.stderr
    urlab, package = done.stdout.split()
    assert Path(urlab).parent.parent.parent == ROOT
    assert Path(package) == ROOT / 'urlab_ros_bridge' / '__init__.py'


@pytest.mark.ros
@pytest.mark.distro
@is_set_up
@pytest.mark.parametrize('shell', SHELLS)
def test_environment_puts_an_installed_ros_aside(shell):
    other = '/opt/ros/other'
    done = run(
        shell,
        f'. {ROOT}/env.sh && python -c "import rclpy, os; print(*os.environ.values())"',
        PATH=f'{other}/bin:/home/me/bin:{SYSTEM_PATH}',
        PYTHONPATH=f'{other}/lib/python3/site-packages:/home/me/python',
        LD_LIBRARY_PATH=f'{other}/lib',
        AMENT_PREFIX_PATH=other,
        _ROS_WHEELS_BOOTSTRAP_COMPLETE='1',
    )
    assert done.returncode == 0, done.stderr
    assert other not in done.stdout
    assert '/home/me/bin' in done.stdout
    assert '/home/me/python' in done.stdout


@pytest.mark.parametrize('shell', SHELLS)
def test_environment_of_a_python_that_cannot_be_run_says_so(shell, tmp_path):
    shutil.copy(ROOT / 'env.sh', tmp_path)
    for suffix in ('', '-kilted'):
        folder = tmp_path / f'.venv{suffix}' / 'bin'
        folder.mkdir(parents=True)
        (folder / 'python').symlink_to('/root/other/python')
    done = run(shell, f'. {tmp_path}/env.sh')
    assert done.returncode != 0 and '/root/other/python' in done.stderr
    assert 'not set up yet' not in done.stderr


def test_set_up_refuses_a_path_that_cmake_cannot_read(tmp_path):
    folder = tmp_path / 'größe' / 'pypi'
    folder.mkdir(parents=True)
    shutil.copy(ROOT / 'pypi' / 'setup.sh', folder)
    done = run('bash', f'{folder}/setup.sh', PYTHON='false')
    assert done.returncode == 2 and 'größe' in done.stderr
