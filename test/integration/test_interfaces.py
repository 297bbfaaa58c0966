# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The contract of docs/interfaces.md, held against bridges that run on a world with everything."""

from functools import partial
import json
import re

from bridge_harness import LATCHED
from bridge_harness import start_bridged
from bridge_harness import wait_until
from bundled_server import start_server
from everything import write_world
from geometry_msgs.msg import Vector3
import pytest
from rclpy.action import get_action_server_names_and_types_by_node
from rclpy.qos import ReliabilityPolicy
from sensor_msgs.msg import Image
from std_msgs.msg import String
from urlab_msgs import msg
from urlab_msgs import srv

from urlab_ros_bridge.ros.features.declarations import pattern
from urlab_ros_bridge.ros.program.features import actions_of
from urlab_ros_bridge.ros.program.features import FEATURES
from urlab_ros_bridge.ros.program.features import services_of
from urlab_ros_bridge.ros.program.features import topics_of
from urlab_ros_bridge.ros.rclpy_tools import qos
from urlab_ros_bridge.ros.rclpy_tools.compat import load_interface

ACTIONS = actions_of(FEATURES)
SERVICES = services_of(FEATURES)
TOPICS = topics_of(FEATURES)


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
    ('set_qpos', {'articulation': 'arm', 'qpos': [0.0] * 4}),
    ('set_mocap_pose', {'body': 'mark'}),
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
def world(keep_all, tmp_path_factory):
    folder = tmp_path_factory.mktemp('everything')
    # Slow, so that less is computed beside the tests.
    return keep_all(start_server(model=write_world(folder), data_dir=folder, speed=0.2))


@pytest.fixture
def bridge_to(world, keep):
    """Return a function: parameters -> (bridge, listener), connected."""
    return partial(connected, keep, world)


@pytest.fixture(scope='module')
def plain_bridge(world, keep_all, tmp_path_factory):
    return connected(keep_all, world, data_dir=str(tmp_path_factory.mktemp('bags')))


def connected(keep, world, **parameters):
    bridge, listener = start_bridged(keep, world, **parameters)
    wait_until(lambda: bridge.settled)
    return bridge, listener


def type_name(kind):
    package, group, *_ = kind.__module__.split('.')
    return f'{package}/{group}/{kind.__name__}'


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
    for incoming in (False, True):
        table = [topic for topic in TOPICS if topic.incoming is incoming]
        for name, (kind, profile) in endpoints(node, incoming).items():
            fitting = [row for row in table if row.fits(name) and kind in row.types]
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
        assert len(names) == len(set(names))
    assert {topic.name for topic in TOPICS} == reached
    # What others see is what the node says of itself.
    for incoming in (False, True):
        for name, (kind, _) in endpoints(many.node, incoming).items():
            seen = wait_until(
                lambda name=name: dict(listener.node.get_topic_names_and_types()).get(name)
            )
            assert kind in seen


def test_labels_name_the_object_of_each_colour(plain_bridge):
    _, listener = plain_bridge
    labels = listener.wait_for(String, '/arm/classes/labels', qos=LATCHED)
    known = {tuple(color) for color in json.loads(labels.data).values()}
    image = listener.wait_for(Image, '/arm/classes/image_raw')
    seen = {tuple(image.data[i : i + 3]) for i in range(0, len(image.data), 3)} - {(0, 0, 0)}
    assert seen and seen <= known


@pytest.mark.distro
def test_quality_of_service_can_be_overridden_and_root_services_left_out(bridge_to):
    values = {
        'odom.publisher.depth': 3,
        'odom.publisher.reliability': 'best_effort',
        'cmd_vel.subscription.depth': 7,
    }
    bridge, listener = bridge_to(
        root_services=False,
        **{f'qos_overrides./rover/{name}': value for name, value in values.items()},
    )
    kind = load_interface('std_srvs/srv/SetBool')
    assert listener.call(kind, '/urlab_bridge/e_stop', data=False).success
    assert listener.node.count_services('/e_stop') == listener.node.count_services('/reset') == 0
    # One node, whatever it offers.
    assert set(listener.node.get_node_names()) == {'listener', 'urlab_bridge'}
    _, profile = wait_until(lambda: endpoints(bridge.node, False).get('/rover/odom'))
    assert (profile.depth, profile.reliability) == (3, ReliabilityPolicy.BEST_EFFORT)
    _, profile = wait_until(lambda: endpoints(bridge.node, True).get('/rover/cmd_vel'))
    assert profile.depth == 7


@pytest.mark.distro
def test_actions_and_services_are_the_ones_on_the_page_and_work(plain_bridge):
    _, listener = plain_bridge
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
    for name, fields in REQUESTS:
        kind = load_interface(own[f'/urlab_bridge/{name}'][0])
        answer = listener.call(kind, f'/{name}', **fields)
        assert answer.success, f'{name} {fields}: {answer.message}'
    assert {name for name, _ in REQUESTS} == {row.name for row in SERVICES}


def test_randomised_masses_are_drawn_from_a_seed_for_the_chosen_bodies(plain_bridge):
    _, listener = plain_bridge

    def answer(**fields):
        return listener.call(srv.Randomize, '/randomize', **fields)

    chosen = {'articulation': 'leg', 'element_type': 'bodies', 'elements': ['leg_s*']}
    item = msg.RandomizeItem(kind='mass', low=0.5, high=2.0, log_uniform=True, **chosen)
    first, again = answer(items=[item], seed=5), answer(items=[item], seed=5, restore=True)
    assert first.success and again.success and first.values == again.values
    assert [each.element for each in first.values] == ['leg_shin']
    one = msg.RandomizeItem(kind='mass', low=1.0, high=1.0, bodies=['leg_shin'], together=True)
    (value,) = answer(items=[one]).values
    drawn = first.values[0].values[0]
    assert 0.5 < drawn / value.values[0] < 2.0 and drawn != value.values[0]
    assert not answer().values
    item.element_type = ''
    for items, code in (([one, one], 'bad_value'), ([item], 'missing_field')):
        assert answer(items=items).code == code


SWITCHES = {name for topic in TOPICS for name in topic.switches}


def test_switches_do_what_the_page_says(bridge_to):
    bridge, _ = bridge_to(**dict.fromkeys(SWITCHES, False))
    wait_until(lambda: '/rover/odom' in endpoints(bridge.node, False))
    for name in endpoints(bridge.node, False):
        # A base that is fixed to the world always says where it is.
        if name not in ('/arm/tf_static', '/leg/tf_static'):
            rows = [row for row in TOPICS if row.fits(name) and not row.incoming]
            assert not all(row.switches for row in rows), f'{name} is still there'
