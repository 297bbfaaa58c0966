# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A feature is one file: what it declares is on DDS, and what it breaks is its own alone."""

from bridge_harness import CapturedLog
from bridge_harness import LATCHED
from bridge_harness import wait_until
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
import pytest
from rclpy.parameter import Parameter
from std_msgs.msg import String
from urlab_msgs.srv import Reset

from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feature import Command
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feature import FeatureFailed
from urlab_ros_bridge.ros.features.feature import Part
from urlab_ros_bridge.ros.features.feature import Status
from urlab_ros_bridge.ros.features.feed import Observer
from urlab_ros_bridge.ros.link import connection
from urlab_ros_bridge.ros.link.connection import ServerLink
from urlab_ros_bridge.ros.plan.plan import WorldPlan
from urlab_ros_bridge.ros.program.features import FEATURES

ODD = Topic('{robot}/odd', ('std_msgs/msg/String',), 'sensor')
ODD_COMMAND = Topic('{robot}/odd_command', ('geometry_msgs/msg/Twist',), 'command', incoming=True)


def report_of(listener, *words):
    """Return the entry of the features in /diagnostics, once it contains these words."""

    def text_of(message):
        return next(s for s in message.status if s.name.endswith(': features'))

    def has_words(message):
        found = text_of(message)
        text = f'{found.message} {" ".join(pair.value for pair in found.values)}'
        return all(word in text for word in words)

    return text_of(listener.wait_for(DiagnosticArray, '/diagnostics', has_words))


def is_extra(feature):
    hooks = (feature.attach, feature.commands, *(each.handler for each in feature.services))
    return any('.ros.extras.' in hook.__module__ for hook in hooks if hook is not None)


def test_the_core_works_without_extras(small_server, bridged):
    server = small_server()
    core = tuple(feature for feature in FEATURES if not is_extra(feature))
    assert len(FEATURES) - len(core) >= 7
    _, listener = bridged(server, features=core)
    assert listener.wait_for(Odometry, 'odom')
    listener.publisher(Twist, 'cmd_vel').publish(Twist())
    wait_until(lambda: server.of('set_twist'))
    assert listener.call(Reset, '/reset', time=True).success


MOTTO = Topic('motto', ('std_msgs/msg/String',), 'latched')


def test_a_latched_topic_is_published_and_a_duplicate_is_reported(small_server, bridged):
    taken = Feature('motto', world_feeds=lambda world: world.once(MOTTO, String(data='first')))
    late = Feature('other motto', world_feeds=lambda w: w.once(MOTTO, String(data='second')))
    bridge, listener = bridged(small_server(), features=(*FEATURES, taken, late))
    assert listener.wait_for(String, 'motto', qos=LATCHED).data == 'first'
    world = wait_until(lambda: bridge.world.topics)
    (note,) = (note for note in world.notes if 'motto' in note)
    assert 'other motto' in note


class Broken:
    """A feature of which everything raises, and counts how often."""

    def __init__(self):
        self.calls = {}

    def raises(self, name):
        def call(*arguments):
            self.calls[name] = self.calls.get(name, 0) + 1
            raise IndexError(f'{name} is broken')

        return call

    def attach(self, bridge):
        part, bridge.part(ServerLink).on_status = Part(), [self.raises('status')]
        for name in vars(Part):
            if not name.startswith('_') and name != 'start':
                setattr(part, name, self.raises(name))
        bridge.run_in_stream(self.raises('task'))
        return part

    def feeds(self, robot):
        robot.feed(ODD, self.raises('build'), wire=())
        raises = self.raises
        robot.observers.append(Observer(raises('update'), raises('clear'), robot.base_row))
        self.raises('feeds')()

    def wrong_status(self, bridge):
        part = Part()
        part.statuses = lambda: [Status('wrong', '', {}, 'no such level')]
        return part

    def commands(self, robot):
        command = Command()
        for name in ('tick', 'halt', 'jump', 'close'):
            setattr(command, name, self.raises(f'command {name}'))
        robot.subscribe(ODD_COMMAND, self.raises('receive'))
        robot.context.sender.put('odd', self.raises('send'))
        return [command]

    @property
    def feature(self):
        return Feature(
            'odd',
            attach=self.attach,
            feeds=self.feeds,
            world_feeds=self.raises('world_feeds'),
            latched=self.raises('latched'),
            commands=self.commands,
        )


def test_a_feature_that_raises_is_named_and_everything_else_continues(
    small_server, bridged, capfd
):
    server, broken, log = small_server(), Broken(), CapturedLog(capfd)
    # It comes first, so that everything else comes after it.
    first = FEATURES.index(connection.FEATURE) + 1
    wrong = Feature('wrong', attach=broken.wrong_status)
    features = (*FEATURES[:first], broken.feature, wrong, *FEATURES[first:])
    bridge, listener = bridged(server, features=features)
    listener.listen(String, 'odd')
    listener.publisher(Twist, 'odd_command').publish(Twist())
    cmd_vel = listener.publisher(Twist, 'cmd_vel')
    odom = listener.wait_for(Odometry, 'odom', lambda message: broken.calls.get('build', 0) > 9)
    assert 'IndexError' in report_of(listener, 'odd', 'no such level').message
    with server.lock:
        server.data.time = 0.0  # time goes back
    expected = {'jump', 'clear', 'command jump', 'receive', 'send', 'tick', 'statuses', 'latched'}
    wait_until(lambda: expected <= broken.calls.keys())
    first = len(listener.received['odom'])
    wait_until(lambda: len(listener.received['odom']) > first + 10)
    cmd_vel.publish(Twist())
    wait_until(lambda: server.of('set_twist'))
    assert odom.header.frame_id == 'odom'
    bridge.close()
    bridge.close = lambda: None
    assert {'stop', 'destroy', 'command close', 'status', 'task'} <= broken.calls.keys()
    assert sum(broken.calls.values()) > 50
    assert len(log.with_words("feature 'odd'")) == 1  # all of it is raised at one place


def test_a_topic_that_is_taken_with_another_type_is_left_out_alone(small_server, bridged):
    odom = Topic('{robot}/odom', ('geometry_msgs/msg/PoseStamped',), 'sensor')
    second = Feature(
        'second odom', feeds=lambda robot: robot.feed(odom, lambda stamp: PoseStamped(), wire=())
    )
    _, listener = bridged(small_server(), features=(*FEATURES, second))
    assert listener.wait_for(Odometry, 'odom')
    assert 'already published' in report_of(listener, 'second odom', "'odom'").message


def test_errors_are_shown_until_another_world_begins(small_server, bridged):
    server, odd = (
        small_server(),
        Feature('odd', latched=lambda plan, settings: {} if not plan.robots else [][1]),
    )
    bridge, listener = bridged(server, features=(*FEATURES, odd))
    assert 'IndexError' in report_of(listener, 'odd').message
    bridge.world.take(WorldPlan(), None, has_sim_time=True)
    listener.received['/diagnostics'].clear()
    assert 'no errors' in report_of(listener, 'no errors').message


@pytest.mark.parametrize('declared', [{'rate': 'odom_raet'}, {'switch': 'publish_odm'}])
def test_a_topic_that_names_an_unknown_parameter_is_reported(small_server, bridged, declared):
    topic = Topic('{robot}/odd', ('std_msgs/msg/String',), 'sensor', **declared)
    odd = Feature('odd', feeds=lambda robot: robot.feed(topic, lambda stamp: String(), wire=()))
    _, listener = bridged(small_server(), features=(*FEATURES, odd))
    assert 'unknown parameter' in report_of(listener, 'odd', *declared.values()).message


@pytest.mark.parametrize(
    ('attach', 'problem'), [(lambda bridge: [][1], 'IndexError'), (lambda bridge: None, 'a Part')]
)
def test_a_feature_that_cannot_be_attached_is_named(small_server, bridged, attach, problem):
    odd = Feature('odd', attach=attach)
    with pytest.raises(FeatureFailed, match=rf"'odd'.*{problem}"):
        bridged(small_server(), features=(*FEATURES, odd))


class Old(Part):
    """A part written for an earlier release."""

    def __init__(self):
        self.calls, self.others = [], set()
        self.all_started = lambda: self.others.add('started')
        self.changed = lambda settings: self.others.add(settings.odom_rate)
        self.extra_subscriptions = lambda: self.others.add('wire') or set()
        self.plan_changed = lambda plan: self.calls.append(plan)
        self.published = lambda plan, handshake: self.calls.append((plan, handshake))


def test_hooks_of_earlier_releases_are_called_with_a_warning(small_server, bridged, capfd):
    old, log = Old(), CapturedLog(capfd)
    feature = Feature(
        'old',
        attach=lambda bridge: old,
        latched=lambda plan, settings: {'motto': String(data='old')},
    )
    bridge, listener = bridged(small_server(), features=(*FEATURES, feature))
    plan, (same, handshake) = wait_until(lambda: old.calls[1:] and old.calls[:2])
    assert plan == same == bridge.world.plan and handshake is bridge.link.handshake
    bridge.node.set_parameters([Parameter('odom_rate', value=7.0)])
    wait_until(lambda: old.others == {'started', 7.0, 'wire'})
    assert listener.wait_for(String, 'motto', qos=LATCHED).data == 'old'
    assert len(log.with_words("'old'")) == 6
    with pytest.deprecated_call():
        assert bridge.node.bridge.plan is plan


@pytest.mark.parametrize('words', ['once', 'every tick, if it changed'])
def test_a_rate_in_words_is_taken_as_timing(words):
    with pytest.deprecated_call(match='timing'):
        topic = Topic('odd', (), 'sensor', rate=words)
    assert (topic.rate, topic.timing) == ('', words)


def test_switches_in_one_text_are_taken_apart():
    with pytest.deprecated_call(match='tuple'):
        topic = Topic('odd', (), 'sensor', switch='a, b')
    assert topic.switches == ('a', 'b') and Topic('odd', (), 'sensor').switches == ()
