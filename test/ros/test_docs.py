# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest
import yaml

from urlab_ros_bridge.ros.docs import main
from urlab_ros_bridge.ros.docs import parameters_markdown
from urlab_ros_bridge.ros.docs import parameters_yaml
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


def test_pages_are_printed(capsys):
    assert main(['yaml']) == 0
    assert capsys.readouterr().out == parameters_yaml()
    assert main(['nonsense']) == 2
    assert 'markdown' in capsys.readouterr().err
