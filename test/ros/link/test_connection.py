# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Restarts, other clients, silence, and what the bridge says about them."""

import itertools
import threading
import time

from bridge_harness import CapturedLog
from bridge_harness import PATIENCE
from bridge_harness import wait_until
from diagnostic_msgs.msg import DiagnosticArray
from nav_msgs.msg import Odometry
import pytest
from sensor_msgs.msg import Imu
from sensor_msgs.msg import JointState
from simulation_interfaces import srv as standard
from small_model import EXTENSIONS
from small_model import XML
from urlab_msgs import msg
from urlab_msgs import srv

from urlab_ros_bridge.client.client import Client
from urlab_ros_bridge.ros.extras.standard.simulation_state import State
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feature import Part
from urlab_ros_bridge.ros.link import connection
from urlab_ros_bridge.ros.link import world
from urlab_ros_bridge.ros.link.link_state import Phase
from urlab_ros_bridge.ros.program.features import FEATURES


def test_another_world_after_a_restart_is_discovered(small_server, bridged):
    first = small_server()
    bridge, listener = bridged(first)
    assert listener.wait_for(JointState, 'joint_states').name == ['shoulder', 'lift']
    first.close()
    first.close = lambda: None
    small_server(ports=first.ports, model_xml=XML.replace('{p}_shoulder', '{p}_elbow'))
    listener.wait_for(
        JointState, 'joint_states', lambda message: message.name == ['elbow', 'lift']
    )
    assert bridge.link.reconnects == 1


def test_the_bridge_does_not_take_back_the_session_of_a_stock_server(small_server, bridged):
    server = small_server(extensions=())
    bridge, listener = bridged(server)
    wait_until(lambda: bridge.link.state.connected)
    user = Client('127.0.0.1', server.ports['rpc'])
    user.connect()
    hellos = len(server.of('hello'))
    server.mode = 'direct'  # no more ticks: the bridge keeps its session alive
    wait_until(lambda: len(server.of('get_contacts')) > 0)
    server.mode = 'live'
    wait_until(lambda: bridge.stream.silence < 0.5)
    del listener
    assert len(server.of('hello')) <= hellos + 1
    user.close()


class Reading(Part):
    """A part that is busy with each world."""

    def __init__(self, read):
        self.take_world = read


def test_requests_during_discovery_wait_without_delaying_others(small_server, bridged):
    reading, go_on = threading.Event(), threading.Event()

    def read_slowly(plan, handshake):
        reading.set()
        assert go_on.wait(PATIENCE)

    slow = Feature('slow', attach=lambda bridge: Reading(read_slowly))
    bridge, listener = bridged(small_server(), features=(*FEATURES, slow))
    assert reading.wait(PATIENCE)
    # Topics are there already, so users will call services too.
    assert listener.wait_for(Odometry, 'odom')
    speed = listener.node.create_client(srv.SetSpeed, '/set_speed')
    entities = listener.node.create_client(standard.GetEntities, '/get_entities')
    assert speed.wait_for_service(PATIENCE) and entities.wait_for_service(PATIENCE)
    waiting = [
        speed.call_async(srv.SetSpeed.Request(percent=50.0)),
        entities.call_async(standard.GetEntities.Request()),
    ]
    # These need no world, and are answered by the same threads.
    assert listener.call(srv.BagStop, '/bag_stop').code == 'bag_not_active'
    state = listener.call(standard.GetSimulationState, '/get_simulation_state')
    assert state.state.state == State.LOADING_WORLD
    assert not any(each.done() for each in waiting)
    assert bridge.link.state.phase is Phase.PREPARING
    go_on.set()
    wait_until(lambda: all(each.done() for each in waiting))
    assert waiting[0].result().success and bridge.link.state.connected


def test_statistics_hold_what_was_measured(small_server, bridged):
    server = small_server(rate=100)
    _, listener = bridged(server)
    listener.listen(Odometry, 'odom')
    found = listener.wait_for(
        msg.BridgeStatistics,
        'urlab_bridge/statistics',
        lambda message: (
            message.message_rate > 50
            and any(each.name == '/odom' and each.rate for each in message.streams)
        ),
    )
    assert found.connected and found.server_mode == 'live' and not found.paused
    assert 10 < found.tick_rate < 105  # 100 on a machine that has nothing else to do
    # 2 ms of simulation a tick.
    assert found.real_time_factor == pytest.approx(found.tick_rate * 0.002, rel=0.05)
    assert 0 < found.latency_p50 <= found.latency_p99 < 5.0
    stream = next(stream for stream in found.streams if stream.name == '/odom')
    assert stream.rate == pytest.approx(found.tick_rate, rel=0.2)


def test_malformed_rows_are_counted_and_other_topics_continue(small_server, bridged):
    server = small_server()
    honest = server._send
    server._send = lambda topic, payload: honest(
        topic, payload[:5] if topic.endswith('sensor/gyro') else payload
    )
    _, listener = bridged(server)
    listener.listen(Odometry, 'odom')
    listener.listen(Imu, 'imu/data')

    def warned(message):
        return [s for s in message.status if s.name.endswith('imu/data') and s.level == b'\1']

    listener.wait_for(DiagnosticArray, '/diagnostics', warned)
    assert listener.received['odom'] and not listener.received['imu/data']


@pytest.mark.parametrize(
    ('extensions', 'answer'), [(EXTENSIONS, {'entities': 7}), ((), {'manager_present': False})]
)
def test_an_unusable_server_is_retried_slowly_and_logged_once(
    small_server, bridged, capfd, monkeypatch, extensions, answer
):
    """Each hello would end the session of another client of a stock server."""
    monkeypatch.setattr(connection, 'SLOW_RETRY_SECONDS', 1.0)
    times = []
    server = small_server(extensions=extensions)
    hello = server.handler('hello')

    def odd_hello(request):
        times.append(time.monotonic())
        return {**hello(request), **answer}

    server.answer('hello', odd_hello)
    bridge, _ = bridged(server)
    log = CapturedLog(capfd)
    wait_until(lambda: len(times) >= 3)
    assert all(new - old >= 1.0 for old, new in itertools.pairwise(times))
    assert bridge.link.state.phase is Phase.REFUSED
    assert len(log.with_words(bridge.link.state.problem)) == 1
    server.answer('hello', hello)
    wait_until(lambda: bridge.link.state.connected)


@pytest.mark.filterwarnings('ignore::pytest.PytestUnhandledThreadExceptionWarning')
def test_an_unexpected_error_while_publishing_ends_the_bridge(small_server, bridged, monkeypatch):
    bridge, _ = bridged(small_server())
    wait_until(lambda: bridge.settled)
    failures = []
    monkeypatch.setattr(bridge.node.bridge, 'fail', failures.append)
    monkeypatch.setattr(type(bridge.world.topics), 'publish', lambda *_: 1 / 0)
    wait_until(lambda: failures)
    assert 'ZeroDivisionError' in str(failures[0])


def test_observing_names_a_robot_that_does_not_exist_and_shows_the_others(small_server, bridged):
    _, listener = bridged(small_server(), observe_only=True, robots=['bot', 'bto'])
    assert listener.wait_for(Odometry, 'odom')

    def names_it(message):
        status = message.status[0]
        return status.level == b'\2' and "'bto'" in status.message

    listener.wait_for(DiagnosticArray, '/diagnostics', names_it)


def test_a_world_whose_topics_cannot_be_made_is_reported(small_server, bridged, monkeypatch):
    make = world.WorldTopics

    def fails(*arguments, plan, **more):
        return [][1] if plan.robots else make(*arguments, plan=plan, **more)

    monkeypatch.setattr(world, 'WorldTopics', fails)
    bridge, listener = bridged(small_server())

    def reports_it(message):
        return 'cannot be made: IndexError' in message.status[0].message

    listener.wait_for(DiagnosticArray, '/diagnostics', reports_it)
    assert not bridge.world.plan.robots
    assert bridge.node.count_publishers('/odom') == 0


def test_observing_continues_after_an_error(small_server, bridged, monkeypatch):
    plan, calls = connection.plan_topics, []

    def fails_once(*arguments):
        calls.append(arguments)
        return plan(*arguments) if len(calls) > 1 else [][1]

    monkeypatch.setattr(connection, 'plan_topics', fails_once)
    monkeypatch.setattr(connection, 'SLOW_RETRY_SECONDS', 0.1)
    _, listener = bridged(small_server(), observe_only=True)
    assert listener.wait_for(Odometry, 'odom')
