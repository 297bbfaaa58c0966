# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Resets, restarts and other clients: no topic ever mixes timelines."""

import statistics
import time

from bridge_harness import wait_until
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped
from geometry_msgs.msg import Twist
from geometry_msgs.msg import Vector3
from nav_msgs.msg import Odometry
import pytest
from rclpy.qos import QoSProfile
from rclpy.qos import ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu
from sensor_msgs.msg import JointState
from sensor_msgs.msg import LaserScan
from simulations import ServerProgram
from stamps import ns_of
from tf2_msgs.msg import TFMessage
from urlab_msgs import srv

TOPICS = (
    (Odometry, 'odom'),
    (JointState, 'joint_states'),
    (Imu, 'imu/data'),
    (TFMessage, '/tf'),
    (LaserScan, 'scan'),
    (PoseStamped, 'ground_truth/pose'),
    (PoseStamped, 'entities/pallet/pose'),
    (DiagnosticArray, '/diagnostics'),
)
PATIENT = QoSProfile(depth=2000, reliability=ReliabilityPolicy.RELIABLE)
# By default /clock keeps one message: here none may be lost.
PATIENT_CLOCK = {
    'qos_overrides./clock.publisher.depth': 2000,
}


def listen_to_all(listener):
    listener.listen(Clock, '/clock', PATIENT)
    for kind, topic in TOPICS:
        listener.listen(kind, topic, PATIENT)
    wait_until(lambda: all(listener.received.values()))


def wait_for_silence(listener):
    """Wait until the listener of a killed program has heard all that followed from it."""
    before, now = -1, 0
    while before < now:
        time.sleep(0.7)
        before, now = now, sum(topic != '/diagnostics' for _, topic, _ in list(listener.order))


def jumps_back(order):
    """
    Check the law, and return the stamps that time jumped to.

    In the order of writing, over all topics, stamps never fall except at a /clock.  A scan has the
    time at which it was made: where ticks were lost, a later one still brings the latest scan.
    """
    now, jumps = -1, []
    for _, topic, message in sorted(order, key=lambda entry: entry[0]):
        stamp = ns_of(message)
        if topic == 'scan' and 0 < now - stamp < message.scan_time * 1e9:
            continue
        if stamp < now:
            assert topic == '/clock', f'{topic} at {stamp} after {now}'
            jumps.append(stamp)
        now = stamp
    return jumps


@pytest.mark.slow
def test_resets_under_load_and_a_killed_server_never_mix_timelines(simulation, keep, request):
    resets = 20 if request.config.getoption('long') else 4
    first, _, listener = simulation(ServerProgram(), cmd_vel_type='twist', **PATIENT_CLOCK)
    listen_to_all(listener)
    publisher = listener.publisher(Twist, 'cmd_vel')
    for number in range(resets):
        for _ in range(4):
            publisher.publish(Twist(linear=Vector3(x=1.0), angular=Vector3(z=0.5)))
            time.sleep(0.05)
        keep_time = number % 2 == 0
        before = first.now_ns()
        response = listener.call(srv.Reset, '/reset', time=not keep_time)
        assert response.success and response.code == '', response
        now = ns_of(response.sim_time)
        assert now >= before if keep_time else now == response.step == 0
    wait_until(lambda: ns_of(listener.received['odom'][-1]) > 10**9)
    first.kill()
    wait_for_silence(listener)
    jumps = jumps_back(list(listener.order))
    assert len(jumps) == resets / 2
    # /clock shows the new time itself, not one from later on.
    assert statistics.median(jumps) < 50_000_000

    # The server comes back; its time passes so slowly that all of it is before the last one.
    last, heard = ns_of(listener.received['odom'][-1]), len(listener.order)
    keep(ServerProgram('--speed', 10, ports=first.ports))
    wait_until(lambda: len(listener.order) > heard + 80)
    fresh = [entry for entry in list(listener.order)[heard:] if entry[1] != '/diagnostics']
    assert max(ns_of(message) for _, _, message in fresh) < last, 'old data'
    assert len(jumps_back(list(listener.order))) == len(jumps) + 1
    # The bridge has a session again: services work.
    wait_until(lambda: listener.call(srv.Reset, '/reset', time=True).success)
