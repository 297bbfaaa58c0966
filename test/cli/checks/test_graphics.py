# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0

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


def test_a_chosen_backend_that_does_not_work_fails(monkeypatch):
    monkeypatch.setenv('MUJOCO_GL', 'osmesa')
    findings = results(monkeypatch, egl=True, osmesa=False)
    assert findings[-1].level is Severity.FAIL and 'MUJOCO_GL=egl' in findings[-1].advice
