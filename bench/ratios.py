# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
How a benchmark hands over its ratios to whoever runs all of them (table.py).

A script prints its own table in any case.  What it notes here as well is one JSON object a line in
the file that `URLAB_BENCH_RATIOS` names, or nothing when a user runs the script alone:

    {"name": "server", "to": "floor", "ratio": 0.9, "low": 0.87, "high": 0.93, "rounds": 61}
"""

from __future__ import annotations

from collections.abc import Iterable
import json
import os

import numpy as np

VARIABLE = 'URLAB_BENCH_RATIOS'


def note(name: str, ratios: float | Iterable[float], to: str = 'floor') -> None:
    """
    Hand over one ratio.

    :param name: what was measured, unique in the script.
    :param ratios: one of each round, of which the median counts and the quartiles are the spread;
        a single number has none.
    :param to: what it is a ratio to.
    """
    path = os.environ.get(VARIABLE)
    if not path:
        return
    values = np.atleast_1d(np.array(list(ratios) if isinstance(ratios, Iterable) else ratios))
    low, middle, high = (float(value) for value in np.percentile(values, (25, 50, 75)))
    found = {'name': name, 'to': to, 'ratio': middle, 'rounds': len(values)}
    if len(values) > 1:
        found |= {'low': low, 'high': high}
    with open(path, 'a', encoding='utf-8') as file:
        file.write(json.dumps(found) + '\n')
