# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Error texts say what was wrong and what would have been right."""

from urlab_ros_bridge.wire.errors import list_names
from urlab_ros_bridge.wire.errors import UnknownName
from urlab_ros_bridge.wire.errors import UrlabError


def test_an_unknown_name_quotes_it_and_lists_the_others():
    error = UnknownName('body', 'hok', ['hook', 'base'])
    assert isinstance(error, UrlabError) and isinstance(error, KeyError)
    assert str(error) == "unknown body 'hok'; available: hook, base"


def test_a_long_list_of_names_is_cut():
    text = list_names('joint', [f'j{i}' for i in range(30)], limit=3)
    assert text == 'available: j0, j1, j2 and 27 more'
