# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import importlib.metadata
import sys

import pytest

from urlab_ros_bridge.cli.checks import python
from urlab_ros_bridge.cli.checks import Severity


@pytest.mark.parametrize(
    ('text', 'numbers'),
    [('27.3.0', (27, 3, 0)), ('1.0.3rc1', (1, 0, 3)), ('6.0.dev2', (6, 0)), ('', ()), ('x', ())],
)
def test_leading_numbers_of_a_version(text, numbers):
    assert python.version_tuple(text) == numbers


def test_what_is_here_is_found_right():
    levels = {finding.subject: finding.level for finding in python.check_all()}
    assert levels['Python'] is Severity.OK
    for distribution, _, _ in python.PACKAGES:
        assert levels[distribution] is Severity.OK


def test_a_missing_and_an_old_package_fail_and_say_how_to_install():
    missing = python.check_package('no-such-thing', 'no_such_thing', (1,))
    assert missing.level is Severity.FAIL and 'pip install no-such-thing' in missing.advice
    newest = importlib.metadata.version('numpy')
    old = python.check_package('numpy', 'numpy', (999,))
    assert old.level is Severity.FAIL and old.found == newest and 'numpy>=999' in old.advice


def test_an_old_python_fails(monkeypatch):
    monkeypatch.setattr(sys, 'version_info', (3, 10, 1, 'final', 0))
    finding = python.check_python()
    assert finding.level is Severity.FAIL and '3.11' in finding.advice


def test_mujoco_is_tried_by_a_step(monkeypatch):
    mujoco = pytest.importorskip('mujoco')
    assert python.check_mujoco().found == mujoco.__version__
    monkeypatch.setattr(python, 'run_python', lambda code: (False, 'crashed with signal 11'))
    assert python.check_mujoco().level is Severity.FAIL
