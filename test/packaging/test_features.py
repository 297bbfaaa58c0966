# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The table of features: what it says to be tested is tested, and its pages are there."""

from pathlib import Path
import re

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / 'docs' / 'features.md').read_text(encoding='utf-8')
ROWS = [
    [cell.strip() for cell in line.strip('|').split('|')]
    for line in PAGE.splitlines()
    if re.match(r'\| \d+ \|', line)
]
TEST = re.compile(r'`([\w/]+\.py)::(\w+)`')
LINK = re.compile(r'\]\(([\w/]+\.md)(?:#([\w-]+))?\)')


def headings(page: Path) -> set[str]:
    """Return the anchors of a page."""
    found = re.findall(r'^#+ (.*)$', page.read_text(encoding='utf-8'), re.MULTILINE)
    return {re.sub(r'[^\w -]', '', text).lower().replace(' ', '-') for text in found}


def test_every_feature_has_one_row():
    assert [int(row[0]) for row in ROWS] == list(range(1, len(ROWS) + 1))
    assert len({row[1] for row in ROWS}) == len(ROWS)
    assert all(len(row) == 5 for row in ROWS)


@pytest.mark.parametrize('row', ROWS, ids=lambda row: row[0])
def test_files_and_tests_of_every_row_exist(row):
    _, _, here, where, proof = row
    tests = TEST.findall(proof)
    assert here in ('yes', 'partly', 'no')
    # What is there is shown by a test, and what is missing has a reason.
    assert bool(tests) == (here != 'no') and bool(where) == (here != 'no')
    assert bool(TEST.sub('', proof).strip('; ,')) == (here != 'yes')
    for file, name in tests:
        code = (ROOT / 'test' / file).read_text(encoding='utf-8')
        assert re.search(rf'^def {name}\(', code, re.MULTILINE), f'{file} has no {name}'
    for page, anchor in LINK.findall(where):
        assert (ROOT / 'docs' / page).is_file(), page
        assert not anchor or anchor in headings(ROOT / 'docs' / page), f'{page}#{anchor}'
