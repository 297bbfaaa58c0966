# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The pool of arms and bases."""

from types import SimpleNamespace

import pytest

from urlab_ros_bridge.gateways.virtual_field.errors import NoFreeArm
from urlab_ros_bridge.gateways.virtual_field.steering.arm_pool import ArmPool

ARMS = [SimpleNamespace(full_name=name) for name in ('one/left', 'one/right', 'two/arm')]


@pytest.fixture
def pool():
    return ArmPool('hall', ARMS, {'one': [0, 1], 'two': [2], 'cart': []}, ['cart', 'two'])


def test_a_base_is_driven_by_one_user(pool):
    assert pool.take('a', 'cart', 2).base == 'cart'
    with pytest.raises(NoFreeArm, match='1 bases'):
        pool.take('b', 'cart', 2)
    assert pool.take('b', 'two', 2).base == 'two'
