# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A snapshot has the time of each of its scans."""

import numpy as np
import pytest

from urlab_ros_bridge.client.replies.observations import decode_snapshot


@pytest.mark.parametrize('steps', [7, 10, 65])
def test_a_scan_has_the_time_at_which_it_was_made(rover, steps):
    simulation = rover.simulation
    made, before = 0, None
    for _ in range(30):
        rover.ask('step', n_steps=steps)
        robot = decode_snapshot(simulation.observer.snapshot()).articulations['rover']
        now = simulation.engine.clock.stamp_ns
        stamp, values = robot.scan_stamps['scan'], robot.sensors['scan']
        # 10 Hz: the last multiple of 0.1 s.
        assert stamp == now - now % 10**8
        if stamp == made and before is not None:
            assert np.array_equal(values, before)
        made, before = stamp, values
