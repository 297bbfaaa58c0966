# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""env.sh in the shells that people use, and what the set-up says when it cannot continue."""

import os
from pathlib import Path
import shutil
import subprocess
import time

from lifelines import run_process
import pytest

from urlab_ros_bridge.kept_memory import allocator_variables

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
def test_environment_in_strict_shells_and_twice(shell):
    script = f'set -eu; . {ROOT}/env.sh; one=$PATH:$PYTHONPATH; . {ROOT}/env.sh'
    done = run(shell, f'{script}; test "$one" = "$PATH:$PYTHONPATH"; set')
    assert done.returncode == 0, done.stderr
    assert not [line for line in done.stdout.splitlines() if line.startswith('_urlab')]


@pytest.mark.ros
@pytest.mark.distro
@is_set_up
def test_environment_in_plain_sh_from_the_checkout():
    assert run('sh', '. ./env.sh && python -c "import urlab_msgs.msg"', cwd=ROOT).returncode == 0


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


@pytest.mark.ros
@pytest.mark.distro
@is_set_up
def test_profile_of_the_user_wins():
    script = f'. {ROOT}/env.sh && echo $FASTDDS_DEFAULT_PROFILES_FILE'
    assert run('bash', script).stdout.strip() == str(ROOT / 'config' / 'fastdds.xml')
    assert run('bash', script, FASTDDS_DEFAULT_PROFILES_FILE='/mine.xml').stdout == '/mine.xml\n'
    assert run('bash', script, FASTRTPS_DEFAULT_PROFILES_FILE='/old.xml').stdout == '/old.xml\n'


@pytest.mark.ros
@pytest.mark.distro
@is_set_up
def test_memory_of_images_is_kept_as_in_our_own_processes(monkeypatch):
    names = list(allocator_variables())
    for name in names:
        monkeypatch.delenv(name, raising=False)
    script = f'. {ROOT}/env.sh && python -c "import os; print(*map(os.environ.get, {names}))"'
    assert run('bash', script).stdout.split() == list(allocator_variables().values())
    assert run('bash', script, **{names[0]: '7'}).stdout.split()[0] == '7'


@pytest.mark.parametrize('shell', SHELLS)
def test_environment_before_set_up_names_the_command(shell, tmp_path):
    shutil.copy(ROOT / 'env.sh', tmp_path)
    done = run(shell, f'. {tmp_path}/env.sh', ROS_DISTRO='jazzy')
    assert done.returncode != 0
    assert 'make setup ROS_DISTRO=jazzy' in done.stderr
    done = run(shell, f'. {tmp_path}/env.sh', ROS_DISTRO='lyrical')
    assert done.returncode != 0
    assert "'lyrical'" in done.stderr
    assert 'jazzy and kilted' in done.stderr


def test_set_up_of_an_unknown_distribution_names_the_known_ones():
    done = run('bash', f'{ROOT}/pypi/setup.sh', ROS_DISTRO='humble')
    assert done.returncode == 2
    assert "'humble'" in done.stderr
    assert 'ROS_DISTRO=jazzy' in done.stderr
    assert 'ROS_DISTRO=kilted' in done.stderr


def test_set_up_without_rights_says_what_to_install(tmp_path):
    project = tmp_path / 'project'
    (project / 'pypi').mkdir(parents=True)
    shutil.copy(ROOT / 'pypi' / 'setup.sh', project / 'pypi')
    tools = tmp_path / 'bin'
    tools.mkdir()
    # A machine without cmake, g++, ninja, sudo and Python, and a user who is not root.
    for tool in ('bash', 'dirname', 'mkdir', 'flock', 'ldconfig', 'dpkg-query', 'apt-get'):
        found = shutil.which(tool, path=f'{SYSTEM_PATH}:/sbin:/usr/sbin')
        (tools / tool).symlink_to(found or '/bin/true')
    (tools / 'id').write_text('#!/bin/sh\necho 1000\n')
    (tools / 'id').chmod(0o755)
    done = run('bash', f'{project}/pypi/setup.sh', PATH=str(tools), ROS_DISTRO='jazzy')
    assert done.returncode == 1
    assert 'neither root nor a user with sudo' in done.stderr
    command = next(line for line in done.stderr.splitlines() if 'apt-get install' in line)
    assert {'g++', 'cmake', 'ninja-build', 'python3', 'python3-venv'} <= set(command.split())


@pytest.mark.ros
@pytest.mark.distro
@is_set_up
def test_second_set_up_is_quick():
    first = run('bash', f'{ROOT}/pypi/setup.sh')
    assert first.returncode == 0, first.stderr
    started = time.monotonic()
    second = run('bash', f'{ROOT}/pypi/setup.sh')
    assert time.monotonic() - started < 20.0  # to build anything takes minutes
    assert (second.returncode, second.stdout) == (0, '')
