# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The interfaces of ROS itself that are built here are those of every other system."""

import json
from pathlib import Path

import pytest

# Those of every stock system: computed from the fields alone.
HASHES = json.loads(Path(__file__).with_name('interface_hashes.json').read_text())


def described_hash(package: str, kind: str, name: str) -> str:
    """Return the hash of the type description that lies beside the built interface."""
    from ament_index_python.packages import get_package_share_directory

    path = Path(get_package_share_directory(package)) / kind / f'{name}.json'
    entries = json.loads(path.read_text(encoding='utf-8'))['type_hashes']
    hashes = {entry['type_name']: entry['hash_string'] for entry in entries}
    return hashes[f'{package}/{kind}/{name}']


@pytest.mark.ros
@pytest.mark.distro
@pytest.mark.parametrize('interface', HASHES)
def test_interfaces_are_the_ones_that_everybody_uses(interface):
    assert described_hash(*interface.split('/')) == HASHES[interface]
