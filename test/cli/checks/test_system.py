# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import fcntl

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
