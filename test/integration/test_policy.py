# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The bundled policy walks the quadruped through ROS, the same in every run, as the page says."""

import math
from pathlib import Path
import random
import shlex
import time

from bridge_harness import wait_until
from geometry_msgs.msg import Twist
from geometry_msgs.msg import Vector3
from nav_msgs.msg import Odometry
import numpy as np
import pytest
from simulations import Program
from simulations import ServerProgram
from stamps import ns_of
from std_msgs.msg import Header
from urlab_msgs import srv
import yaml

pytest.importorskip('onnxruntime')

ROOT = Path(__file__).parents[2]
PAGE = ROOT / 'docs' / 'policy.md'
PERIOD_NS = 20_000_000
STARTED = 110  # instants: it has stood up
LONG, SHORT = STARTED + 175, STARTED + 25  # instants: 3.5 s and 0.5 s of walking


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
        self.rows = {}  # stamp -> odometry
        self._random = random.SystemRandom()
        self._publisher = listener.node.create_publisher(Header, 'seen', 1)
        listener.node.create_subscription(Odometry, 'odom', self._take, 10)

    def _take(self, odometry):
        stamp = odometry.header.stamp
        if stamp.sec == stamp.nanosec == 0:
            self.rows = {}
        self.rows[ns_of(stamp)] = odometry
        if self._random.random() < 0.3:  # every answer takes another time
            time.sleep(self._random.uniform(0.0, 0.012))
        self._publisher.publish(Header(stamp=stamp))


@pytest.fixture
def walking(simulation, keep, tmp_path):
    """The bundled policy on the quadruped in lockstep, with commands that do not time out."""
    words = ros_words('urlab up --world quadruped --ros-args -p cmd_vel_type:=none -p lockstep')
    given = parameters_of(words)
    assert given['lockstep_topics'] == '["joint_commands"]'
    given['lockstep_topics'] = '["joint_commands", "seen"]'
    _, _, listener = simulation(
        ServerProgram('--world=quadruped', '--cameras=off'), rpc_timeout=60.0, **given
    )
    content = yaml.safe_load((ROOT / 'config' / 'policy' / 'quadruped_trot.yaml').read_text())
    content['model'] = str(ROOT / 'config' / 'policy' / content['model'])
    content['command']['timeout'] = 0
    (tmp_path / 'walk.yaml').write_text(yaml.safe_dump(content))
    keep(
        Program(
            'urlab_ros_bridge.cli.main', 'policy', tmp_path / 'walk.yaml', '--ros-args',
            '-p', 'cmd_vel_type:=twist', *ros_words('urlab policy quadruped_trot --ros-args'),
            ROS_DOMAIN_ID=str(listener.context.get_domain_id()),
        )
    )  # fmt: skip
    return listener, Watcher(listener)


def test_it_walks_as_commanded_and_a_second_run_is_bit_identical(walking):
    listener, watcher = walking
    listener.publisher(Twist, 'cmd_vel').publish(Twist(linear=Vector3(x=0.3)))
    # The lockstep has begun: before it the server is live, and its ticks are no instants.
    wait_until(lambda: len(watcher.rows) > 2 and np.ptp(list(watcher.rows)[-2:]) == PERIOD_NS)
    runs = []
    for last in (LONG, SHORT):
        assert listener.call(srv.Reset, '/reset', time=True, seed=5).success
        wait_until(lambda: 0 in watcher.rows)
        wait_until(lambda last=last: last * PERIOD_NS in watcher.rows)
        runs.append(list(watcher.rows.items()))
    run, second = runs
    assert [stamp for stamp, _ in run[:LONG]] == [number * PERIOD_NS for number in range(LONG)]
    assert run[:SHORT] == second[:SHORT]

    track = [odometry for _, odometry in run[STARTED:LONG]]
    # It has not fallen; the tilt is at most 0.5 rad.
    assert min(each.pose.pose.position.z for each in track) > 0.2
    turns = [each.pose.pose.orientation for each in track]
    assert max(math.hypot(turn.x, turn.y) for turn in turns) < math.sin(0.25)
    twists = [each.twist.twist for each in track[75:]]
    assert np.mean([twist.linear.x for twist in twists]) == pytest.approx(0.3, rel=0.25)
    assert abs(np.mean([twist.angular.z for twist in twists])) < 0.15
    driven = track[-1].pose.pose.position.x - track[0].pose.pose.position.x
    assert driven > 0.5 * 0.3 * 3.5
