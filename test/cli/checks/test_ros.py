# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import pytest

from urlab_ros_bridge.cli.checks import ros
from urlab_ros_bridge.cli.checks import Severity
from urlab_ros_bridge.cli.processes.table import PROFILE_VARIABLES
from urlab_ros_bridge.files.folders import shipped_file


@pytest.fixture(autouse=True)
def no_profile(monkeypatch):
    for name in PROFILE_VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.ros
@pytest.mark.distro
def test_a_usable_ros_is_found_with_its_middleware():
    findings = {
        finding.subject: finding for finding in [ros.check_rclpy(), *ros.check_interfaces()]
    }
    assert all(finding.level is Severity.OK for finding in findings.values()), findings
    assert 'rmw_' in findings['rclpy'].found


@pytest.mark.parametrize(
    ('text', 'level'),
    [
        ('101', Severity.OK),
        ('102', Severity.WARN),
        ('233', Severity.FAIL),
        ('x', Severity.FAIL),
    ],
)
def test_domains(monkeypatch, text, level):
    monkeypatch.setenv('ROS_DOMAIN_ID', text)
    assert ros.check_domain().level is level


def test_the_shipped_profile_is_accepted_and_unsuitable_ones_are_reported(monkeypatch, tmp_path):
    assert ros.check_profile().level is Severity.OK
    file = tmp_path / 'profile.xml'
    cases = {
        shipped_file('config/fastdds.xml').read_text(): Severity.OK,
        '<dds><segment_size>524288</segment_size></dds>': Severity.WARN,
        'no xml': Severity.FAIL,
    }
    for name in PROFILE_VARIABLES:
        monkeypatch.setenv(name, str(file))
        for text, level in cases.items():
            file.write_text(text)
            assert ros.check_profile().level is level, text
        file.unlink()
        assert ros.check_profile().level is Severity.FAIL
        monkeypatch.delenv(name)
