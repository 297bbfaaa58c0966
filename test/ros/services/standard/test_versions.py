# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Requests of version 2 of the standard, whose fields differ, and the lines of the page."""

from pathlib import Path
import re
from types import SimpleNamespace

from geometry_msgs.msg import PoseStamped
import pytest
import yaml

from urlab_ros_bridge.ros.services.standard import StandardServices

pytestmark = [pytest.mark.ros, pytest.mark.distro]
msg = pytest.importorskip('simulation_interfaces.msg')
PAGE = Path(__file__).parents[4] / 'docs' / 'simulation_interfaces.md'
LINE = re.compile(
    r'^    ros2 (?:service call|action send_goal) /(\w+) (\S+?)(?: "(.*)")?(?: --feedback)?$',
    re.MULTILINE,
)


@pytest.fixture
def context(yard):
    """Return what handlers get; the world is held at its start before and after."""
    yard.client.set_paused(True)
    yard.client.reset()
    yield yard.bridge.node.bridge.part(StandardServices).context
    yard.well('reset_simulation')


def test_a_resource_stands_for_uri_and_text(yard, context):
    from urlab_ros_bridge.ros.services.standard.spawn import spawn

    request = SimpleNamespace(
        name='second',
        allow_renaming=False,
        entity_resource=SimpleNamespace(uri='urlab:wall', resource_string=''),
        entity_namespace='',
        initial_pose=PoseStamped(),
    )
    assert spawn(context, request) == 'second'
    assert 'second' in yard.client.get_entities()


@pytest.mark.parametrize('pose', [False, True])
@pytest.mark.parametrize('twist', [False, True])
def test_the_caller_says_what_is_set(yard, context, pose, twist):
    from urlab_ros_bridge.ros.services.standard.entities import set_entity_state

    state = msg.EntityState()
    state.pose.position.x, state.twist.linear.x = 7.0, 2.0
    before = yard.client.get_entities(['ball'])['ball']
    request = SimpleNamespace(
        entity='ball', state=state, set_pose=pose, set_twist=twist, set_acceleration=False
    )
    set_entity_state(context, request, None)
    after = yard.client.get_entities(['ball'])['ball']
    assert (after.pos[0] == 7.0) == pose and (after.linear[0] == 2.0) == twist
    if not pose:
        assert after.pos.tolist() == before.pos.tolist()


def check(message, fields):
    """See that a message has the fields, and what is in them."""
    for name, value in fields.items():
        assert name in message.get_fields_and_field_types(), f'{message}: {name}'
        if isinstance(value, dict):
            check(getattr(message, name), value)
        elif not isinstance(value, list):
            setattr(message, name, value)


@pytest.mark.parametrize('line', LINE.findall(PAGE.read_text(encoding='utf-8')), ids=str)
def test_the_commands_of_the_page_are_requests_of_the_table(line):
    from urlab_ros_bridge.ros.rclpy_tools.compat import load_interface
    from urlab_ros_bridge.ros.services.standard import ENTRIES

    name, type_name, fields = line
    rows = {row.name: row for row in ENTRIES}
    assert rows[name].type_name == type_name
    kind = load_interface(type_name)
    request = kind.Goal() if rows[name].kind == 'action' else kind.Request()
    told = yaml.safe_load(fields or '{}')
    if 'entity_resource' in request.get_fields_and_field_types():
        told = {'entity_resource' if key == 'uri' else key: told[key] for key in told}
        told['entity_resource'] = {'uri': told['entity_resource']}
    check(request, told)
