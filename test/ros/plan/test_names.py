# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import re

from hypothesis import given
from hypothesis import strategies as st

from urlab_ros_bridge.ros.plan.names import ros_name
from urlab_ros_bridge.ros.plan.names import ros_names

VALID = re.compile(r'[A-Za-z](_?[A-Za-z0-9]+)*')


@given(st.text('aé_7', min_size=1, max_size=9))
def test_a_long_name_leaves_room_in_a_topic_and_stays_its_own(part):
    text = 90 * part
    name = ros_name(text)
    assert len(name) <= 100 and VALID.fullmatch(name) and ros_name(name) == name
    assert len({ros_name(f'{"a" * 200}{text}{end}') for end in 'xyz'}) == 3


@given(st.lists(st.text(), unique=True, max_size=12))
def test_any_texts_get_valid_and_different_names(texts):
    names = ros_names(texts)
    assert list(names) == texts
    assert len(set(names.values())) == len(texts)
    assert all(VALID.fullmatch(name) for name in names.values())
