# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Robots by name, from a small tree with the folders and names of MuJoCo Menagerie."""

import re

import pytest

from urlab_ros_bridge.cli.main import main
from urlab_ros_bridge.models import world_path
from urlab_ros_bridge.robot_import.menagerie import _sidecars
from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.model.world import load_world
from urlab_ros_bridge.wire.errors import UnknownName

ARM = """<mujoco model="{entry}"><worldbody><body name="{base}">
<geom size="0.1" mass="1"/>{cameras}{joints}</body></worldbody>
<actuator>{actuators}</actuator>
<keyframe><key name="home" qpos="{qpos}"/></keyframe></mujoco>"""
LINK = (
    '<body name="{0}_body"><joint name="{0}" axis="0 1 0"/><geom size="0.05" mass="0.1"/></body>'
)


def as_go2(text):
    """Return the bundled quadruped under the names of a Go2."""
    text = re.sub(r'geom class="foot" name="(..)_foot"', r'geom class="foot" name="\1"', text)
    text = text.replace('body name="base_link"', 'body name="base"')
    return text.replace('objname="base_link"', 'objname="base"').replace('"stand"', '"home"')


def small_model(entry):
    """Return a model that has the names of a sidecar."""
    settings = entry['settings']
    gripper = [joint for joints in settings.get('gripper', {}).values() for joint in joints]
    twist = settings.get('twist', {})
    wheels = [*twist.get('left', ()), *twist.get('right', ())]
    joints = [*gripper, *(f'{name}_joint' for name in wheels), 'one']
    actuators = [f'<position name="{name}_servo" joint="{name}"/>' for name in [*gripper, 'one']]
    actuators += [f'<velocity name="{name}" joint="{name}_joint" kv="1"/>' for name in wheels]
    return ARM.format(
        entry=entry['entry'],
        base=settings['frames']['base'],
        cameras=''.join(f'<camera name="{name}"/>' for name in settings.get('cameras', ())),
        joints=''.join(LINK.format(name) for name in joints),
        actuators=''.join(actuators),
        qpos=' '.join('0.1' for _ in joints),
    )


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """Return the root of a Menagerie with the robots of our sidecars."""
    for entry in _sidecars().values():
        folder = tmp_path / entry['robot']
        folder.mkdir(exist_ok=True)
        (folder / f'{entry["entry"]}.xml').write_text(small_model(entry))
    text = world_path('quadruped').with_name('quadruped_robot.xml').read_text()
    (tmp_path / 'unitree_go2' / 'go2.xml').write_text(as_go2(text))
    monkeypatch.setenv('MENAGERIE_ROOT', str(tmp_path))
    return tmp_path


@pytest.mark.parametrize('name', _sidecars())
def test_a_known_robot_gets_its_sidecar(tree, name, caplog):
    world = load_world(ServerConfig(robot=name))
    spec = world.spec.articulations[0]
    assert spec.prefix == name and not caplog.records
    settings = _sidecars()[name]['settings']
    assert spec.frames == settings['frames']
    assert set(spec.cameras) == set(settings.get('cameras', ()))
    assert set(spec.gripper) == set(settings.get('gripper', ()))
    assert spec.twist.kind == settings.get('twist', {}).get('kind', 'command')
    assert world.spec.start_keyframe == 'home'
    assert world.model.camera('overview') is not None


def test_any_robot_of_the_menagerie_is_served_and_no_other(tree):
    folder = tree / 'unitree_a1'
    folder.mkdir()
    (folder / 'a1.xml').write_text(small_model(_sidecars()['ur5e']))
    assert list(load_world(ServerConfig(robot='unitree_a1')).articulations) == ['unitree_a1']
    with pytest.raises(UnknownName, match=r"'go3'.*go2"):
        load_world(ServerConfig(robot='go3'))


def test_urlab_robots_lists_names_kinds_and_licences(capsys):
    assert main(['robots', '--kind', 'quadruped']) == 0
    assert 'unitree_go2' in (listed := capsys.readouterr().out) and 'BSD-3-Clause' in listed
    assert main(['robots', '--kind', 'submarine']) == 1
