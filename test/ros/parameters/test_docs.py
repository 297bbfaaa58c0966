# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0

import pytest
import yaml

from urlab_ros_bridge.ros.parameters.docs import parameters_yaml
from urlab_ros_bridge.ros.plan.sensor_table import SENSOR_KINDS
from urlab_ros_bridge.ros.program.features import FEATURES
from urlab_ros_bridge.ros.program.features import Settings
from urlab_ros_bridge.ros.program.features import topics_of

TOPICS = topics_of(FEATURES)

pytestmark = pytest.mark.distro


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


def test_the_contract_knows_the_message_of_every_sensor():
    known = {kind for topic in TOPICS for kind in topic.types}
    assert {kind.message for kind in SENSOR_KINDS.values()} <= known
