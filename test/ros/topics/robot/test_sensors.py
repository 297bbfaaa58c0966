# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
from bridge_harness import wait_until
from hypothesis import given
from hypothesis import strategies as st
from sensor_msgs.msg import Imu

from urlab_ros_bridge.ros.topics.robot.sensors import Scans

MS = 1_000_000


@given(period=st.integers(1, 130), rate=st.sampled_from([5, 10, 40]), start=st.integers(0, 999))
def test_each_scan_of_snapshots_is_published_once_with_its_own_time(period, rate, start):
    scans, published, cell = Scans(rate), [], 1000 // rate
    stamps = range(start, start + 30 * period, period)
    for stamp in stamps:
        made = scans.snapshot(stamp * MS, (stamp - stamp % cell) * MS)
        if made is not None:
            published.append(made)
    assert published == sorted({(stamp - stamp % cell) * MS for stamp in stamps})


def test_a_scan_of_a_row_is_not_repeated_from_a_snapshot():
    scans = Scans(10.0)
    assert scans.row(100 * MS) == 100 * MS
    assert scans.snapshot(120 * MS, 100 * MS) is None
    assert scans.snapshot(200 * MS, 200 * MS) == 200 * MS
    # That of the present tick may come again, for a new subscriber.
    assert scans.snapshot(200 * MS, 200 * MS) == 200 * MS
    scans.clear()
    # Those without a time are limited by the rate.
    published = [
        stamp for stamp in range(0, 400, 20) if scans.snapshot(stamp * MS, None) is not None
    ]
    assert published == [0, 100, 200, 300]


def test_the_sidecar_sets_topic_and_rate_of_a_sensor(bundled, tmp_path):
    (tmp_path / 'cart.xml').write_text(
        '<mujoco><option timestep="0.005"/><worldbody><body name="base_link"><freejoint/>'
        '<geom size="0.1"/><site name="imu"/></body></worldbody>'
        '<sensor><gyro site="imu"/><accelerometer site="imu"/></sensor></mujoco>'
    )
    (tmp_path / 'cart.yaml').write_text(
        'articulations: [{prefix: cart, model: cart.xml, '
        'sensor_topics: {imu: {topic: my/imu, rate: 20}}}]'
    )
    _, _, listener = bundled({'model': tmp_path / 'cart.yaml'})
    received = listener.listen(Imu, '/my/imu')
    wait_until(lambda: len(received) > 5)
    stamps = [message.header.stamp for message in list(received)]
    periods = [stamp.sec * 20 + stamp.nanosec // (50 * MS) for stamp in stamps]
    assert len(set(periods)) == len(periods)
    assert not listener.node.count_publishers('/imu/data')
