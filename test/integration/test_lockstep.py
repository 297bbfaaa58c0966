# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Lockstep with real programs: runs are the same bit for bit, whatever the nodes' timing."""

import itertools
import os
from pathlib import Path

from bridge_harness import wait_until
import pytest
from sensor_msgs.msg import Image
from std_msgs.msg import Header
from urlab_msgs import srv

COUNT = 150
HERE = Path(__file__).parent


@pytest.fixture
def controlled(simulation, programs):
    """A rover in lockstep with a controller; its lines can be read from its output."""
    server, bridge, listener = simulation(
        '--world', 'rover', lockstep_topics='["cmd_vel"]', cmd_vel_type='twist_stamped'
    )
    environment = {
        'PYTHONPATH': f'{HERE}{os.pathsep}{os.environ["PYTHONPATH"]}',
        'ROS_DOMAIN_ID': str(listener.context.get_domain_id()),
    }
    program = type(bridge)
    programs.append(program('lockstep_controller', COUNT, environment=environment))
    wait_until(lambda: listener.call(srv.SetMode, '/set_mode').current_mode == 'direct')
    begun = server.now_ns()
    wait_until(lambda: server.now_ns() > begun)  # by rounds, so that the controller is there
    return server, listener, programs[-1].process.stdout


def test_two_runs_are_bit_identical_and_images_may_answer(controlled):
    server, listener, output = controlled
    runs = []
    for _ in range(2):
        assert listener.call(srv.Reset, '/reset', time=True, seed=5).success
        runs.append(output.readline().split())
    whole, digest, x, y = runs[0]
    # Every instant came, in order; and it drove, so that there was something to differ in.
    assert int(whole) == COUNT and float(x) > 0.3 and float(y) != 0.0
    assert len(digest) == 64 and runs[1] == runs[0]

    # A node that answers images gets one of each instant at which the camera is due: all, here.
    seen = []
    publisher = listener.node.create_publisher(Header, 'seen', 1)

    def receive(image):
        seen.append(image.header.stamp.sec * 10**9 + image.header.stamp.nanosec)
        publisher.publish(Header(stamp=image.header.stamp))

    listener.node.create_subscription(Image, '/front_rgb/image_raw', receive, 5)
    request = {'enabled': True, 'topics': ['seen'], 'period': 0.1}
    assert listener.call(srv.SetLockstep, '/lockstep', **request).success
    wait_until(lambda: len(seen) > 8)
    assert {after - before for before, after in itertools.pairwise(seen[2:])} == {10**8}
    assert server.now_ns() >= seen[-1]
