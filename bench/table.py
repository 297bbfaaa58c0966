# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Run all benchmarks and print one table of their ratios.

Beside each ratio stands its spread (quartiles over the rounds), and what the machine went through
while the script ran: the load average, and the share of processor time that its host took away.
What is not known here is given to each script.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
import contextlib
from dataclasses import dataclass
from dataclasses import field
import json
import os
from pathlib import Path
import subprocess
import sys
import tempfile
import threading
from typing import Any

from ratios import VARIABLE
from rich.console import Console
from rich.table import Table

HERE = Path(__file__).parent
SAMPLE_SECONDS = 2.0
STEAL = 7  # place in the first line of /proc/stat, after user nice system idle iowait irq softirq
GUESTS = 8  # from here on, time that is in `user` and `nice` already


@dataclass
class Machine:
    """
    What the machine does for the length of a with block.

    :ivar loads: one-minute load averages, sampled.
    :ivar steal: share of the processor time that went to other guests of the host, 0 to 1.
    """

    loads: list[float] = field(default_factory=list)
    steal: float = 0.0

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        done = threading.Event()
        watcher = threading.Thread(target=self._sample, args=(done,), daemon=True)
        before = processor_times()
        watcher.start()
        try:
            yield
        finally:
            done.set()
            watcher.join()
            spent = [now - then for now, then in zip(processor_times(), before, strict=True)]
            self.steal = spent[STEAL] / max(sum(spent), 1)

    def _sample(self, done: threading.Event) -> None:
        self.loads.append(os.getloadavg()[0])
        while not done.wait(SAMPLE_SECONDS):
            self.loads.append(os.getloadavg()[0])

    @property
    def load(self) -> float:
        return sum(self.loads) / max(len(self.loads), 1)


def processor_times() -> list[int]:
    """Return the ticks that all processors have spent in each way."""
    first = Path('/proc/stat').read_text(encoding='ascii').partition('\n')[0]
    return [int(value) for value in first.split()[1 : GUESTS + 1]]


def scripts() -> dict[str, Path]:
    """Return the benchmarks, which can be run alone, by name."""
    return {
        path.stem: path for path in sorted(HERE.glob('*.py')) if path.read_bytes()[:2] == b'#!'
    }


def run(path: Path, words: list[str]) -> tuple[int, list[dict[str, Any]]]:
    """Run one benchmark; return its exit code and what it has found, with the machine's state."""
    machine = Machine()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / 'ratios'
        environment = {**os.environ, VARIABLE: str(file)}
        with machine.watched():
            code = subprocess.run(
                [sys.executable, str(path), *words], env=environment, check=False
            ).returncode
        lines = file.read_text(encoding='utf-8').splitlines() if file.exists() else []
    state = {'script': path.stem, 'load': machine.load, 'steal': machine.steal}
    return code, [{**state, **json.loads(line)} for line in lines]


def table_of(found: list[dict[str, Any]]) -> Table:
    table = Table('benchmark', 'what', 'to', title='Ratios', title_justify='left')
    for heading in ('ratio', 'spread', 'load', 'steal'):
        table.add_column(heading, justify='right')
    for row in found:
        spread = f'{row["low"]:.2f} to {row["high"]:.2f}' if 'low' in row else ''
        figures = (f'{row["ratio"]:.2f}', spread, f'{row["load"]:.1f}', f'{row["steal"]:.1%}')
        table.add_row(row['script'], row['name'], row['to'], *figures)
    return table


def main() -> int:
    """Run them; return 1 when one has failed or missed its goal."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    known = scripts()
    parser.add_argument('--only', nargs='+', choices=known, metavar='NAME', default=list(known))
    parser.add_argument('--json', type=Path, help='write the table to this file too, a row a line')
    options, words = parser.parse_known_args()
    found: list[dict[str, Any]] = []
    failed = []
    for name in options.only:
        print(f'\n== {known[name]}', flush=True)
        code, rows = run(known[name], words)
        found += rows
        if code:
            failed.append(name)
            print(f'{name}: exit code {code}', file=sys.stderr)
    print()
    Console(width=None if sys.stdout.isatty() else 120).print(table_of(found))
    if options.json:
        text = ''.join(json.dumps(row) + '\n' for row in found)
        options.json.write_text(text, encoding='utf-8')
    if failed:
        print(f'failed, or missed a goal: {", ".join(failed)}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
