# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Profiles: any YAML is a profile, or an error that names the key and the valid values."""

from pathlib import Path
import re

import pytest
import yaml

from urlab_ros_bridge.gateways.chiral.errors import ProfileError
from urlab_ros_bridge.gateways.chiral.profile import find_profile
from urlab_ros_bridge.gateways.chiral.profile import profile_names
from urlab_ros_bridge.gateways.chiral.profile.profile import load_profile
from urlab_ros_bridge.gateways.chiral.profile.profile import read_profile
from urlab_ros_bridge.wire.errors import UrlabError

ROOT = Path(__file__).resolve().parents[4]
PAGE = (ROOT / 'docs' / 'chiral.md').read_text(encoding='utf-8')


def test_bundled_profiles_are_found_by_name(tmp_path, monkeypatch):
    assert profile_names() == ['bimanual', 'bimanual_ee']
    assert find_profile('bimanual') == ROOT / 'config' / 'chiral' / 'bimanual.yaml'
    monkeypatch.chdir(tmp_path)
    Path('bimanual').write_text('pace: lockstep', encoding='utf-8')
    assert load_profile(find_profile('bimanual')).pace == 'lockstep'  # a file of the user
    for wrong in ('bimanul', '../chiral/bimanual', '', 'a' * 5000):
        with pytest.raises(ProfileError, match='valid: bimanual, bimanual_ee'):
            find_profile(wrong)


def test_the_example_of_the_page_is_a_profile():
    text = next(
        block
        for block in re.findall(r'(?:^    .*\n|^\n)+', PAGE, re.M)
        if 'articulation: bimanual ' in block
    )
    assert read_profile(yaml.safe_load(text)).task.hook == 'my_task:judge'


TORQUES = [{'joints': ['FL_hip']}, {'kind': 'joint_torque', 'joints': ['FR_hip']}]
CANNOT = [
    ({'pcae': 'lockstep'}, r"unknown key 'pcae'.*'pace'"),
    ({'control': {'rate': 0}}, r'control.rate: must be .* >= 0.1 \(Hz\), not 0'),
    ({'actions': [{'kind': 'fly'}]}, r"actions\[0\].kind: 'fly' is unknown; .*twist"),
    ({'articulation': 'nobody'}, "articulation: unknown articulation 'nobody'; .*: quadruped"),
    ({'cameras': [{'rgb': 'eye'}]}, r"cameras\[0\].rgb: unknown camera 'eye'; .*: front_rgb"),
    ({'cameras': [{'rgb': 'front_rgb', 'depth': 'front_rgb'}]}, 'not a depth camera'),
    ({'proprio': [{'kind': 'sensor', 'sensor': 'x'}]}, "unknown sensor 'x'"),
    ({'actions': [{'kind': 'twist'}, {'joints': ['FL_hip']}]}, "'FL_hip'.*two parts"),
    ({'actions': [{'kind': 'gripper'}]}, 'names no actuators'),
    ({'actions': TORQUES}, 'mix torques'),
    ({'reference': 'moon'}, "reference: unknown body or site 'moon'"),
    ({'control': {'rate': 1000.0}}, 'more than one action a simulation step'),
    ({'task': {'hook': 'nomodule:judge'}}, 'cannot be imported'),
]


@pytest.mark.parametrize(('profile', 'says'), CANNOT)
def test_a_profile_that_does_not_fit_the_robot_is_refused_at_the_start(
    quadruped, gateway, profile, says
):
    with pytest.raises(UrlabError, match=says), gateway(quadruped, profile):
        pass
