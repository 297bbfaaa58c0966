# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
from policies import write
import pytest

from urlab_ros_bridge.policy.description import read_policy
from urlab_ros_bridge.policy.observations import ObservationBuilder
from urlab_ros_bridge.policy.terms import PolicyInputs
from urlab_ros_bridge.policy.terms import Reading


def moment(number, size=3):
    """A moment all of whose numbers tell which step it was."""
    value = np.full(size, float(number))
    reading = Reading(0, value + 0.1, value + 0.2, value, value[:3] + 0.3, value[:3] + 0.4)
    return PolicyInputs(
        reading, np.array([1.0, 2.0, 3.0]), np.full(size, 0.1), value + 0.6, 0.02 * number
    )


def observer(tmp_path, *terms, **changes):
    return ObservationBuilder(read_policy(write(tmp_path, observations=list(terms), **changes)))


def test_each_term_is_clipped_then_shifted_then_scaled(tmp_path):
    seen = observer(
        tmp_path,
        {'term': 'joint_pos', 'clip': 4, 'offset': [1, 2, 3], 'scale': 0.5},
        'joint_pos_rel',
        {'term': 'velocity_commands', 'scale': [2, 2, 0.25]},
    ).observe(moment(7))
    assert seen == pytest.approx([1.5, 1.0, 0.5, 7, 7, 7, 2, 4, 0.75])
    assert seen.dtype == np.float32


@pytest.mark.parametrize(
    ('history', 'expected'),
    [
        ({}, [1.2, 2.2, 3.2, 1.6, 2.6, 3.6]),
        ({'order': 'by_step', 'newest': 'first'}, [3.2, 3.6, 2.2, 2.6, 1.2, 1.6]),
    ],
)
def test_history_is_assembled_as_configured(tmp_path, history, expected):
    seen = observer(
        tmp_path, 'joint_vel', 'last_action', history={'length': 3, **history},
        joints=['a'], default_pose={'a': 0.0},
    )  # fmt: skip
    for step in range(4):
        found = seen.observe(moment(step, 1))
    assert found == pytest.approx(expected)


def test_history_starts_with_the_first_step_and_is_cleared_by_a_reset(tmp_path):
    seen = observer(tmp_path, {'term': 'joint_vel', 'history': 2}, 'last_action')
    first = seen.observe(moment(1))
    assert first == pytest.approx([1.2] * 6 + [1.6] * 3)
    assert seen.observe(moment(2)) == pytest.approx([1.2] * 3 + [2.2] * 3 + [2.6] * 3)
    seen.reset()
    assert (seen.observe(moment(1)) == first).all()
