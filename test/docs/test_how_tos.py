# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The example of "Your robot" is a robot."""

from pathlib import Path
import re

from bundled_server import ports_of
from bundled_server import running_server
import numpy as np
import pytest

from urlab_ros_bridge.client import Client

DOCS = Path(__file__).parents[2] / 'docs'
FILE = re.compile(r'`([\w.]+)`:\n\n```\w+\n(.*?)```', re.S)


@pytest.fixture
def tug(tmp_path):
    """Serve the files of the page, and return a client."""
    files = dict(FILE.findall((DOCS / 'howto' / 'own_robot.md').read_text()))
    assert set(files) == {'yard.xml', 'tug.xml', 'yard.yaml'}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with (
        running_server(model=tmp_path / 'yard.yaml', cameras='off') as server,
        Client(**ports_of(server), observations='full') as client,
    ):
        yield client


def test_the_robot_of_the_page_drives_and_detects_the_crate(tug):
    robot = tug.handshake.articulations['tug']
    assert robot.cameras['eye'].resolution == (320, 240)
    assert robot.frames == {'base': 'base_link', 'imu': 'imu_link', 'lidar': 'laser'}
    model = tug.handshake.model
    scan = model.sensor('tug_scan')
    tug.set_twist('tug', (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    state = tug.step(200).articulations['tug']
    ahead = np.asarray(state.sensors['scan'])[180]
    # The crate's near face is at 1.3 m, the scanner 0.1 m ahead of the origin.
    assert ahead == pytest.approx(1.2, abs=0.02) and scan.dim[0] == 360
    tug.set_twist('tug', (0.3, 0.0, 0.0), (0.0, 0.0, 0.2))
    qpos = tug.step(1000).articulations['tug'].qpos
    # 2 s on a circle of 1.5 m radius, less the time that speeding up takes.
    yaw = 2 * np.arctan2(qpos[6], qpos[3])
    assert qpos[0] == pytest.approx(0.55, abs=0.02)
    assert yaw == pytest.approx(0.38, abs=0.02)


@pytest.mark.ros
def test_the_example_policies_are_read_and_the_page_names_every_key():
    from urlab_ros_bridge.policy.description import PolicyDescription
    from urlab_ros_bridge.policy.description import read_policy
    from urlab_ros_bridge.policy.terms import TERMS
    from urlab_ros_bridge.schema import keys_of

    policies = DOCS.parent / 'examples' / 'policies'
    assert read_policy(policies / 'isaac_lab.yaml').size == 48
    assert read_policy(policies / 'legged_gym.yaml').size == 45
    text = (DOCS / 'policy.md').read_text()
    for name in [*keys_of(PolicyDescription), *TERMS]:
        assert re.search(rf'^\|.*`{name}`.*\|', text, re.M), name
