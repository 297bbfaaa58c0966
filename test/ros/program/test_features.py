# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A feature is one file: what is declared there is on DDS, on the pages, in the parameters."""

from bridge_harness import LATCHED
from bridge_harness import LISTEN_BEST_EFFORT
from bridge_harness import wait_for_message
from bridge_harness import wait_until
from geometry_msgs.msg import PointStamped
import pytest
from rclpy.parameter import Parameter
from std_msgs.msg import String
from std_srvs.srv import Trigger

from test.ros.program.my_features import modules
from urlab_ros_bridge.ros.commands.commands import Commands
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feature import Part
from urlab_ros_bridge.ros.link.connection import ServerLink
from urlab_ros_bridge.ros.parameters.docs import parameters_markdown
from urlab_ros_bridge.ros.parameters.docs import parameters_yaml
from urlab_ros_bridge.ros.parameters.settings import settings_type
from urlab_ros_bridge.ros.program.features import FEATURES
from urlab_ros_bridge.ros.program.interface_docs import interfaces_markdown
from urlab_ros_bridge.ros.topics.clock import ClockParameters

pytestmark = pytest.mark.ros


HEIGHTS, CONTACTS = (made.FEATURE for made in modules())

# No new feature at the end is special: one in the middle does as well.
WITH_BOTH = (*FEATURES[:9], HEIGHTS, *FEATURES[9:], CONTACTS)


def test_a_new_topic_is_on_dds_with_its_parameter(small_server, bridged):
    bridge, listener = bridged(small_server(), features=WITH_BOTH)
    height = wait_for_message(listener, PointStamped, 'height', qos=LISTEN_BEST_EFFORT)
    assert height.header.frame_id == 'map'
    assert height.point.z == pytest.approx(
        bridge.stream.world.state.robots['bot'].base()[2], abs=1.0
    )
    (feed,) = (each for each in bridge.stream.world.feeds if each.topic == 'height')
    (result,) = bridge.node.set_parameters([Parameter('height_rate', value=-1.0)])
    assert not result.successful
    (result,) = bridge.node.set_parameters([Parameter('height_rate', value=1.0)])
    assert result.successful and feed.limiter.due(0)
    feed.limiter.count(0)
    assert not feed.limiter.due(10**9 - 1) and feed.limiter.due(10**9)


def test_a_new_service_says_why_it_cannot_while_there_is_no_server(bridged):
    class Nowhere:
        ports = (1, 2)

    _, listener = bridged(Nowhere(), features=WITH_BOTH)
    answer = listener.call(Trigger, '/count_contacts')
    assert not answer.success and answer.message.startswith('not_connected: ')


def test_both_are_on_the_pages_and_in_the_parameter_file():
    settings = settings_type(WITH_BOTH)
    page = interfaces_markdown(WITH_BOTH)
    assert '| `{robot}/height` | geometry_msgs/PointStamped |' in page
    assert '| `count_contacts` | std_srvs/srv/Trigger | Count the contacts of the present' in page
    assert '| `height_rate` | double | `0.0` | 0 to 10000 | yes |' in parameters_markdown(settings)
    assert '    height_rate: 0.0\n' in parameters_yaml(settings)
    assert settings().height_rate == 0.0
    assert 'height_rate' not in parameters_yaml(settings_type(FEATURES))


def test_no_two_features_offer_one_service_or_action():
    services = [service.name for feature in FEATURES for service in feature.services]
    assert len(services) == len(set(services))
    actions = [action.name for feature in FEATURES for action in feature.actions]
    assert len(actions) == len(set(actions))


def test_a_latched_topic_is_published_and_a_second_one_of_its_name_is_noted(small_server, bridged):
    taken = Feature('motto', latched=lambda plan, settings: {'motto': String(data='first')})
    late = Feature('other motto', latched=lambda plan, settings: {'motto': String(data='second')})
    bridge, listener = bridged(small_server(), features=(*FEATURES, taken, late))
    assert wait_for_message(listener, String, 'motto', qos=LATCHED).data == 'first'
    world = wait_until(lambda: bridge.stream.world)
    (note,) = (note for note in world.notes if 'motto' in note)
    assert 'other motto' in note


def test_a_part_is_called_at_its_moments(small_server, bridged):
    called = []

    class Witness(Part):
        def __init__(self, bridge):
            assert bridge.part(Commands) and bridge.part(ServerLink).state is not None

    def record(name):
        def call(self, *arguments):
            called.append(name)
            if name == 'changed':
                called.append(f'clock {arguments[0](ClockParameters).clock_rate:g}')
            return set()

        return call

    moments = [name for name in vars(Part) if not name.startswith('_')]
    for name in moments:
        setattr(Witness, name, record(name))
    bridge, _ = bridged(small_server(), features=(*FEATURES, Feature('witness', attach=Witness)))
    wait_until(lambda: 'tick' in called and 'beat' in called)
    bridge.node.set_parameters([Parameter('clock_rate', value=7.0)])
    bridge.node.stop()
    bridge.node.bridge.destroy()
    firsts = list(dict.fromkeys(called))
    assert set(moments) - {'statuses'} <= set(firsts)
    assert firsts[0] == 'start' and firsts[-2:] == ['stop', 'destroy']
    assert firsts.index('plan_changed') < firsts.index('published')
    assert firsts.index('jump') < firsts.index('tick')
    assert 'clock 7' in called
