# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A gateway that follows a simulation never steps it."""

from urlab_ros_bridge.gateways.simspark.serving.paces import LivePace


def test_a_step_that_meets_another_mode_moves_nothing(rover, link, keep, urlab, monkeypatch):
    client, pace = urlab(rover), keep(LivePace(link(rover), '127.0.0.1'))
    # The mode as it was a moment ago, before another client began to step.
    monkeypatch.setattr(pace.link, 'mode', lambda: 'live')
    pace.observe({})
    before = client.set_mode('direct').previous
    try:
        step = client.forward().step
        for count in range(1, 4):
            assert client.step(5).step == step + 5 * count
            pace.observe({})
        assert client.forward().step == step + 15
    finally:
        client.set_mode(before)
    assert pace.observe({}).time > 0.0
