# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

from map_reader import read_map
import numpy as np
import pytest

from urlab_ros_bridge.cli.main import main


def test_heights_resolution_and_region_are_taken(tmp_path):
    target = tmp_path / 'part'
    words = ['--region=-2,-4,3,1', '--height', '0.1:0.13', '--resolution', '0.1']
    assert main(['map', *words, '--output', str(target)]) == 0
    drawn = read_map(f'{target}.yaml')
    assert drawn.data.shape == (50, 50) and tuple(drawn.origin) == (-2.0, -4.0)
    # The side of the landing is 0.15 m high; the pallet is not asked for.
    assert drawn.value([(1.2, -2.85), (1.71, 0.05)]).tolist() == [100, 0]


@pytest.mark.parametrize(
    ('world', 'words'),
    [
        ('rover', ['--height', 'robot', '--movable']),
        ('quadruped_rooms', ['--height', '0.03:0.45']),
    ],
)
def test_the_maps_of_the_package_are_what_the_command_draws(tmp_path, world, words):
    shipped = Path(__file__).parents[3] / 'config' / 'nav2' / 'maps'
    output = str(tmp_path / world)
    assert main(['map', '--world', world, *words, '--output', output]) == 0
    assert (tmp_path / f'{world}.yaml').read_text() == (shipped / f'{world}.yaml').read_text()
    ours, drawn = read_map(shipped / f'{world}.yaml'), read_map(tmp_path / f'{world}.yaml')
    # A face that lies on the border of two cells may be rounded to either, by another MuJoCo.
    assert np.mean(ours.data == drawn.data) > 0.998
