# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The shipped Foxglove layouts show what the bridge publishes, and call what it serves."""

import json
import re

from diagnostic_msgs.msg import DiagnosticArray
import pytest
from rosidl_parser.definition import AbstractNestedType
from sensor_msgs.msg import JointState

from test.config.running_world import CONFIG
from test.config.running_world import interface
from test.config.worlds import WORLDS

pytestmark = pytest.mark.ros

# Panels as the app names them in the files that it exports.
PANELS = {
    '3D',
    'CallService',
    'DiagnosticSummary',
    'Image',
    'Parameters',
    'Plot',
    'Publish',
    'Tab',
    'Teleop',
}
# A path of a plot: topic, then fields with or without an index.
PATH = re.compile(r'(/[\w/]+)((?:\.\w+(?:\[\d+\])?)+)$')


def load(world):
    return json.loads((CONFIG / 'foxglove' / f'{world}.json').read_text())


def panels(layout, wanted):
    return [each for name, each in layout['configById'].items() if name.startswith(f'{wanted}!')]


def placed(layout):
    """Return the ids of the panels in a layout: a tree of splits with ids at its ends."""
    if isinstance(layout, str):
        return [layout]
    assert layout['direction'] in ('row', 'column') and 0 < layout['splitPercentage'] < 100
    return placed(layout['first']) + placed(layout['second'])


def check_fields(message, values):
    """See that a message in JSON has no field that the class does not have."""
    known = message.get_fields_and_field_types()
    assert set(values) <= set(known), message
    for name, value in values.items():
        if isinstance(value, dict):
            check_fields(interface(known[name].replace('/', '/msg/')), value)
        else:
            setattr(message(), name, value)  # rclpy refuses what is of another type


def leaf_type(message, fields):
    """Return the type at the end of a path of fields, arrays without an index refused."""
    for field in fields:
        name, _, index = field.partition('[')
        kind = message.get_fields_and_field_types()[name]
        nested = isinstance(
            message.SLOT_TYPES[list(message.get_fields_and_field_types()).index(name)],
            AbstractNestedType,
        )
        assert nested == bool(index), field
        kind = re.sub(r'(sequence<|[>\[].*$)', '', kind)
        if '/' not in kind:
            return kind
        message = interface(kind.replace('/', '/msg/'))
    return message


def test_there_is_a_layout_for_every_world():
    assert {path.stem for path in (CONFIG / 'foxglove').glob('*.json')} == set(WORLDS)


@pytest.mark.parametrize('world', WORLDS)
def test_every_panel_has_settings_and_one_place(world):
    layout = load(world)
    places = placed(layout['layout'])
    for tab in panels(layout, 'Tab'):
        places += [place for each in tab['tabs'] for place in placed(each['layout'])]
        assert 0 <= tab['activeTabIdx'] < len(tab['tabs'])
    assert sorted(places) == sorted(layout['configById'])
    assert {place.partition('!')[0] for place in places} <= PANELS
    assert layout.keys() == {
        'configById', 'globalVariables', 'userNodes', 'playbackConfig', 'layout',
    }  # fmt: skip


def test_topics_and_frames_of_the_scene_are_there(running):
    (scene,) = panels(load(running.name), '3D')
    assert {f'/{space}robot_description' for space in running.robots} <= set(scene['topics'])
    assert set(scene['topics']) <= set(running.topics)
    assert scene['followTf'] in running.roots()
    clouds = [name for name in scene['topics'] if name.endswith('/points')]
    assert not any(scene['topics'][name]['visible'] for name in clouds)
    for image in panels(load(running.name), 'Image'):
        topics = image['imageMode']
        assert running.topics[topics['imageTopic']] == ['sensor_msgs/msg/Image']
        assert running.topics[topics['calibrationTopic']] == ['sensor_msgs/msg/CameraInfo']


def test_plots_show_numbers_that_are_there(running):
    for plot in panels(load(running.name), 'Plot'):
        for series in plot['paths']:
            topic, fields = PATH.match(series['value']).groups()
            (name,) = running.topics[topic]
            assert leaf_type(interface(name), fields[1:].split('.')) in ('double', 'float')
            if name.endswith('JointState'):
                message = running.first(JointState, topic, False)
                index = int(re.search(r'\[(\d+)\]', fields)[1])
                assert message.name[index] == series['label']
            if series['timestampMethod'] == 'headerStamp':
                assert hasattr(interface(name)(), 'header')


def test_diagnostics_come(running):
    (panel,) = panels(load(running.name), 'DiagnosticSummary')
    assert running.first(DiagnosticArray, panel['topicToRender'], False).status


def test_services_are_there_and_take_what_is_sent(running):
    for panel in panels(load(running.name), 'CallService'):
        (name,) = running.services[panel['serviceName']]
        check_fields(interface(name).Request, json.loads(panel['requestPayload']))


def test_robots_that_drive_can_be_driven(running):
    layout = load(running.name)
    listened = {
        topic: infos[0].topic_type
        for topic in running.topics
        if (infos := running.listener.node.get_subscriptions_info_by_topic(topic))
    }
    driven = {panel['topic'] for panel in panels(layout, 'Teleop')}
    # Every robot takes cmd_vel; those without a drive hold it for a policy.
    assert driven == running.driven & set(listened)
    for panel in panels(layout, 'Publish'):
        assert panel['topicName'] in driven
        check_fields(interface(panel['datatype']), json.loads(panel['value']))
    # The robot stops when no command came for cmd_vel_timeout (0.5 s).
    assert all(panel['publishRate'] >= 4 for panel in panels(layout, 'Teleop'))
