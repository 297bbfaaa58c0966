# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import re

import pytest

from urlab_ros_bridge.cli.checks import Finding
from urlab_ros_bridge.cli.checks import Severity
from urlab_ros_bridge.cli.commands import doctor
from urlab_ros_bridge.cli.main import main

GOOD = Finding(Severity.OK, 'Python', '3.12')
ODD = Finding(Severity.WARN, 'clock', 'is late', 'buy a better one')
BAD = Finding(Severity.FAIL, 'rclpy', 'missing', 'install ROS ' + 'as the page says ' * 10)


def run(monkeypatch, *findings):
    monkeypatch.setattr(doctor, 'groups', lambda values: [('Group', lambda: list(findings))])
    return main(['doctor'])


@pytest.mark.parametrize(
    ('findings', 'code', 'last'),
    [
        ((GOOD,), 0, '1 checks, all passed'),
        ((GOOD, ODD), 0, '2 checks, 1 warning: it should work'),
        ((GOOD, ODD, BAD), 1, '3 checks, 1 failed, 1 warning'),
    ],
)
def test_the_exit_code_is_1_when_something_fails(monkeypatch, capsys, findings, code, last):
    assert run(monkeypatch, *findings) == code
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == 'Group:' and lines[-1] == last
    assert not [line for line in lines if '\x1b' in line or len(line) > doctor.PIPED_WIDTH]


def test_the_commands_that_work_without_ros_are_listed_without_a_failure(monkeypatch, capsys):
    names = ('numpy', 'pyzmq', 'msgpack', 'PyYAML', 'MuJoCo', 'websockets', 'rich', 'mcap')
    there = [Finding(Severity.OK, name, '1') for name in names]
    assert run(monkeypatch, *there, Finding(Severity.WARN, 'rclpy', 'is not installed')) == 0
    shown = capsys.readouterr().out
    for works in ('server, map, soccer,', 'chiral', 'simspark', 'eval', 'conformance'):
        assert re.search(rf'^  yes   {works} ', shown, re.M)
    for needs in ('bridge', 'up'):
        assert re.search(rf'^  no    {needs} +needs rclpy *$', shown, re.M)
