# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
from hypothesis import given
from hypothesis import strategies as st
import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from urlab_ros_bridge.ros.topics.robot.sensors import Scans  # noqa: E402

MS = 1_000_000


@given(period=st.integers(1, 130), rate=st.sampled_from([5, 10, 40]), start=st.integers(0, 999))
def test_each_scan_of_snapshots_comes_once_with_its_own_time(period, rate, start):
    scans, said, cell = Scans(rate), [], 1000 // rate
    stamps = range(start, start + 30 * period, period)
    for stamp in stamps:
        made = scans.snapshot(stamp * MS, (stamp - stamp % cell) * MS)
        if made is not None:
            said.append(made)
    assert said == sorted({(stamp - stamp % cell) * MS for stamp in stamps})


def test_a_scan_that_came_as_a_row_does_not_come_again_as_a_snapshot():
    scans = Scans(10.0)
    assert scans.row(100 * MS) == 100 * MS
    assert scans.snapshot(120 * MS, 100 * MS) is None
    assert scans.snapshot(200 * MS, 200 * MS) == 200 * MS
    # That of the present tick may come again, for a new subscriber.
    assert scans.snapshot(200 * MS, 200 * MS) == 200 * MS
    scans.clear()
    assert scans.snapshot(20 * MS, 0) == 0


def test_where_the_server_does_not_tell_the_rate_decides():
    scans = Scans(10.0)
    told = [stamp for stamp in range(0, 400, 20) if scans.snapshot(stamp * MS, None) is not None]
    assert told == [0, 100, 200, 300]
