# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""How old observations are when what follows from them takes effect."""

import pytest

from urlab_ros_bridge.gateways.simulation.clocks import LatencyMeter


def test_latency_is_that_of_the_oldest_image():
    meter = LatencyMeter('sim')
    assert meter.report() == {}
    meter.add({}, 5.0)
    meter.add({'a': 4.9, 'b': 4.7}, 5.0)
    meter.add({'a': 5.0}, 5.1)
    meter.add({'a': 9.0}, 5.2)  # from before a reset
    report = meter.report()
    assert report['count'] == 2
    assert (report['last'], report['max'], report['mean']) == pytest.approx((0.1, 0.3, 0.2))
