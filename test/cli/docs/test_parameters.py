# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0

import pytest
import yaml

from urlab_ros_bridge.cli.docs.parameters import parameters_yaml
from urlab_ros_bridge.ros.program.features import Settings

pytestmark = [pytest.mark.ros, pytest.mark.distro]


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
