# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Wrong command lines: refused in one line that names the wrong value, and nothing is written."""

import pytest

from urlab_ros_bridge.cli.arguments.parser import parse
from urlab_ros_bridge.cli.commands import find_command
from urlab_ros_bridge.cli.errors import BadArgument
from urlab_ros_bridge.cli.errors import UnknownArgument
from urlab_ros_bridge.cli.errors import UsageError
from urlab_ros_bridge.client.errors import RequestTimeout
from urlab_ros_bridge.gateways.serving.access import BadOrigin
from urlab_ros_bridge.gateways.serving.access import OpenWithoutToken
from urlab_ros_bridge.maps.floor_map import NoMap

MISTAKES = [
    ('up --wrold x', UnknownArgument, "'--wrold'; did you mean '--world'?"),
    ('up --rpc-port abc', BadArgument, '--rpc-port: must be a whole number >= 0 and'),
    ('up rover', UsageError, "'rover'"),
    ('up --step-mode lve', BadArgument, "'live'"),
    ('eval', BadArgument, '--policy'),
    ('up world:=x', UsageError, "'world:=x': write --world x"),
    ('up --params-file /nope', BadArgument, "--params-file: there is no file '/nope'"),
    ('map --height high', BadArgument, 'auto, scanner, robot'),
    ('map --world bimanual --height scanner', NoMap, 'no robot of this world has a scanner'),
    ('map --resolution 0', BadArgument, 'must be a finite number > 0 (m), not 0.0'),
    ('map --model none.xml', BadArgument, "no file 'none.xml'"),
    (f'map --world fleet --model {__file__}', BadArgument, 'are mutually exclusive'),
    ('map --world moon', BadArgument, 'moon'),
    ('chiral --profile nowhere.yaml', BadArgument, "'nowhere.yaml'"),
    ('chiral --rpc-port 1 --port 0 --timeout 0.3', RequestTimeout, 'tcp://127.0.0.1:1'),
    ('chiral --bind 0.0.0.0', OpenWithoutToken, '0.0.0.0'),
    ('chiral --allow-origin example.org', BadOrigin, "'example.org'"),
    ('eval --policy os:getcwd --workers 2', BadArgument, '--results: is required with --workers'),
]


@pytest.mark.parametrize(('line', 'error', 'value'), MISTAKES, ids=[row[0] for row in MISTAKES])
def test_a_wrong_command_line_is_refused_in_one_line(line, error, value, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name, *words = line.split()
    command = find_command(name)
    with pytest.raises(error) as caught:
        command.run(parse(command, words))
    assert value in str(caught.value) and '\n' not in str(caught.value)
    assert not list(tmp_path.iterdir())
