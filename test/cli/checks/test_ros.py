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


def test_domains(monkeypatch):
    levels = {'101': Severity.OK, '102': Severity.WARN, '233': Severity.FAIL, 'x': Severity.FAIL}
    for text, level in levels.items():
        monkeypatch.setenv('ROS_DOMAIN_ID', text)
        assert ros.check_domain().level is level, text


def test_the_shipped_profile_is_accepted_and_unsuitable_ones_are_reported(monkeypatch, tmp_path):
    assert ros.check_profile().level is Severity.OK
    file = tmp_path / 'profile.xml'
    monkeypatch.setenv(PROFILE_VARIABLES[-1], str(file))
    assert ros.check_profile().level is Severity.FAIL
    for text, level in (
        (shipped_file('config/fastdds.xml').read_text(), Severity.OK),
        ('<dds><segment_size>524288</segment_size></dds>', Severity.WARN),
        ('no xml', Severity.FAIL),
    ):
        file.write_text(text)
        assert ros.check_profile().level is level, text
