# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0

import pytest

from urlab_ros_bridge.cli.checks import Finding
from urlab_ros_bridge.cli.checks import Severity
from urlab_ros_bridge.cli.commands import doctor
from urlab_ros_bridge.cli.main import main

ODD = Finding(Severity.WARN, 'clock', 'is late', 'buy a better one')
BAD = Finding(Severity.FAIL, 'rclpy', 'missing', 'install ROS ' + 'as the page says ' * 10)


@pytest.mark.parametrize(('findings', 'code'), [((ODD,), 0), ((ODD, BAD), 1)])
def test_the_exit_code_is_1_when_something_fails(monkeypatch, capsys, findings, code):
    monkeypatch.setattr(doctor, 'groups', lambda values: [('Group', lambda: list(findings))])
    assert main(['doctor']) == code
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= doctor.PIPED_WIDTH and (' 1 failed' in lines[-1]) == bool(code)
