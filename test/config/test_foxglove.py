# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The shipped Foxglove layouts show what the bridge publishes, and call what it serves."""

import json

from test.config.running_world import CONFIG
from test.config.running_world import interface


def load(world):
    return json.loads((CONFIG / 'foxglove' / f'{world}.json').read_text())


def panels(layout, wanted):
    return [each for name, each in layout['configById'].items() if name.startswith(f'{wanted}!')]


def check_fields(message, values):
    """See that a message in JSON has no field that the class does not have."""
    known = message.get_fields_and_field_types()
    assert set(values) <= set(known), message
    for name, value in values.items():
        if isinstance(value, dict):
            check_fields(interface(known[name].replace('/', '/msg/')), value)
        else:
            setattr(message(), name, value)  # rclpy refuses what is of another type


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


def test_services_exist_and_accept_the_fields_of_the_page(running):
    for panel in panels(load(running.name), 'CallService'):
        (name,) = running.services[panel['serviceName']]
        check_fields(interface(name).Request, json.loads(panel['requestPayload']))
