# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import fcntl

from urlab_ros_bridge.cli.checks import Severity
from urlab_ros_bridge.cli.checks import system


def test_a_segment_whose_lock_nobody_holds_is_a_leak(tmp_path):
    for name in ('fastrtps_aa', 'fastrtps_aa_el', 'fastdds_bb', 'fastdds_bb_sl', 'other'):
        (tmp_path / name).touch()
    both = [tmp_path / 'fastdds_bb', tmp_path / 'fastrtps_aa']
    assert system.leaked_segments(tmp_path) == both
    with (tmp_path / 'fastrtps_aa_el').open() as exclusive:
        fcntl.flock(exclusive, fcntl.LOCK_EX)
        assert system.leaked_segments(tmp_path) == both[:1]
        with (tmp_path / 'fastdds_bb_sl').open() as shared:
            fcntl.flock(shared, fcntl.LOCK_SH)
            assert system.leaked_segments(tmp_path) == []
    assert system.leaked_segments(tmp_path) == both


def test_a_segment_without_a_lock_file_is_left_alone(tmp_path):
    (tmp_path / 'fastrtps_cc').touch()
    assert system.leaked_segments(tmp_path) == []
    assert system.leaked_segments(tmp_path / 'nowhere') == []


def test_space_processors_and_clock_are_judged(tmp_path, monkeypatch):
    assert system.check_space(tmp_path / 'nowhere').level is Severity.WARN
    monkeypatch.setattr(system.os, 'sched_getaffinity', lambda pid: {0})
    assert system.check_processors().level is Severity.WARN
    monkeypatch.setattr(system.time, 'sleep', lambda seconds: None)
    assert 'ms late' in system.check_clock().found
    monkeypatch.setattr(system.time, 'time', lambda: 0.0)
    assert system.check_clock().level is Severity.WARN
