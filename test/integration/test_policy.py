# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The bundled policy walks the quadruped through ROS, the same in every run, as the page says."""

import hashlib
import math
from pathlib import Path
import shlex

from bridge_harness import wait_until
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
import numpy as np
import pytest
from rclpy.serialization import deserialize_message
from std_msgs.msg import Header
from urlab_msgs import srv
import yaml

pytest.importorskip('onnxruntime')

ROOT = Path(__file__).parents[2]
PAGE = ROOT / 'docs' / 'policy.md'
PERIOD_NS = 20_000_000
STARTED = 110  # instants: it has stood up
LONG, SHORT = STARTED + 250, STARTED + 50  # instants: 5 s and 1 s of walking


def ros_words(start):
    """Return the ROS arguments of the line of the page that begins so, and ends with a period."""
    lines = [line.strip() for line in PAGE.read_text().splitlines()]
    (line,) = [line for line in lines if line.startswith(start)]
    words = shlex.split(line, comments=True)
    return words[words.index('--ros-args') + 1 :]


def parameters_of(words):
    assert set(words[::2]) == {'-p'}
    return dict(word.split(':=', 1) for word in words[1::2])


class Watcher:
    """Sees every instant, because it is waited for, and keeps what it sees from time 0 on."""

    def __init__(self, listener):
        self.received = 0
        self._begin()
        self._publisher = listener.node.create_publisher(Header, 'seen', 1)
        self._subscription = listener.node.create_subscription(
            Odometry, 'odom', self._take, 10, raw=True
        )

    def _begin(self):
        self.rows, self._digest, self.digests = [], hashlib.sha256(), {}

    def _take(self, data):
        odometry = deserialize_message(data, Odometry)
        stamp = odometry.header.stamp
        stamp_ns = stamp.sec * 10**9 + stamp.nanosec
        if stamp_ns == 0:
            self._begin()
        self.received += 1
        self._digest.update(data)
        pose, twist = odometry.pose.pose, odometry.twist.twist
        lean = pose.orientation.x**2 + pose.orientation.y**2
        self.rows.append(
            (stamp_ns, pose.position.x, pose.position.y, pose.position.z, math.acos(1 - 2 * lean),
             twist.linear.x, twist.linear.y, twist.angular.z)
        )  # fmt: skip
        self.digests[stamp_ns] = self._digest.hexdigest()
        self._publisher.publish(Header(stamp=stamp))


@pytest.fixture
def walking(simulation, programs, tmp_path):
    """The bundled policy on the quadruped in lockstep, with commands that do not time out."""
    words = ros_words('urlab up --world quadruped --ros-args -p cmd_vel_type:=none -p lockstep')
    given = parameters_of(words)
    assert given['lockstep_topics'] == '["joint_commands"]'
    given['lockstep_topics'] = '["joint_commands", "seen"]'
    _, bridge, listener = simulation('--world', 'quadruped', '--cameras', 'off', **given)
    content = yaml.safe_load((ROOT / 'config' / 'policy' / 'quadruped_trot.yaml').read_text())
    content['model'] = str(ROOT / 'config' / 'policy' / content['model'])
    content['command']['timeout'] = 0
    (tmp_path / 'walk.yaml').write_text(yaml.safe_dump(content))
    environment = {'ROS_DOMAIN_ID': str(listener.context.get_domain_id())}
    program = type(bridge)
    programs.append(
        program(
            'urlab_ros_bridge.cli.main', 'policy', tmp_path / 'walk.yaml', '--ros-args',
            '-p', 'cmd_vel_type:=twist', *ros_words('urlab policy quadruped_trot --ros-args'),
            environment=environment,
        )
    )  # fmt: skip
    return listener, Watcher(listener)


def test_it_walks_as_commanded_and_a_second_run_is_bit_identical(walking):
    listener, watcher = walking
    command = Twist()
    command.linear.x = 0.3
    listener.publisher(Twist, 'cmd_vel').publish(command)
    # The lockstep has begun: before it the server is live, and its ticks are no instants.
    wait_until(lambda: len(rows := watcher.rows) > 2 and rows[-1][0] - rows[-2][0] == PERIOD_NS)
    runs = []
    for last in (LONG, SHORT):
        assert listener.call(srv.Reset, '/reset', time=True, seed=5).success
        wait_until(lambda: watcher.rows and watcher.rows[0][0] == 0)
        wait_until(lambda last=last: last * PERIOD_NS in watcher.digests)
        runs.append((list(watcher.rows), dict(watcher.digests)))
    (rows, first), (_, second) = runs
    assert [row[0] for row in rows[:LONG]] == [number * PERIOD_NS for number in range(LONG)]
    assert first[SHORT * PERIOD_NS] == second[SHORT * PERIOD_NS]

    track = np.array(rows[STARTED:LONG])
    assert track[:, 3].min() > 0.2 and track[:, 4].max() < 0.5  # it has not fallen
    forward, turn = track[100:, 5].mean(), track[100:, 7].mean()
    assert forward == pytest.approx(0.3, rel=0.25)
    assert abs(turn) < 0.15
    assert track[-1, 1] - track[0, 1] > 0.5 * 0.3 * 5.0
