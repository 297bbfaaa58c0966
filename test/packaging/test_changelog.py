# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The changes since the last release can be read in three minutes."""

from pathlib import Path

CHANGELOG = (Path(__file__).resolve().parents[2] / 'CHANGELOG.rst').read_text(encoding='utf-8')


def test_a_change_is_one_line():
    unreleased = CHANGELOG.partition('Forthcoming\n-----------\n')[2].partition('\n---')[0]
    assert unreleased
    assert not [line for line in unreleased.splitlines() if line.startswith('    ')]
    assert max(map(len, unreleased.splitlines())) <= 145
