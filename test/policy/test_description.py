# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
from policies import write
import pytest

from urlab_ros_bridge.policy.description import PolicyError
from urlab_ros_bridge.policy.description import read_policy

LONGER = {'term': 'joint_vel', 'history': 2}


@pytest.mark.parametrize(
    ('changes', 'says'),
    [
        ({'observations': ['joint_pos_re']}, r"observations\[0\].term: .*mean 'joint_pos_rel'"),
        ({'observatons': []}, "unknown key 'observatons'; did you mean 'observations'"),
        ({'observations': [{'term': 'joint_vel', 'period': 1}]}, 'is for the term phase'),
        ({'observations': [{'term': 'joint_vel', 'scale': [1, 2]}]}, 'one number or 3 .*not 2'),
        ({'observations': [{'term': 'joint_vel', 'clip': [1, -1]}]}, 'lower to a higher'),
        ({'default_pose': {'a': 0, 'b': 0}}, 'default_pose: lacks c'),
        ({'joints': ['a', 'a']}, "joints: 'a' is named twice"),
        ({'rate': 0}, r'rate: must be a finite number > 0'),
        ({'action': {'scale': {'a': 1, 'b': 1, 'd': 1}}}, "unknown joint 'd'"),
        ({'command': {'on_timeout': 'hld'}}, "command.on_timeout: .*did you mean 'hold'"),
        ({'history': {'order': 'by_step'}, 'observations': [LONGER]}, r'\[0\].history: .*by_term'),
    ],
)
def test_errors_name_the_file_the_key_and_the_value(tmp_path, changes, says):
    path = write(tmp_path, **changes)
    with pytest.raises(PolicyError, match=says) as caught:
        read_policy(path)
    assert str(caught.value).startswith(f'{path}: ')
