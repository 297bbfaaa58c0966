# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest
import yaml

from urlab_ros_bridge.ros.link.connection import NOT_CONNECTED
from urlab_ros_bridge.ros.link.connection import OBSERVE_ONLY
from urlab_ros_bridge.ros.parameters.docs import parameters_yaml
from urlab_ros_bridge.ros.plan.sensor_table import SENSOR_KINDS
from urlab_ros_bridge.ros.program.features import FEATURES
from urlab_ros_bridge.ros.program.features import frames_of
from urlab_ros_bridge.ros.program.features import Settings
from urlab_ros_bridge.ros.program.features import topics_of
from urlab_ros_bridge.ros.services.base import BAD_REPLY
from urlab_ros_bridge.ros.services.base import BAD_VALUE
from urlab_ros_bridge.ros.services.base import TIMEOUT

FRAMES = frames_of(FEATURES)
TOPICS = topics_of(FEATURES)

pytestmark = [pytest.mark.ros, pytest.mark.distro]

ROOT = Path(__file__).parents[3]


def flatten(values, path=''):
    for key, value in values.items():
        if isinstance(value, dict):
            yield from flatten(value, f'{path}{key}.')
        else:
            yield path + key, tuple(value) if isinstance(value, list) else value


def test_the_parameter_file_holds_every_default():
    parsed = yaml.safe_load(parameters_yaml(Settings))
    found = dict(flatten(parsed['/**']['ros__parameters']))
    assert found == {name: row.default for name, row in Settings.TABLE.items()}
    assert {name: type(value) for name, value in found.items()} == {
        name: type(row.default) for name, row in Settings.TABLE.items()
    }


def test_the_page_of_the_bridge_names_every_code():
    page = (ROOT / 'docs' / 'bridge.md').read_text()
    for code in (NOT_CONNECTED, OBSERVE_ONLY, TIMEOUT, BAD_VALUE, BAD_REPLY):
        assert f'`{code}`' in page


def test_the_contract_names_parameters_that_exist():
    in_words = {'once', 'every tick', 'on change', '1 Hz of wall time', "the camera's"}
    for topic in TOPICS:
        assert set(filter(None, topic.switch.split(', '))) <= set(Settings.TABLE), topic
        if topic.rate and topic.rate not in in_words and 'after a jump' not in topic.rate:
            assert topic.rate.startswith('50 Hz') or set(topic.rate.split(', ')) <= set(
                Settings.TABLE
            )
    for rule in FRAMES:
        assert not rule.switch or rule.switch in Settings.TABLE
        named = [word for text in (rule.parent, rule.child) for word in text.split('`')[1::2]]
        assert {word for word in named if word.islower()} <= set(Settings.TABLE)


def test_the_contract_knows_the_message_of_every_sensor():
    known = {kind for topic in TOPICS for kind in topic.types}
    assert {kind.message for kind in SENSOR_KINDS.values()} <= known
