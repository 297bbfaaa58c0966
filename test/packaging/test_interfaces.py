# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Rules for every interface of urlab_msgs, and the identity of those of ROS itself."""

import json
from pathlib import Path

import pytest

# Those of every stock system: computed from the fields alone.
HASHES = {
    'tf2_msgs/msg/TFMessage': (
        'RIHS01_e369d0f05a23ae52508854b66f6aa0437f3449d652e8cbf22d5abe85d020f087'
    ),
    'control_msgs/msg/JointTolerance': (
        'RIHS01_c254f9cece0f3b733017b6990fd46d1326e25242d6b8844398c97d9a88e7d648'
    ),
    'control_msgs/msg/GripperCommand': (
        'RIHS01_57eb8f326c9889ca8bb34ead82cc94cc09bf6bc5c3b6c09546dca3a00b589890'
    ),
    'moveit_msgs/msg/PlanningScene': (
        'RIHS01_0f58540ad5eab4b9ea827d53b763c793d8cabd202b3b301fcee25afa4ce1bd80'
    ),
    'simulation_interfaces/msg/EntityState': (
        'RIHS01_2e0464a85eb80a939025075d6c20761eca6a4cb9d6baf2c0ba373467c8b598d0'
    ),
    'simulation_interfaces/msg/SimulatorFeatures': (
        'RIHS01_8b101c8529bc0ea3dcf056078254768f39832b9ef0adaf93bd5cea96c0de3305'
    ),
    'simulation_interfaces/srv/SpawnEntity': (
        'RIHS01_d4c086345d4194a5fc4c9ae45095736ca4062b5cdac4d06a42dec93d683e03cf'
    ),
}


def fields(text: str) -> list[tuple[str, str]]:
    """Return (type, name) of each field; constants and section marks are left out."""
    lines = [line.partition('#')[0].split() for line in text.splitlines() if '=' not in line]
    return [(line[0], line[1]) for line in lines if len(line) > 1]


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
