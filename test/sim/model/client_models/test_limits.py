# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The limits as the page tells them."""

from pathlib import Path

from urlab_ros_bridge.sim.model.client_models import limits

PAGE = Path(__file__).resolve().parents[4] / 'docs' / 'entities.md'


def test_the_page_has_the_limits_of_the_code():
    rows = [line.split('|')[1:4] for line in PAGE.read_text().splitlines() if line.startswith('|')]
    told = {cells[0].strip().partition(',')[0]: cells[1:] for cells in rows if len(cells) == 3}
    for what, one, together in limits.SIZES.values():
        row = told[what.replace('bytes of', 'bytes of the')]
        for cell, number in zip(row, (one, together), strict=True):
            assert cell.strip() in (f'{number:,}', f'{number >> 30} GiB'), what
    copies = told['elements that `replicate`']
    assert f'{limits.COPIES:,}' in copies[0]
    page = PAGE.read_text()
    mega = limits.CHARACTERS >> 20, limits.FILE_BYTES >> 20
    assert f'{mega[0]} Mi; {limits.ELEMENTS:,}; {limits.DEPTH}' in page
    assert f'{limits.DOCUMENTS}; {limits.FILES:,}; {mega[1]} MiB' in page
    assert f'| {limits.PIXELS:,} |' in page
    memory = limits.MEMORY_BYTES >> 30
    assert f'{limits.CPU_SECONDS} s, {limits.WALL_SECONDS:g} s, {memory} GiB' in page


def test_sizes_add_up():
    first, second = limits.Sizes({'nv': 3}), limits.Sizes({'nv': 4, 'nu': 1})
    total = first + second + limits.NOTHING
    assert {name: total.of(name) for name in limits.SIZES if total.of(name)} == {'nv': 7, 'nu': 1}
