# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Which Python a program gets; small scripts stand in for other Pythons."""

import os
from pathlib import Path
import shutil
import subprocess
import sys
import venv

from lifelines import run_process
import pytest

from urlab_ros_bridge import interpreters
from urlab_ros_bridge.interpreters import find_python
from urlab_ros_bridge.interpreters import missing_here
from urlab_ros_bridge.interpreters import own_folder
from urlab_ros_bridge.interpreters import python_of

ROOT = Path(__file__).resolve().parents[1]


def python_without(folder, *missing):
    """Make an interpreter that lacks some of the modules that it is asked for."""
    file = Path(python_of(folder))
    file.parent.mkdir(parents=True)
    file.write_text(
        '#!/bin/sh\nfor name in "$@"; do case $name in '
        + ''.join(f'{name}) echo {name};; ' for name in missing)
        + 'esac; done\n'
    )
    file.chmod(0o755)
    return str(file)


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """This Python is that of the system; it has the packages of every command, and rclpy."""
    have = {*interpreters.CORE, 'rclpy'}
    monkeypatch.setattr(sys, 'prefix', sys.base_prefix)
    monkeypatch.setattr(
        interpreters, 'missing_here', lambda names: tuple(n for n in names if n not in have)
    )
    return {'XDG_DATA_HOME': str(tmp_path)}


def test_the_environment_of_setup_runs_what_needs_no_ros(machine):
    assert find_python(('mujoco',), machine) is None
    own = python_without(own_folder(machine), 'websockets')
    assert find_python(('mujoco',), machine) == own
    assert find_python(('mujoco', 'websockets'), machine) is None
    for stays in ((), ('rclpy',)):
        assert find_python(stays, machine) == sys.executable


def test_an_active_environment_comes_first_if_it_has_everything(machine, tmp_path):
    own = python_without(own_folder(machine))
    machine['VIRTUAL_ENV'] = str(tmp_path / 'active')
    assert find_python(('mujoco',), machine) == own
    active = python_without(tmp_path / 'active', 'yaml')
    assert find_python(('mujoco',), machine) == own
    interpreters._missing_elsewhere.cache_clear()
    Path(active).write_text('#!/bin/sh\n')
    assert find_python(('mujoco',), machine) == active
    assert find_python(('rclpy',), machine) == sys.executable


def test_a_version_that_is_too_old_counts_as_missing(tmp_path, monkeypatch):
    assert missing_here(['yaml', 'no_such_module']) == ('no_such_module',)
    (tmp_path / 'websockets.py').touch()
    monkeypatch.setattr(sys, 'path', [str(tmp_path), *sys.path])
    oldest = '.'.join(map(str, interpreters.OLDEST['websockets']))
    for version, missing in (('10.4', ('websockets',)), (oldest, ())):
        info = tmp_path / f'websockets-{version}.dist-info'
        info.mkdir()
        (info / 'METADATA').write_text(f'Name: websockets\nVersion: {version}\n')
        assert missing_here(['websockets']) == missing
        shutil.rmtree(info)


def test_a_program_of_a_bare_python_continues_where_its_packages_are(tmp_path):
    venv.create(tmp_path / 'bare', symlinks=True)
    command = [python_of(tmp_path / 'bare'), '-m', interpreters.MAIN, 'server', '--world=none']
    environ = {**os.environ, 'PYTHONPATH': str(ROOT), 'VIRTUAL_ENV': sys.prefix}
    done = run_process(command, env=environ, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2 and 'unknown world' in done.stderr
