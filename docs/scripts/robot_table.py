# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Make the table of robots in bench/RESULTS.md from the rows of the test of these robots.

    ROBOT_TABLE=rows python -m pytest --long test/robot_import/test_example_robots.py
    python docs/scripts/robot_table.py rows

Everything below the mark is replaced.
"""

import json
from pathlib import Path
import sys

PAGE = Path(__file__).resolve().parents[2] / 'bench/RESULTS.md'
MARK = '<!-- written by docs/scripts/robot_table.py -->\n'
HEAD = (
    '| Robot | Links | Joints | Actuators | Base | Repaired links | Largest FK error | '
    'Cold cache, s | Warm cache, s |\n|---|---|---|---|---|---|---|---|---|\n'
)


def line(row: dict[str, object]) -> str:
    """Return the row of a robot; what was not measured is a dash."""
    error = f'{row["error"]:.0e}' if 'error' in row else '-'
    names = ('links', 'joints', 'actuators', 'base', 'repaired')
    cells = [row['folder'].removesuffix('_description') + '/' + row['name']]
    cells += [str(row.get(name, '-')) for name in names]
    cells += [error, *(str(row.get(name, '-')) for name in ('cold', 'warm'))]
    return f'| {" | ".join(cells)} |\n'


def main(folder: str) -> None:
    """Replace the table of the page."""
    rows = [json.loads(path.read_text()) for path in sorted(Path(folder).glob('*.json'))]
    before = PAGE.read_text().partition(MARK)[0]
    PAGE.write_text(f'{before}{MARK}\n{HEAD}{"".join(map(line, rows))}')


if __name__ == '__main__':
    main(sys.argv[1])
