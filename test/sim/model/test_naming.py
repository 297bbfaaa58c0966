# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Prefixes that clients can tell apart, and names of what has none."""

from hypothesis import given
from hypothesis import strategies as st
import mujoco

from urlab_ros_bridge.sim.model.naming import name_unnamed
from urlab_ros_bridge.wire.names import prefix_problem
from urlab_ros_bridge.wire.names import valid_prefix
from urlab_ros_bridge.wire.rows import parse_topic

PREFIXES = st.from_regex(r'[a-c][a-c_]{0,4}', fullmatch=True)


@given(st.text(max_size=30) | st.sampled_from(['scene', 'state', 'sim_time', 'go1 scene']))
def test_any_name_becomes_a_prefix_whose_topics_are_its_own(name):
    prefix = valid_prefix(name)
    assert not prefix_problem(prefix)
    for topic in (f'{prefix}/joint/full', f'{prefix}/sensor/x/qpos', f'{prefix}/twist'):
        assert parse_topic(topic).prefix == prefix


@given(PREFIXES, PREFIXES)
def test_two_prefixes_are_compatible_if_no_name_of_one_fits_the_other(one, other):
    apart = not f'{one}_'.startswith(f'{other}_') and not f'{other}_'.startswith(f'{one}_')
    assert (not prefix_problem(one, [other])) is apart
    assert bool(prefix_problem(one, [other])) is bool(prefix_problem(other, [one]))


def test_unnamed_elements_get_names_of_their_own():
    joints = [f'<body><joint name="{name}"/><geom size="1"/></body>' for name in ('a', 'a_2')]
    motors = [f'<motor joint="{name}"/>' for name in ('a', 'a_2', 'a', 'a_2', 'a')]
    spec = mujoco.MjSpec.from_string(
        f'<mujoco><worldbody>{"".join(joints)}</worldbody>'
        f'<actuator>{"".join(motors)}</actuator></mujoco>'
    )
    name_unnamed(spec)
    assert [each.name for each in spec.actuators] == ['a', 'a_2', 'a_3', 'a_2_2', 'a_4']
