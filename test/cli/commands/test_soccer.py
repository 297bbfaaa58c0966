# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`urlab soccer` writes a world that the server takes."""

import yaml

from urlab_ros_bridge.cli.main import main


def test_a_world_is_written_and_the_command_that_serves_it_is_named(tmp_path, capsys):
    target = tmp_path / 'pitch'
    assert main(['soccer', '--players', '4', '--field', 'league', '--output', str(target)]) == 0
    assert f'--model {target / "soccer.yaml"}' in capsys.readouterr().out
    robots = yaml.safe_load((target / 'soccer.yaml').read_text())['articulations']
    assert [robot['prefix'] for robot in robots] == [
        f'{team}_{number}' for team in ('left', 'right') for number in range(1, 5)
    ]
    assert all((target / robot['model']).is_file() for robot in robots)
