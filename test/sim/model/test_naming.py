# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Prefixes that clients can tell apart, and names for what has none."""

from hypothesis import given
from hypothesis import strategies as st
import mujoco
import pytest

from urlab_ros_bridge.sim.model.naming import name_unnamed
from urlab_ros_bridge.sim.model.naming import names_with
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
def test_two_robots_go_together_when_no_name_of_one_looks_like_the_others(one, other):
    apart = not f'{one}_'.startswith(f'{other}_') and not f'{other}_'.startswith(f'{one}_')
    assert (not prefix_problem(one, [other])) is apart
    assert bool(prefix_problem(one, [other])) is bool(prefix_problem(other, [one]))


@pytest.mark.parametrize('prefix', ['', '1x', 'a b', 'a/b', '_a', 'ü', 'scene', 'state'])
def test_what_cannot_be_a_prefix_is_named(prefix):
    assert repr(prefix) in prefix_problem(prefix)


def test_default_names_never_meet_given_ones():
    spec = mujoco.MjSpec.from_string(
        '<mujoco><worldbody><body name="Body"><joint name="HingeJoint"/><joint axis="1 0 0"/>'
        '<geom size="0.1"/></body><body><joint name="HingeJoint_2"/><joint axis="0 1 0"/>'
        '<geom size="0.1"/><site/></body></worldbody>'
        '<actuator><motor joint="HingeJoint"/><motor joint="HingeJoint"/></actuator>'
        '<sensor><jointpos joint="HingeJoint"/><jointpos joint="HingeJoint"/></sensor></mujoco>'
    )
    name_unnamed(spec)
    for elements in (spec.bodies, spec.joints, spec.actuators, spec.sensors, spec.sites):
        names = [element.name for element in elements]
        assert all(names) and len(set(names)) == len(names)
    assert {'HingeJoint', 'HingeJoint_2', 'HingeJoint_3', 'HingeJoint_4'} == {
        joint.name for joint in spec.joints
    }
    assert names_with(spec, 'HingeJoint') == ['HingeJoint_3', 'HingeJoint_2', 'HingeJoint_4'] + [
        actuator.name for actuator in spec.actuators if '_' in actuator.name
    ]
    spec.compile()
