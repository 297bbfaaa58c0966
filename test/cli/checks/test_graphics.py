# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import pytest

from urlab_ros_bridge.cli.checks import graphics
from urlab_ros_bridge.cli.checks import Severity
from urlab_ros_bridge.cli.checks import worst


def results(monkeypatch, **works):
    monkeypatch.setattr(graphics, 'check_backend', lambda name: (works[name], 'said'))
    return graphics.check_all()


def test_one_backend_is_enough(monkeypatch):
    monkeypatch.delenv('MUJOCO_GL', raising=False)
    findings = results(monkeypatch, egl=True, osmesa=False)
    assert worst(findings) is Severity.OK
    assert 'not needed' in findings[1].found


def test_none_fails_with_the_packages_to_install(monkeypatch):
    findings = results(monkeypatch, egl=False, osmesa=False)
    assert worst(findings) is Severity.FAIL and 'apt-get install' in findings[0].advice


def test_a_chosen_backend_that_does_not_work_fails(monkeypatch):
    monkeypatch.setenv('MUJOCO_GL', 'osmesa')
    findings = results(monkeypatch, egl=True, osmesa=False)
    assert findings[-1].level is Severity.FAIL and 'MUJOCO_GL=egl' in findings[-1].advice


def test_a_backend_that_works_here_tells_its_time():
    pytest.importorskip('mujoco')
    tried = [graphics.check_backend(name) for name in graphics.BACKENDS]
    if not any(works for works, _ in tried):
        pytest.skip('no renderer on this machine')
    assert any(works and said.startswith('renders 640x480 in') for works, said in tried)
