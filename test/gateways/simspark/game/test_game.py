# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of the game state: every change is whole or does not happen."""

from hypothesis import given
from hypothesis import strategies as st
import pytest

from urlab_ros_bridge.gateways.simspark.game.players import MAX_NUMBER
from urlab_ros_bridge.gateways.simspark.game.players import Roster
from urlab_ros_bridge.gateways.simspark.game.players import Side
from urlab_ros_bridge.gateways.simspark.game.rules import BadRule
from urlab_ros_bridge.gateways.simspark.game.rules import Rules


def test_a_world_changes_the_rules():
    rules = Rules().changed({'field_length': 30, 'stiffness': 7})
    assert rules.named()['FieldLength'] == 30 and rules.half_length == 15
    for bad in (-1, float('nan'), float('inf')):
        with pytest.raises(BadRule, match='field_width'):
            Rules().changed({'field_width': bad})


@given(st.lists(st.sampled_from(['rover', 'arm', 'left_3', 'right_11', 'left12', 'right1', 'x'])))
def test_robots_and_numbers_are_unique(robots):
    roster = Roster()
    roster.enlist(robots)
    assert sorted(p.robot for p in roster) == sorted(set(robots))
    assert len({(p.side, p.number) for p in roster}) == len(roster)
    if 'left_3' in robots:
        assert roster.find(Side.LEFT, 3).robot == 'left_3'


def test_there_are_22_places():
    roster = Roster()
    roster.enlist(f'robot{i}' for i in range(30))
    assert len(roster) == 2 * MAX_NUMBER
    assert roster.free_number(Side.LEFT) is None
    assert roster.add(Side.LEFT, 12, 'late') is None
    roster.remove(roster.find(Side.LEFT, 5))
    assert roster.free_number(Side.LEFT) == 5
