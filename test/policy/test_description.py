# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
from policies import plain
from policies import write
import pytest

from urlab_ros_bridge.policy.description import find_policy
from urlab_ros_bridge.policy.description import policy_names
from urlab_ros_bridge.policy.description import PolicyError
from urlab_ros_bridge.policy.description import read_policy


@pytest.mark.parametrize('name', policy_names())
def test_bundled_descriptions_are_read(name):
    assert read_policy(find_policy(name)).size > 0


def test_sizes_follow_joints_and_history(tmp_path):
    terms = ['base_lin_vel', {'term': 'joint_vel', 'history': 2}, 'last_action',
             {'term': 'phase', 'period': 0.5}]  # fmt: skip
    changes = {'observation_joints': ['b', 'a', 'c', 'd'], 'history': {'length': 3}}
    pose = {**plain()['default_pose'], 'd': 0.0}
    found = read_policy(write(tmp_path, observations=terms, default_pose=pose, **changes))
    assert found.size == 3 * 3 + 2 * 4 + 3 * 3 + 3 * 2
    assert found.breakdown().startswith('32 = base_lin_vel(3) x 3 steps + joint_vel(4) x 2 steps')
    assert found.needs == {'joint_states', 'odometry'}


@pytest.mark.parametrize(
    ('changes', 'says'),
    [
        ({'observations': ['joint_pos_re']}, r"observations\[0\].term: .*mean 'joint_pos_rel'"),
        ({'observations': []}, 'observations: must be a list of terms'),
        ({'observatons': []}, "unknown key 'observatons'; did you mean 'observations'"),
        ({'observations': [{'term': 'phase'}]}, r'observations\[0\].*phase'),
        ({'observations': [{'term': 'joint_vel', 'period': 1}]}, 'is for the term phase'),
        ({'observations': [{'term': 'joint_vel', 'scale': [1, 2]}]}, 'one number or 3 .*not 2'),
        ({'observations': [{'term': 'joint_vel', 'clip': [1, -1]}]}, 'lower to a higher'),
        ({'default_pose': {'a': 0, 'b': 0}}, 'default_pose: lacks c'),
        ({'default_pose': {'a': 0, 'b': 0, 'c': 0, 'x': 1}}, "'x' is not a joint"),
        ({'joints': ['a', 'a']}, "joints: 'a' is named twice"),
        ({'joints': []}, 'joints: '),
        ({'rate': 0}, r'rate: must be a finite number > 0'),
        ({'rate': None}, "the key 'rate' is missing"),
        ({'action': {'scale': [1.0]}}, 'one number or 3, one for each joint, not 1'),
        ({'action': {'scale': {'a': 1, 'b': 1, 'd': 1}}}, "unknown joint 'd'"),
        ({'action': {'scale': {'a': 1}}}, 'scale: lacks b, c'),
        ({'action': {'scale': 'much'}}, 'action.scale: must be a finite number'),
        ({'command': {'on_timeout': 'hld'}}, "command.on_timeout: .*did you mean 'hold'"),
        ({'history': {'length': 0}}, 'history.length: must be a whole number >= 1'),
        (
            {
                'history': {'order': 'by_step'},
                'observations': [{'term': 'joint_vel', 'history': 2}],
            },
            r'observations: \[0\].history: .*by_term',
        ),
    ],
)  # fmt: skip
def test_errors_name_the_file_the_key_and_the_value(tmp_path, changes, says):
    path = write(tmp_path, **changes)
    with pytest.raises(PolicyError, match=says) as caught:
        read_policy(path)
    assert str(caught.value).startswith(f'{path}: ')
