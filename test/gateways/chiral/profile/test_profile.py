# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Profiles: any YAML is a profile, or an error that names the key and the valid values."""

from dataclasses import fields
from dataclasses import is_dataclass
from pathlib import Path
import re

from bundled_server import simulation
import pytest
import yaml

from urlab_ros_bridge.gateways.chiral.errors import ProfileError
from urlab_ros_bridge.gateways.chiral.profile import find_profile
from urlab_ros_bridge.gateways.chiral.profile import profile as profiles
from urlab_ros_bridge.gateways.chiral.profile import profile_names
from urlab_ros_bridge.gateways.chiral.profile.profile import load_profile
from urlab_ros_bridge.gateways.chiral.profile.profile import Profile
from urlab_ros_bridge.gateways.chiral.profile.profile import read_profile
from urlab_ros_bridge.gateways.chiral.profile.rotations import ROTATIONS
from urlab_ros_bridge.wire.errors import UrlabError

ROOT = Path(__file__).resolve().parents[4]
PAGE = (ROOT / 'docs' / 'chiral.md').read_text(encoding='utf-8')
SECTIONS = [
    kind
    for kind in vars(profiles).values()
    if is_dataclass(kind) and kind.__module__ == profiles.__name__
]


def test_nothing_is_a_profile():
    assert read_profile({}) == Profile()


@pytest.mark.parametrize(
    ('value', 'says'),
    [
        ([], r'must be a mapping, not \[\]'),
        ({'pcae': 'lockstep'}, r"unknown key 'pcae'; did you mean 'pace'\? \(valid: articulation"),
        ({'pace': 'fast'}, r"pace: 'fast' is unknown; valid: real_time, lockstep"),
        ({'pace': 3}, 'pace: must be a string, not 3'),
        ({'control': {'rate': 0}}, r'control.rate: must be a finite number >= 0.1 \(Hz\), not 0'),
        ({'control': {'rate': True}}, 'rate: must be a finite number .* not True'),
        ({'control': {'interpolate': 1}}, 'interpolate: must be true or false, not 1'),
        ({'reset': {'seed': 1.5}}, 'seed: must be a whole number >= 0, not 1.5'),
        ({'cameras': {}}, 'cameras: must be a list, not {}'),
        ({'cameras': [{'rgb': 4}]}, r'cameras\[0\].rgb: must be a string, not 4'),
        ({'actions': [{'kind': 'fly'}]}, r"actions\[0\].kind: 'fly' is unknown; .*twist"),
        ({'actions': [{'max_jump': -1}]}, r'actions\[0\].max_jump: must be a finite number >= 0'),
        ({'proprio': [{'joints': 'elbow'}]}, r'proprio\[0\].joints: must be a list'),
    ],
)
def test_errors_name_the_key_and_the_value(value, says):
    with pytest.raises(ProfileError, match=says) as caught:
        read_profile(value, 'mine.yaml')
    assert str(caught.value).startswith('mine.yaml: ')


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ProfileError, match=r'nowhere\.yaml'):
        load_profile(tmp_path / 'nowhere.yaml')


def test_bundled_profiles_are_found_by_name(tmp_path, monkeypatch):
    assert profile_names() == ['bimanual', 'bimanual_ee']
    assert find_profile('bimanual') == ROOT / 'config' / 'chiral' / 'bimanual.yaml'
    monkeypatch.chdir(tmp_path)
    Path('bimanual').write_text('pace: lockstep', encoding='utf-8')
    assert load_profile(find_profile('bimanual')).pace == 'lockstep'  # a file of the user
    for wrong in ('bimanul', 'bimanual.yaml', '../chiral/bimanual', '', '.', 'a' * 5000):
        with pytest.raises(ProfileError, match='valid: bimanual, bimanual_ee'):
            find_profile(wrong)


@pytest.mark.parametrize('path', sorted((ROOT / 'config' / 'chiral').glob('*.yaml')), ids=str)
def test_shipped_profiles_are_read(path):
    assert load_profile(path).articulation == 'bimanual'


def test_the_example_of_the_page_is_a_profile():
    text = next(
        block
        for block in re.findall(r'(?:^    .*\n|^\n)+', PAGE, re.M)
        if 'articulation: bimanual ' in block
    )
    assert read_profile(yaml.safe_load(text)).task.hook == 'my_task:judge'


def test_the_page_knows_every_key_and_choice():
    words = [item.name for kind in SECTIONS for item in fields(kind)]
    words += [*profiles.ACTION_KINDS, *profiles.PROPRIO_KINDS, *ROTATIONS]
    words += [*profiles.PACES, *profiles.CLOCKS, *profiles.FRAMES, *profiles.CHUNKS]
    words += [*profiles.ON_DISCONNECT, *profiles.ON_JUMP]
    assert [word for word in words if not re.search(rf'\b{word}\b', PAGE)] == []


@pytest.mark.parametrize(
    ('profile', 'says'),
    [
        (
            {'articulation': 'nobody'},
            "articulation: unknown articulation 'nobody'; available: quadruped",
        ),
        (
            {'cameras': [{'rgb': 'eye'}]},
            r"cameras\[0\].rgb: unknown camera 'eye'; available: front_rgb",
        ),
        ({'cameras': [{'rgb': 'front_rgb', 'depth': 'front_rgb'}]}, 'not a depth camera'),
        ({'cameras': [{'rgb': 'front_rgb'}, {'rgb': 'front_rgb'}]}, 'name of two entries'),
        (
            {'proprio': [{'joints': ['knee']}]},
            r"proprio\[0\]: unknown joint 'knee'; available: FL_hip",
        ),
        ({'proprio': [{'kind': 'sensor', 'sensor': 'x'}]}, "unknown sensor 'x'"),
        ({'proprio': [{'kind': 'ee_pose'}]}, 'names no site'),
        ({'actions': [{'joints': ['knee']}]}, r"actions\[0\]: unknown joint 'knee'"),
        ({'actions': [{'kind': 'twist'}, {'joints': ['FL_hip']}]}, "'FL_hip'.*two parts"),
        ({'actions': [{}, {}]}, 'is driven by two parts'),
        ({'actions': [{'kind': 'gripper'}]}, 'names no actuators'),
        (
            {'actions': [{'joints': ['FL_hip']}, {'kind': 'joint_torque', 'joints': ['FR_hip']}]},
            'mix torques',
        ),
        ({'reference': 'moon'}, "reference: unknown body or site 'moon'"),
        ({'control': {'rate': 1000.0}}, 'more than one action a simulation step'),
        ({'task': {'hook': 'nomodule:judge'}}, 'cannot be imported'),
        ({'task': {'hook': 'judge'}}, 'not of the form module:callable'),
    ],
)
def test_what_the_robot_cannot_do_is_said_at_the_start(quadruped, gateway, profile, says):
    with pytest.raises(UrlabError, match=says), gateway(quadruped, profile):
        pass


def test_a_held_twist_is_no_action(gateway):
    profile = {'actions': [{'kind': 'twist'}]}
    with (
        simulation('bimanual') as port,
        pytest.raises(UrlabError, match='needs a twist controller'),
        gateway(port, profile),
    ):
        pass
