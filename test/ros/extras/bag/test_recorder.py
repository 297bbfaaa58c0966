# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A bag holds what the bridge publishes: all of it, once, in step with the simulation."""

import sys
import threading
from types import SimpleNamespace

from bag_reader import BagFile
from bag_reader import stamp_of
from bag_runs import advance
from bag_runs import begin
from bag_runs import contiguous
from bag_runs import end
from bridge_harness import wait_until
from geometry_msgs.msg import Twist
import pytest
from rclpy.serialization import deserialize_message
from urlab_msgs import srv


@pytest.mark.distro
def test_every_message_is_there_once_at_its_own_time(recording, published):
    server, bridge, _, _ = recording
    path = begin(bridge)
    advance(server, 0.15)
    (file,) = end(bridge)
    assert path.name == 'run' and (path / 'metadata.yaml').is_file()
    assert {'/clock', '/tf', '/tf_static', '/odom', '/joint_states', '/scan'} <= file.topics
    for topic in file.topics - {'/tf_static', '/robot_description', '/e_stop/active'}:
        sent = [data for name, data in published if name == topic]
        assert contiguous([data for _, data in file.of(topic)], sent), topic
    stamped = 0
    for topic, when, value in file.decoded:
        stamp = stamp_of(value)
        if stamp:  # static transforms have none
            assert when == stamp, topic
            stamped += 1
    assert stamped > 100
    assert all(log == publish for _, log, publish, _ in file.messages)
    # Each tick is complete, although the bag is the only subscriber.
    times = {name: [t for t, _ in file.of(name)] for name in ('/odom', '/joint_states', '/tf')}
    assert times['/odom'] == sorted(set(times['/odom'])) and len(times['/odom']) > 40
    first = max(each[0] for each in times.values())
    assert len({frozenset(t for t in each if t >= first) for each in times.values()}) == 1


def test_each_reset_that_sets_time_back_begins_a_file(recording):
    server, bridge, listener, _ = recording
    advance(server, 0.2)
    before = bridge.timeline.stamp_ns
    begin(bridge, topics=['odom'])
    advance(server, 0.05)
    assert listener.call(srv.Reset, '/reset').success
    advance(server, 0.05)
    assert listener.call(srv.Reset, '/reset', time=True, seed=5).success
    advance(server, 0.05)
    first, second = end(bridge)
    assert first.notes['episode']['number'] == '0' and second.notes['episode']['number'] == '1'
    assert first.notes['reset']['keep_time'] == 'true' and 'reset' not in second.notes
    cause = second.notes['episode']
    assert cause['cause'] == 'reset' and cause['seed'] == '5'
    times = [when for when, _ in first.of('/odom')]
    assert times == sorted(times) and times[0] >= before and times[-1] - times[0] > 0.05e9
    times = [when for when, _ in second.of('/odom')]
    assert times == sorted(times) and times[0] < 0.1e9 < before and times[-1] > times[0]


@pytest.mark.distro
def test_commands_are_recorded_when_they_are_received(recording):
    server, bridge, listener, _ = recording
    publisher = listener.node.create_publisher(Twist, 'cmd_vel', 10)
    wait_until(publisher.get_subscription_count)
    begin(bridge, topics=['cmd_vel', 'odom'])
    (odom,) = [feed for feed in bridge.world.topics.feeds if feed.topic == 'odom']
    before = odom.count
    wait_until(lambda: odom.count > before)
    wanted = []
    for number in range(1, 4):
        twist = Twist()
        twist.linear.x = number * 0.1
        publisher.publish(twist)
        wanted.append(twist)
        wait_until(lambda: len(server.of('set_twist')) >= len(wanted))
        advance(server, 0.01)
    (file,) = end(bridge)
    found = file.of('/cmd_vel')
    assert [deserialize_message(data, Twist) for _, data in found] == wanted
    ticks = {when for when, _ in file.of('/odom')}
    times = [when for when, _ in found]
    assert times == sorted(times) and set(times) <= ticks


def test_services_start_and_stop_bags_or_refuse_with_a_code(recording):
    server, _, listener, bags = recording

    def start(name, **fields):
        return listener.call(srv.BagStart, '/bag_start', name=name, **fields)

    assert listener.call(srv.BagStop, '/bag_stop').code == 'bag_not_active'
    assert start('run', topics=['odomm']).code == 'unknown_topic'
    assert start('run', topics=['(']).code == 'bad_value'
    assert start('../run').code == start('/elsewhere/run').code == 'path_not_writable'
    assert not list(bags.parent.rglob('run'))
    begun = start('run', topics=['odom', 'scan', 'joint.*'], exclude=['scan'])
    assert begun.success and begun.code == '' and begun.path == str(bags / 'run')
    assert {'/clock', '/odom', '/joint_states', '/tf', '/tf_static'} <= set(begun.topics)
    assert '/scan' not in begun.topics and '/imu/data' not in begun.topics
    assert start('other').code == 'bag_active' and not (bags / 'other').exists()
    advance(server, 0.1)
    stop, file = listener.call(srv.BagStop, '/bag_stop'), bags / 'run/run_0.mcap'
    assert stop.success and stop.code == '' and stop.path == begun.path
    assert stop.files == ['run_0.mcap'] and stop.bytes == file.stat().st_size
    assert stop.messages == len(BagFile(file).messages)
    assert start('run').code == 'path_not_writable'


def test_a_bag_of_the_parameters_begins_with_the_first_tick(small_server, bridged, tmp_path):
    server = small_server()
    bridge, _ = bridged(
        server, data_dir=str(tmp_path), bag='whole', bag_topics=['odom'], bag_compression='none'
    )
    wait_until(lambda: (bag := bridge.recorder.bag) and bag.files.messages > 50)
    bridge.close()
    bridge.close = lambda: None
    (path,) = (tmp_path / 'Bags' / 'whole').glob('*.mcap')
    file = BagFile(path)
    assert file.topics == {'/clock', '/tf', '/tf_static', '/odom'}
    assert file.of('/clock')[0][0] == int(file.notes['episode']['start_ns'])
    assert not [each for each in threading.enumerate() if each.name == 'bag']


def test_without_a_recent_mcap_bags_are_refused(recording, monkeypatch):
    _, _, listener, bags = recording
    for module in (None, SimpleNamespace(Writer=object)):
        monkeypatch.setitem(sys.modules, 'mcap.writer', module)
        assert listener.call(srv.BagStart, '/bag_start').code == 'bag_unavailable'
    assert not bags.exists()
