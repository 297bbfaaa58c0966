# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Reading of xr_input: the sample of the page, optional fields, errors."""

import json
import math

import pytest

from urlab_ros_bridge.gateways.virtual_field.errors import BadMessage
from urlab_ros_bridge.gateways.virtual_field.protocol.xr_input import read_xr_input

POSE = {'translation': [-0.2, 1.3, -0.4], 'rotation_xyzw': [0.0, 0.0, 0.0, 1.0]}
LEFT = {
    'pose': POSE,
    'velocity': {'linear': [0.0, 0.0, 0.0], 'angular': [0.0, 0.0, 0.0]},
    'grip': 1.0,
    'trigger': 0.5,
    'joystick': [0.1, -0.2],
    'buttons': {'trigger_click': False, 'grip_click': True, 'primary': False, 'secondary': False},
}
SAMPLE = {'timestamp': 1234.56, 'head_pose': POSE, 'controllers': {'left': LEFT}}


def changed(path, value):
    sample = json.loads(json.dumps(SAMPLE))
    *way, last = path.replace('left', 'controllers.left').split('.')
    place = sample
    for name in way:
        place = place[name]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return sample


def test_the_sample_of_the_page():
    sample = read_xr_input(SAMPLE)
    left = sample.controllers['left']
    assert sample.timestamp == 1234.56
    assert left.pose.translation == (-0.2, 1.3, -0.4)
    assert (left.grip, left.trigger, left.joystick) == (1.0, 0.5, (0.1, -0.2))
    assert left.pressed('grip_click') and not left.pressed('primary')


def test_a_controller_needs_its_pose_alone_and_others_are_ignored():
    sample = read_xr_input({**SAMPLE, 'controllers': {'right': {'pose': POSE}, 'foot': 3}})
    assert sample.controllers.keys() == {'right'}


def test_rotations_become_unit_length_and_sticks_stay_in_their_range():
    left = read_xr_input(changed('left.pose.rotation_xyzw', [0.0, 3.0, 0.0, 4.0]))
    assert math.hypot(*left.controllers['left'].pose.rotation) == pytest.approx(1.0)
    left = read_xr_input(changed('left.joystick', [7, -1.5])).controllers['left']
    assert left.joystick == (1.0, -1.0)


WRONG = {
    'timestamp': 'now',
    'head_pose': None,
    'controllers': [],
    'left.pose': None,
    'left.pose.translation': [1, 2],
    'left.pose.translation[2]': [1, 2, 1e30],
    'left.pose.rotation_xyzw': [0, 0, 0, 0],
    'left.grip': True,
    'left.velocity.angular': 3,
    'left.buttons.primary': 1,
}


@pytest.mark.parametrize('path', WRONG)
def test_an_invalid_field_is_named(path):
    with pytest.raises(BadMessage) as caught:
        read_xr_input(changed(path.partition('[')[0], WRONG[path]))
    assert str(caught.value).startswith(path.replace('left', 'controllers.left'))
