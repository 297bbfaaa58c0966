# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A class is found by its name: no two classes of the package have the same."""

from collections import defaultdict
from pathlib import Path
import re

PACKAGE = Path(__file__).resolve().parents[2] / 'urlab_ros_bridge'
CLASS = re.compile(r'^ *class (\w+)\b', re.M)


def test_class_names_are_unique():
    places = defaultdict(list)
    for path in PACKAGE.rglob('*.py'):
        for name in CLASS.findall(path.read_text()):
            places[name].append(str(path.relative_to(PACKAGE)))
    assert len(places) > 1000
    assert not {name: found for name, found in places.items() if len(found) > 1}
