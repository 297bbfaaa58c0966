# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0

import pytest

from urlab_ros_bridge.ros.link.counters import Counters
from urlab_ros_bridge.ros.link.counters import RateMeter


def test_rates_are_differences_over_wall_time():
    counters, meter = Counters(ticks=100, messages=1000, advanced_ns=10**9), RateMeter()
    meter.measure(counters, 50.0)
    counters.ticks += 500
    counters.messages += 2500
    counters.advanced_ns += 10**9
    rates = meter.measure(counters, 52.0)
    assert (rates.tick_rate, rates.message_rate, rates.real_time_factor) == (250.0, 1250.0, 0.5)
    assert meter.measure(counters, 53.0).tick_rate == 0.0


def test_latencies_are_percentiles_in_seconds_of_the_last_period_that_had_any():
    counters, meter = Counters(), RateMeter()
    meter.measure(counters, 0.0)
    counters.latencies.extend(range(0, 101_000_000, 1_000_000))
    rates = meter.measure(counters, 1.0)
    assert rates.latency_p50 == pytest.approx(0.050)
    assert rates.latency_p99 == pytest.approx(0.099)
    assert meter.measure(counters, 2.0).latency_p50 == rates.latency_p50
    counters.latencies.append(7_000_000)
    assert meter.measure(counters, 3.0).latency_p50 == pytest.approx(0.007)
