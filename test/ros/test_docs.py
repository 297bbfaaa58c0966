# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest
import yaml

from urlab_ros_bridge.ros.convert.sensor_table import SENSOR_KINDS
from urlab_ros_bridge.ros.docs import main
from urlab_ros_bridge.ros.docs import parameters_markdown
from urlab_ros_bridge.ros.docs import parameters_yaml
from urlab_ros_bridge.ros.frame_table import FRAMES
from urlab_ros_bridge.ros.interface_docs import interfaces_markdown
from urlab_ros_bridge.ros.interfaces import ACTIONS
from urlab_ros_bridge.ros.interfaces import TOPICS
from urlab_ros_bridge.ros.services import SERVICES
from urlab_ros_bridge.ros.services.base import BAD_REPLY
from urlab_ros_bridge.ros.services.base import BAD_VALUE
from urlab_ros_bridge.ros.services.base import NOT_CONNECTED
from urlab_ros_bridge.ros.services.base import OBSERVE_ONLY
from urlab_ros_bridge.ros.services.base import TIMEOUT
from urlab_ros_bridge.ros.settings import TABLE

pytestmark = pytest.mark.ros

ROOT = Path(__file__).parents[2]


def flatten(values, path=''):
    for key, value in values.items():
        if isinstance(value, dict):
            yield from flatten(value, f'{path}{key}.')
        else:
            yield path + key, tuple(value) if isinstance(value, list) else value


def test_the_parameter_file_holds_every_default():
    parsed = yaml.safe_load(parameters_yaml())
    found = dict(flatten(parsed['/**']['ros__parameters']))
    assert found == {name: row.default for name, row in TABLE.items()}
    assert {name: type(value) for name, value in found.items()} == {
        name: type(row.default) for name, row in TABLE.items()
    }


def test_the_shipped_file_is_the_generated_one():
    assert (ROOT / 'config' / 'bridge.yaml').read_text() == parameters_yaml()


def test_the_page_of_the_bridge_names_every_service_and_code():
    page = (ROOT / 'docs' / 'bridge.md').read_text()
    for service in SERVICES:
        assert f'| `{service.name}` | {service.type_name} |' in page
    for code in (NOT_CONNECTED, OBSERVE_ONLY, TIMEOUT, BAD_VALUE, BAD_REPLY):
        assert f'`{code}`' in page


def test_the_table_is_well_formed():
    text = parameters_markdown()
    for name, row in TABLE.items():
        line = next(line for line in text.splitlines() if line.startswith(f'| `{name}` '))
        assert line.count('|') == 7 + row.metadata['text'].count('|')


def test_the_contract_names_parameters_that_exist():
    in_words = {'once', 'once a change', '1 Hz of wall time', "the camera's"}
    for topic in TOPICS:
        assert set(filter(None, topic.switch.split(', '))) <= set(TABLE), topic
        if topic.rate and topic.rate not in in_words and 'after a jump' not in topic.rate:
            assert topic.rate.startswith('50 Hz') or set(topic.rate.split(', ')) <= set(TABLE)
    for rule in FRAMES:
        assert not rule.switch or rule.switch in TABLE
        named = [word for text in (rule.parent, rule.child) for word in text.split('`')[1::2]]
        assert {word for word in named if word.islower()} <= set(TABLE)


def test_the_contract_knows_the_message_of_every_sensor():
    known = {kind for topic in TOPICS for kind in topic.types}
    assert {kind.message for kind in SENSOR_KINDS.values()} <= known


def test_the_contract_page_has_every_row():
    page = interfaces_markdown()
    rows = [*TOPICS, *ACTIONS, *SERVICES]
    assert all(f'| `{row.name}` |' in page for row in rows)
    assert 'reliable, transient local, 1' in page and 'best effort, 1' in page


def test_pages_are_printed(capsys):
    assert main(['yaml']) == 0
    assert capsys.readouterr().out == parameters_yaml()
    assert main(['nonsense']) == 2
    assert 'markdown' in capsys.readouterr().err
