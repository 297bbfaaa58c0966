# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The contract of docs/interfaces.md, held against bridges that run on a world with everything."""

import re
import threading

from bridge_harness import Bridge
from bridge_harness import free_domain
from bridge_harness import Listener
from bridge_harness import wait_until
from everything import write_world
from geometry_msgs.msg import Vector3
from nav_msgs.msg import Odometry
import pytest
from rclpy.action import get_action_server_names_and_types_by_node
from rclpy.qos import ReliabilityPolicy
from sensor_msgs.msg import Image

from urlab_ros_bridge.ros.bag.topics import RecordablePublisher
from urlab_ros_bridge.ros.features.declarations import pattern
from urlab_ros_bridge.ros.program.features import actions_of
from urlab_ros_bridge.ros.program.features import FEATURES
from urlab_ros_bridge.ros.program.features import services_of
from urlab_ros_bridge.ros.program.features import topics_of
from urlab_ros_bridge.ros.rclpy_tools import qos
from urlab_ros_bridge.ros.rclpy_tools.compat import load_interface
from urlab_ros_bridge.wire.ops import OPS

ACTIONS = actions_of(FEATURES)
SERVICES = services_of(FEATURES)
TOPICS = topics_of(FEATURES)


OUT = [topic for topic in TOPICS if not topic.incoming]
IN = [topic for topic in TOPICS if topic.incoming]
# rclpy's own.
COMMON = {'/rosout', '/parameter_events'}
# Each service with requests that it can carry out here, in this order.
REQUESTS = [
    ('set_mode', {}),
    ('set_mode', {'mode': 'live'}),
    ('pause', {'data': False}),
    ('reset', {'keyframe_name': 'folded'}),
    ('lockstep', {'enabled': True, 'topics': ['rover/cmd_vel']}),
    ('lockstep', {}),
    ('bag_start', {'name': 'run', 'topics': ['rover/odom']}),
    ('bag_stop', {}),
    ('set_speed', {'percent': 100.0}),
    ('set_twist', {'articulation': 'rover', 'linear': Vector3(x=0.1), 'timeout': 0.1}),
    ('e_stop', {'data': True}),
    ('e_stop', {'data': False}),
    ('apply_wrench', {'articulation': 'rover', 'duration': 0.01}),
    ('list_keyframes', {}),
    ('set_qpos', {'articulation': 'arm'}),
    ('set_qpos', {'articulation': 'arm', 'qpos': [0.0] * 4}),
    ('set_mocap_pose', {'body': 'mark'}),
    ('set_mocap_pose', {'body': 'mark', 'ignore_position': True, 'ignore_orientation': True}),
    ('read_mocap_pose', {'body': 'mark'}),
    ('get_contacts', {}),
    ('configure_controller', {'articulation': 'leg'}),
    ('set_sim_options', {}),
    ('set_control_source', {}),
    ('forward', {}),
    ('randomize', {}),
    ('recording_start', {}),
    ('step', {'n_steps': 2}),
    ('recording_stop', {}),
    ('recording_save', {'path': 'take.json'}),
    ('recording_clear', {}),
    ('replay_load', {'path': 'take.json'}),
    ('replay_list_sessions', {}),
    ('replay_set_active', {'name': 'take'}),
    ('set_mode', {'mode': 'direct'}),
    ('replay_start', {}),
    ('replay_stop', {}),
    ('set_mode', {'mode': 'live'}),
]


@pytest.fixture(scope='module')
def world(lasting_server, tmp_path_factory):
    folder = tmp_path_factory.mktemp('everything')
    words = ['--model', write_world(folder), '--data-dir', folder]
    return lasting_server(*words, '--speed', 20)  # less is computed beside the tests


@pytest.fixture
def bridge_to(world, keep):
    """Return a function: parameters -> (bridge, listener), connected."""

    def start(**parameters):
        domain = free_domain()
        listener = keep(Listener(domain))
        bridge = keep(Bridge(domain, world, **parameters))
        wait_until(lambda: bridge.link.state.connected)
        return bridge, listener

    return start


def type_name(kind):
    package, group, *_ = kind.__module__.split('.')
    return f'{package}/{group}/{kind.__name__}'


def rows_of(name, table):
    return [topic for topic in table if topic.fits(name)]


def endpoints(node, incoming):
    """Return name -> (type, quality of service) of what a bridge publishes, or listens to."""
    found = node.subscriptions if incoming else node.publishers
    return {
        each.topic_name: (type_name(each.msg_type), each.qos_profile)
        for each in found
        if each.topic_name not in COMMON
    }


def same(profile, name):
    wanted = getattr(qos, name)()
    fields = ('depth', 'reliability', 'durability', 'history')
    return all(getattr(profile, field) == getattr(wanted, field) for field in fields)


def check_topics(node, reached):
    for incoming, table in ((False, OUT), (True, IN)):
        for name, (kind, profile) in endpoints(node, incoming).items():
            fitting = [row for row in rows_of(name, table) if kind in row.types]
            assert fitting, f'{name} ({kind}) is not on the page'
            assert any(same(profile, row.profile) for row in fitting), f'{name}: {profile}'
            reached |= {row.name for row in fitting}


def test_every_topic_is_on_the_page_and_every_row_is_real(bridge_to):
    many, listener = bridge_to(
        gps_origin=[48.1, 11.6, 520.0],
        publish_initialpose=True,
        publish_map=True,
        publish_planning_scene=True,
        ros2_control=True,
    )
    one, _ = bridge_to(robots=['rover'], cmd_vel_type='twist_stamped')
    reached = set()
    for bridge in (many, one):
        wait_until(lambda bridge=bridge: bridge.cameras.threads)
        wait_until(lambda bridge=bridge: len(endpoints(bridge.node, True)) > 4)
        check_topics(bridge.node, reached)
        names = [each.topic_name for each in bridge.node.publishers]
        assert sorted(names) == sorted(set(names))
    assert {topic.name for topic in TOPICS} == reached
    # What others see is what the node says of itself.
    for incoming in (False, True):
        for name, (kind, _) in endpoints(many.node, incoming).items():
            seen = wait_until(
                lambda name=name: dict(listener.node.get_topic_names_and_types()).get(name)
            )
            assert kind in seen


def test_one_thread_publishes_everything(bridge_to, monkeypatch):
    threads, publish = {}, RecordablePublisher.publish

    def note(publisher, message):
        threads.setdefault(publisher.topic_name, set()).add(threading.current_thread().name)
        publish(publisher, message)

    monkeypatch.setattr(RecordablePublisher, 'publish', note)
    _, listener = bridge_to()
    listener.listen(Image, '/overview/image_raw')
    listener.listen(Odometry, '/rover/odom')
    assert listener.call(load_interface('std_srvs/srv/SetBool'), '/e_stop', data=False).success
    assert listener.call(load_interface('urlab_msgs/srv/Reset'), '/reset').success
    others = ('/e_stop/active', '/rover/reset_count', '/rover/robot_description')
    images = {'/overview/image_raw', '/arm/classes/labels'}
    wait_until(lambda: {*others, *images, '/rover/odom', '/tf_static'} <= threads.keys())
    assert all(names == {'stream'} for names in threads.values()), threads


@pytest.mark.distro
def test_quality_of_service_can_be_overridden(bridge_to):
    values = {'publisher.depth': 3, 'publisher.reliability': 'best_effort'}
    bridge, _ = bridge_to(
        **{f'qos_overrides./rover/odom.{name}': value for name, value in values.items()},
        **{'qos_overrides./rover/cmd_vel.subscription.depth': 7},
    )
    _, profile = wait_until(lambda: endpoints(bridge.node, False).get('/rover/odom'))
    assert (profile.depth, profile.reliability) == (3, ReliabilityPolicy.BEST_EFFORT)
    _, profile = wait_until(lambda: endpoints(bridge.node, True).get('/rover/cmd_vel'))
    assert profile.depth == 7
    # Those of other topics would be most of what `ros2 param list` shows.
    assert overrides(bridge) == {
        f'qos_overrides./rover/{topic}.{policy}'
        for topic in ('odom.publisher', 'cmd_vel.subscription')
        for policy in ('depth', 'history', 'reliability')
    }


def overrides(bridge):
    return {name for name in bridge.node._parameters if name.startswith('qos_overrides.')}


@pytest.mark.distro
def test_actions_and_services_are_the_ones_on_the_page(bridge_to):
    _, listener = bridge_to()
    node = listener.node

    def actions():
        found = get_action_server_names_and_types_by_node(node, 'urlab_bridge', '/')
        return {name: kinds for name, kinds in found if kinds[0].startswith('control_msgs/')}

    def services():
        found = dict(node.get_service_names_and_types_by_node('urlab_bridge', '/'))
        return {
            name: kinds
            for name, kinds in found.items()
            if kinds[0].partition('/')[0] in ('std_srvs', 'urlab_msgs')
        }

    wait_until(lambda: len(wait_until(actions)) == 5)
    for name, (kind,) in actions().items():
        assert [
            row
            for row in ACTIONS
            if row.type_name == kind and re.fullmatch(pattern(row.name), name)
        ], name
    own = {f'/urlab_bridge/{row.name}': [row.type_name] for row in SERVICES}
    wait_until(lambda: len(services()) >= 2 * len(SERVICES))
    assert services() == own | {f'/{row.name}': [row.type_name] for row in SERVICES}


@pytest.mark.distro
def test_every_service_works_and_makes_the_requests_on_the_page(bridge_to, tmp_path):
    bridge, listener = bridge_to(data_dir=str(tmp_path))
    made = []

    def record(client, ops):
        request = client._request

        def recorded(message, timeout):
            if message['op'] in ops and threading.current_thread().name != 'link':
                made.append(message['op'])
            return request(message, timeout)

        client._request = recorded

    record(bridge.link.client, OPS)
    # The session of commands, which the link polls by; what is urgent uses it.
    record(bridge.link.commands, ('set_paused', 'status'))
    asked = {row.name: set() for row in SERVICES}
    types = {row.name: load_interface(row.type_name) for row in SERVICES}
    for name, fields in REQUESTS:
        made.clear()
        answer = listener.call(types[name], f'/{name}', **fields)
        assert answer.success, f'{name} {fields}: {answer.message}'
        asked[name] |= set(made)
    for row in SERVICES:
        assert set(row.requests) <= set(OPS)
        # The e-stop goes through the queue of commands, and lockstep has a session of its own.
        elsewhere = row.name in ('e_stop', 'lockstep')
        assert asked[row.name] == (set() if elsewhere else set(row.requests)), row.name


def test_without_root_services_they_are_below_the_node_alone(bridge_to):
    _, listener = bridge_to(root_services=False)
    assert listener.call(
        load_interface('std_srvs/srv/SetBool'), '/urlab_bridge/e_stop', data=False
    ).success
    assert listener.node.count_services('/e_stop') == listener.node.count_services('/reset') == 0
    # One node, whatever it offers.
    assert set(listener.node.get_node_names()) == {'listener', 'urlab_bridge'}


SWITCHES = {name for topic in TOPICS for name in topic.switch.split(', ') if name}


def test_switches_do_what_the_page_says(bridge_to):
    bridge, _ = bridge_to(**dict.fromkeys(SWITCHES, False))
    wait_until(lambda: '/rover/odom' in endpoints(bridge.node, False))
    for name in endpoints(bridge.node, False):
        # A base that is fixed to the world always says where it is.
        if name not in ('/arm/tf_static', '/leg/tf_static'):
            assert not all(row.switch for row in rows_of(name, OUT)), f'{name} is still there'
