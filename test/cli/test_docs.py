# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import re
import shutil

import pytest

from urlab_ros_bridge.cli import docs
from urlab_ros_bridge.cli.commands import all_commands
from urlab_ros_bridge.ros.program.features import Settings
from urlab_ros_bridge.wire.errors import ERROR_CODES
from urlab_ros_bridge.wire.ops import OPS


def test_the_generated_pages_are_up_to_date():
    assert docs.outdated() == []


def test_a_stale_and_a_missing_page_are_noticed(tmp_path):
    for name in docs.PAGES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(docs.ROOT / name, tmp_path / name)
    assert docs.outdated(tmp_path) == []
    (tmp_path / 'docs/protocol.md').write_text('old')
    (tmp_path / 'docs/commands.md').unlink()
    assert docs.outdated(tmp_path) == ['docs/commands.md', 'docs/protocol.md']


@pytest.mark.parametrize('name', [name for name in docs.PAGES if name.endswith('.md')])
def test_every_row_of_a_table_has_the_cells_of_its_head(name):
    heads = 0
    for line in docs.PAGES[name]().splitlines():
        cells = len(re.findall(r'(?<!\\)\|', line)) if line.startswith('|') else 0
        assert cells == heads or 0 in (cells, heads)
        heads = cells


def test_the_pages_name_everything():
    protocol = docs.protocol_page()
    assert all(f'`{word}`' in protocol for word in (*OPS, *ERROR_CODES))
    parameters = docs.parameters_page()
    assert all(f'`{name}`' in parameters for name in Settings.TABLE)
    assert all(f'`urlab {name}`' in docs.commands_page() for name in all_commands())


def test_no_page_holds_a_path_of_this_machine():
    assert not [name for name, page in docs.PAGES.items() if str(docs.ROOT) in page()]
