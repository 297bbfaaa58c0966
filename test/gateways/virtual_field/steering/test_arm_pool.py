# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Who gets which arms, and why not."""

from types import SimpleNamespace

import pytest

from urlab_ros_bridge.gateways.virtual_field.errors import BadMessage
from urlab_ros_bridge.gateways.virtual_field.errors import NoFreeArm
from urlab_ros_bridge.gateways.virtual_field.steering.arm_pool import ArmPool

ARMS = [SimpleNamespace(full_name=name) for name in ('one/left', 'one/right', 'two/arm')]


@pytest.fixture
def pool():
    return ArmPool('hall', ARMS, {'one': [0, 1], 'two': [2], 'cart': []}, ['cart', 'two'])


@pytest.mark.parametrize('mode', ['two-cr', 'demo-spline', 'hall', 'one'])
def test_two_arms_for_a_user(pool, mode):
    holding = pool.take('user_1', mode, 2)
    assert holding.arm_ids == holding.controlled_arm_ids == ['user_1_arm_0', 'user_1_arm_1']
    assert pool.ownership.arm_ids == ('user_1_arm_0', 'user_1_arm_1', 'two/arm')
    assert pool.ownership.owners == ('user_1', 'user_1', None)
    assert pool.ownership.users == {'user_1': ('user_1_arm_0', 'user_1_arm_1')}
    assert holding.manifest()['arms']['user_1_arm_1'] == {'color': '#74c0fc'}


def test_users_have_arms_of_their_own_until_none_is_left(pool):
    assert pool.take('a', 'one', 1).arms == (0,)
    b = pool.take('b', 'one', 1)
    assert b.arms == (1,)
    assert b.controlled_arm_ids == ['b_arm_0', 'b_arm_0']
    with pytest.raises(NoFreeArm, match=r"2 .*'one'"):
        pool.take('c', 'one', 1)
    pool.release('a')
    assert pool.take('c', 'one', 2).arms == pool.take('c', 'one', 2).arms == (0,)


def test_a_base_is_driven_by_one_user(pool):
    assert pool.take('a', 'cart', 2).base == 'cart'
    with pytest.raises(NoFreeArm, match='1 bases'):
        pool.take('b', 'cart', 2)
    assert pool.take('b', 'two', 2).base == 'two'


def test_unknown_modes_are_refused_with_the_known_ones(pool):
    for mode in ('', 'spirobs'):
        with pytest.raises(BadMessage, match=r'^vr_client requires a backend-supported') as caught:
            pool.take('a', mode, 2)
        assert 'hall' in str(caught.value)
