# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The how-tos: their links lead somewhere, their commands parse, their example is a robot."""

from pathlib import Path
import re
import shlex

import numpy as np
import pytest

from urlab_ros_bridge.cli.arguments.argument import arguments_of
from urlab_ros_bridge.cli.arguments.argument import read_arguments
from urlab_ros_bridge.cli.arguments.argument import Spelling
from urlab_ros_bridge.cli.arguments.parser import parse
from urlab_ros_bridge.cli.arguments.suite import SuiteArguments
from urlab_ros_bridge.cli.commands import find_command
from urlab_ros_bridge.cli.processes.nav2 import Nav2Arguments
from urlab_ros_bridge.client import Client
from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.server import Server

DOCS = Path(__file__).parents[2] / 'docs'
PAGES = sorted([*DOCS.glob('howto/*.md'), DOCS / 'rviz.md', DOCS / 'robot_description.md'])
LINK = re.compile(r'\[[^\]]*\]\(([^)#\s]*)(?:#([^)]+))?\)')
FILE = re.compile(r'`([\w.]+)`:\n\n```\w+\n(.*?)```', re.S)


def commands(page):
    """Return the command lines of a page, continued lines joined, without comments."""
    text = page.read_text().replace('\\\n', ' ')
    lines = [line.strip() for line in text.splitlines() if line.startswith('    ')]
    return [shlex.split(line, comments=True) for line in lines if re.match(r'(urlab|ros2) ', line)]


OURS = [(page.name, words) for page in PAGES for words in commands(page) if words[0] == 'urlab']
ROS = [(page.name, words) for page in PAGES for words in commands(page) if words[0] == 'ros2']


def anchors(page):
    heads = re.findall(r'^#+ (.+)$', page.read_text(), re.M)
    return {re.sub(r'[^\w\- ]', '', head.lower()).replace(' ', '-') for head in heads}


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.stem)
def test_links_lead_to_files_and_headings(page):
    found = LINK.findall(page.read_text())
    assert found
    for path, anchor in found:
        target = (page.parent / path).resolve() if path else page
        assert target.is_file(), path
        if anchor:
            assert anchor in anchors(target), f'{path}#{anchor}'


@pytest.mark.parametrize(('page', 'words'), OURS, ids=lambda value: ' '.join(value))
def test_commands_parse(page, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for word in words:  # the files that the page speaks of
        if word.endswith(('.xml', '.yaml')):
            (tmp_path / word).parent.mkdir(exist_ok=True)
            (tmp_path / word).write_text('/**: {ros__parameters: {}}')
    given = parse(find_command(words[1]), words[2:])
    assert all(':=' in word or word.startswith('-') for word in given.ros)


def test_launch_arguments_are_those_of_the_launch_files():
    sections = {'sim.launch.py': SuiteArguments, 'nav2.launch.py': Nav2Arguments}
    lines = [words for _, words in ROS if words[1:3] == ['launch', 'urlab_ros_bridge']]
    assert lines
    for words in lines:
        known = arguments_of(sections[words[3]])
        pairs = (word.partition(':=')[::2] for word in words[4:] if word != '--show-args')
        texts = {name: '' if known[name].is_path else text for name, text in pairs}
        read_arguments(sections[words[3]], texts, Spelling.LAUNCH)


@pytest.mark.ros
def test_service_calls_have_fields_of_their_types():
    from running_world import interface
    import yaml

    calls = [words for _, words in ROS if words[1:3] == ['service', 'call']]
    assert len(calls) > 5
    for words in calls:
        plain = [word for word in words[3:] if not word.startswith('-') and not word.isdigit()]
        fields = yaml.safe_load(plain[2]) if len(plain) > 2 else {}
        assert set(fields) <= set(interface(plain[1]).Request.get_fields_and_field_types())


@pytest.fixture
def tug(tmp_path):
    """Serve the files of the page, and return a client."""
    files = dict(FILE.findall((DOCS / 'howto' / 'own_robot.md').read_text()))
    assert set(files) == {'yard.xml', 'tug.xml', 'yard.yaml'}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    ports = dict.fromkeys(
        ('rpc_port', 'state_port', 'camera_port', 'control_port', 'info_port'), 0
    )
    server = Server(ServerConfig(model=tmp_path / 'yard.yaml', cameras='off', **ports))
    server.start()
    rpc, state = (int(server.endpoints[key].rpartition(':')[2]) for key in ('rpc', 'state'))
    with Client(rpc_port=rpc, state_port=state, observations='full') as client:
        yield client
    server.stop()


def test_the_robot_of_the_page_drives_and_sees_the_crate(tug):
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
def test_the_policies_of_the_page_are_read(tmp_path):
    from urlab_ros_bridge.ros.policy.description import PolicyDescription
    from urlab_ros_bridge.ros.policy.description import read_policy
    from urlab_ros_bridge.ros.policy.terms import TERMS
    from urlab_ros_bridge.schema import keys_of

    text = (DOCS / 'howto' / 'bring_your_policy.md').read_text()
    sizes = {}
    for name, content in FILE.findall(text):
        (tmp_path / name).write_text(content)
        sizes[name] = read_policy(tmp_path / name).size
    assert sizes == {'isaac_lab.yaml': 48, 'legged_gym.yaml': 45}
    # The tables name every key and every term.
    for name in [*keys_of(PolicyDescription), *TERMS]:
        assert re.search(rf'^\|.*`{name}`.*\|', text, re.M), name
