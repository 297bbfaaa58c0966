# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
from itertools import pairwise
import random
import threading
import time

from bridge_harness import Listener
from bridge_harness import wait_until
from bundled_server import ports_of
from geometry_msgs.msg import PointStamped
from geometry_msgs.msg import TwistStamped
from nav_msgs.msg import Odometry
import pytest
from rclpy.qos import QoSProfile
from rclpy.qos import ReliabilityPolicy
from sensor_msgs.msg import Imu
from sensor_msgs.msg import LaserScan
from small_model import EXTENSIONS
from stamps import ns_of
from std_msgs.msg import Empty
from std_srvs.srv import SetBool
from urlab_msgs import srv

from urlab_ros_bridge.client.client import Client

PERIOD = 0.02


class Controller:
    """Answers every odometry, each after a time of its own."""

    def __init__(self, listener, topics=('cmd_vel',), kinds=None):
        self._listener, self.node = listener, listener.node
        self.seen = []
        self._random = random.Random(7)
        kinds = kinds or {'cmd_vel': TwistStamped}
        self._publishers = {
            topic: self.node.create_publisher(kinds[topic], topic, 10) for topic in topics
        }
        self._subscription = self.node.create_subscription(Odometry, 'odom', self._take, 10)

    def _take(self, odometry):
        stamp = odometry.header.stamp
        self.seen.append(ns_of(stamp))
        for publisher in self._publishers.values():
            time.sleep(self._random.choice((0.0, 0.001, 0.004)))
            answer = publisher.msg_type()
            if hasattr(answer, 'header'):
                answer.header.stamp = stamp
            if isinstance(answer, TwistStamped):
                # Tells which instant it answers; never zero, which would be a stop.
                answer.twist.linear.x = 1.0 + self.seen[-1] * 1e-9
            publisher.publish(answer)

    def leave(self):
        self._listener.run(self._leave)

    def _leave(self):
        self.node.destroy_subscription(self._subscription)
        for publisher in self._publishers.values():
            self.node.destroy_publisher(publisher)


@pytest.fixture
def connected(small_server, bridged):
    def start(extensions=EXTENSIONS, **parameters):
        server = small_server(extensions=extensions, beat=True)
        # The limit does not hold in lockstep: every odometry is answered.
        parameters = {'cmd_vel_type': 'twist_stamped', 'odom_rate': 10.0, **parameters}
        bridge, listener = bridged(server, **parameters)
        wait_until(lambda: bridge.link.state.connected)
        return server, bridge, listener

    return start


@pytest.fixture
def another(keep):
    """Return a function that makes a listener beside that of a bridge."""
    return lambda listener: keep(Listener(listener.context.get_domain_id()))


def rounds(server):
    return len(server.of('step'))


def state(bridge):
    return bridge.lockstep.report()[1]


def check_order(server):
    """Hold the law: between two steps there is the answer to the first, and nothing else."""
    moves = [
        (request, when)
        for request, when in zip(list(server.requests), list(server.times), strict=False)
        if request['op'] in ('step', 'set_twist')
    ]
    moves = moves[next(n for n, (request, _) in enumerate(moves) if request['op'] == 'step') :]
    assert {request['op'] for request, _ in moves[::2]} == {'step'}
    for request, when in moves[1::2]:
        assert request['linear'][0] == pytest.approx(1.0 + when, abs=1e-6)
    for (_, before), (_, after) in pairwise(moves[::2]):
        assert after - before == pytest.approx(PERIOD)


@pytest.mark.parametrize('extensions', [EXTENSIONS, ()], ids=['extensions', 'stock'])
def test_every_answer_is_with_the_server_before_the_next_step(connected, extensions):
    server, bridge, listener = connected(extensions, lockstep_topics=['cmd_vel'], clock_rate=1.0)
    controller = Controller(listener)
    wait_until(lambda: rounds(server) > 10)
    listener.listen(Odometry, 'odom')  # a late subscriber does not cause repetitions
    wait_until(lambda: rounds(server) > 60)
    answered = bridge.lockstep.report()[2]['rounds']
    seen = list(controller.seen)
    check_order(server)
    # No instant was missed or repeated, and each had its clock.
    assert seen == sorted(set(seen)) and len(seen) >= answered
    assert bridge.stream._clock.count >= answered
    assert bridge.lockstep.end()
    # The executor takes the answers again.
    driven = len(server.of('set_twist'))
    wait_until(lambda: len(server.of('set_twist')) > driven)
    # It never ran by itself before, and goes back to what it was.
    modes = [request['mode'] for request in server.of('set_mode')]
    assert modes == ['direct', 'live'] and server.mode == 'live'


def test_silent_topics_are_reported_and_awaited_up_to_the_timeout(connected):
    server, bridge, listener = connected()
    listener.node.create_publisher(TwistStamped, 'cmd_vel', 1)
    answer = listener.call(srv.SetLockstep, '/lockstep', enabled=True, topics=['cmd_vel'])
    assert answer.success and '0.02' in answer.message
    wait_until(lambda: 'waiting for cmd_vel' in state(bridge))
    assert rounds(server) == 1
    off = listener.call(srv.SetLockstep, '/lockstep')
    assert off.success and server.mode == 'live'
    # Topics are those of the last time.
    on = listener.call(srv.SetLockstep, '/lockstep', enabled=True, timeout=0.05)
    assert on.success, on.message
    wait_until(lambda: rounds(server) > 5)
    assert bridge.lockstep.report()[2]['cmd_vel unanswered'] >= 3
    # Other terms take the place of these, without a moment in between.
    again = {'enabled': True, 'topics': ['cmd_vel'], 'period': 0.1, 'timeout': 0.05}
    assert listener.call(srv.SetLockstep, '/lockstep', **again).success
    wait_until(lambda: server.of('step')[-1]['n_steps'] == 50)
    assert listener.call(srv.SetLockstep, '/lockstep').success and server.mode == 'live'
    modes = [request['mode'] for request in server.of('set_mode')]
    assert modes[-3:] == ['direct', 'direct', 'live']


def test_requests_run_between_rounds(connected):
    server, bridge, listener = connected(lockstep_topics=['cmd_vel'])
    controller = Controller(listener)
    wait_until(lambda: rounds(server) > 5)
    refused = listener.call(srv.Step, '/step')
    assert (refused.success, refused.code) == (False, 'lockstep')
    assert listener.call(SetBool, '/pause', data=True).success
    stopped = rounds(server)
    # What moves while time is frozen does not make an instant come twice.
    server.data.qvel[0] += 1.0
    time.sleep(0.3)
    assert rounds(server) == stopped and state(bridge) == 'on: paused'
    assert len(set(controller.seen)) == len(controller.seen)
    assert listener.call(srv.Reset, '/reset', time=True).success
    assert listener.call(SetBool, '/pause', data=False).success
    wait_until(lambda: rounds(server) > stopped + 5)
    # The state after the reset is an instant like the others: it is answered before the next step.
    place = next(n for n, each in enumerate(server.requests) if each['op'] == 'reset')
    after = [each for each in list(server.requests)[place:] if each['op'] in ('step', 'set_twist')]
    begin = next(n for n, each in enumerate(after) if each['op'] == 'step')
    assert after[begin - 1]['linear'][0] == 1.0
    wait_until(lambda: controller.seen.count(0) == 1 and controller.seen[-1] > 0)
    change = listener.call(srv.SetMode, '/set_mode', mode='live')
    assert change.success and change.previous_mode == 'direct'
    assert not bridge.lockstep.on and server.mode == 'live'


def test_invalid_lockstep_requests_are_refused_with_the_reason(connected):
    server, bridge, listener = connected()

    def ask(**fields):
        return listener.call(srv.SetLockstep, '/lockstep', enabled=True, **fields)

    for fields, word in (
        ({}, 'lockstep_topics'),
        ({'topics': ['cmd_vel'], 'period': 0.005}, 'nearest is 0.004'),
        ({'topics': ['a b']}, "'a b'"),
        ({'topics': ['cmd_vel'], 'timeout': -1.0}, 'timeout'),
    ):
        answer = ask(**fields)
        assert (answer.success, answer.code) == (False, 'bad_value') and word in answer.message
    assert not bridge.lockstep.on and server.mode == 'live'
    assert ask(topics=['odom']).success
    wait_until(lambda: not bridge.lockstep.on)
    assert 'bridge itself' in state(bridge) and server.mode == 'live'
    # Another client changes the mode.
    Controller(listener)
    assert ask(topics=['cmd_vel']).success
    wait_until(lambda: rounds(server) > 3)
    server.mode = 'live'
    wait_until(lambda: not bridge.lockstep.on)
    assert state(bridge) == 'off: the mode was changed to live'


def test_late_subscribers_get_every_instant_and_changes_by_other_clients_are_published(bundled):
    server, bridge, listener = bundled({'world': 'rover'}, cmd_vel_type='twist_stamped')
    wait_until(lambda: bridge.link.state.connected)
    controller = Controller(listener)
    assert listener.call(srv.SetLockstep, '/lockstep', enabled=True, topics=['cmd_vel']).success
    wait_until(lambda: bridge.lockstep.report()[2].get('rounds', 0) > 5)
    scans = listener.listen(LaserScan, 'scan')
    imus = listener.listen(Imu, 'imu/data')
    wait_until(lambda: len(scans) > 3 and len(imus) > 20)
    # An Imu of every instant: ten steps of 2 ms.
    stamps = [ns_of(each) for each in imus[:20]]
    assert {later - earlier for earlier, later in pairwise(stamps)} == {20_000_000}
    with Client(**ports_of(server), shared=True) as other:
        for reset in (
            lambda: other.reset(),
            lambda: other.step(7),
            lambda: other.reset(keep_time=True),
            lambda: listener.call(srv.Reset, '/reset', time=True),
        ):
            reset()
            done = bridge.lockstep.report()[2]['rounds']
            wait_until(lambda done=done: bridge.lockstep.report()[2]['rounds'] > done + 20)
    seen = list(controller.seen)
    backwards = [later for earlier, later in pairwise(seen) if later < earlier]
    assert len(backwards) == 2 and max(backwards) < 10**9  # each reset was shown once
    twice = [(n, seen[n - 2 : n + 3]) for n in range(1, len(seen)) if seen[n] == seen[n - 1]]
    assert not twice


def test_any_topic_may_answer_and_a_node_may_be_replaced(connected, another):
    server, bridge, listener = connected()
    request = {'enabled': True, 'topics': ['done', '/ready'], 'period': 0.01}
    assert listener.call(srv.SetLockstep, '/lockstep', **request).success
    wait_until(lambda: 'publisher of done, /ready' in state(bridge))
    kinds = {'done': PointStamped, 'ready': Empty}
    first = Controller(another(listener), kinds, kinds)
    wait_until(lambda: rounds(server) > 10)
    first.leave()
    wait_until(lambda: 'publisher' in state(bridge))
    seen = rounds(server)
    Controller(another(listener), kinds, kinds)
    wait_until(lambda: rounds(server) > seen + 10)
    steps = {request['n_steps'] for request in server.of('step')}
    assert steps == {5}


def test_a_first_answer_that_nobody_received_is_requested_again(connected, another):
    server, bridge, listener = connected(lockstep_topics=['cmd_vel'])
    node, seen = another(listener).node, []
    # Found in the graph, so that rounds begin; the bridge wants reliable ones.
    profile = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
    unmatched = node.create_publisher(TwistStamped, 'cmd_vel', profile)
    matched = node.create_publisher(TwistStamped, 'cmd_vel', 1)

    def answer(odometry):
        if not rounds(server) or ns_of(odometry) != server.now:
            return  # a tick from before the first instant
        seen.append(server.now)
        message = TwistStamped(header=odometry.header)
        message.twist.linear.x = 1.0 + seen[-1] * 1e-9
        (matched if len(seen) > 1 else unmatched).publish(message)

    node.create_subscription(Odometry, 'odom', answer, 10)
    wait_until(lambda: rounds(server) > 10)
    assert seen[0] == seen[1] and seen[1:] == sorted(set(seen))
    check_order(server)
    assert bridge.lockstep.report()[2]['cmd_vel unanswered'] == 0


def test_a_bridge_that_ends_does_not_wait_for_a_server_that_is_stopped(connected):
    server, bridge, listener = connected(lockstep_topics=['cmd_vel'], rpc_timeout=60.0)
    Controller(listener)
    wait_until(lambda: rounds(server) > 3)
    ending = threading.Thread(target=bridge.node.stop)
    with server.lock:
        ending.start()
        wait_until(lambda: not ending.is_alive(), seconds=40.0)
