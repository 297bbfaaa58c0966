# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What the project says of its dependencies is what its lock files say."""

import json
from pathlib import Path
import re

ROOT = Path(__file__).resolve().parents[2]
BOM = json.loads((ROOT / 'sbom.cdx.json').read_text())
# Licences that forbid something to users of a package that only needs it at run time.
FORBIDDEN = re.compile(r'AGPL|(?<!L)GPL-|NC-|SSPL|BUSL|NOASSERTION', re.IGNORECASE)


def licence(entry):
    (first,) = entry['licenses']
    return first.get('expression') or first['license'].get('id') or first['license']['name']


def test_nothing_that_runs_has_a_licence_that_binds_its_users():
    runs = [entry for entry in BOM['components'] if entry['scope'] != 'excluded']
    assert len(runs) > 100
    bad = {entry['name']: licence(entry) for entry in runs if FORBIDDEN.search(licence(entry))}
    assert bad == {}
