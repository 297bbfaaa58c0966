# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Names of robots while others come and go."""

from dataclasses import fields
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
import pytest

from urlab_ros_bridge.ros.plan.parameters import NamesParameters
from urlab_ros_bridge.ros.plan.plan import keep_namespaces
from urlab_ros_bridge.ros.plan.plan import namespaces
from urlab_ros_bridge.ros.plan.plan import RobotPlan
from urlab_ros_bridge.ros.plan.plan import WorldPlan

pytestmark = pytest.mark.ros
BLANK = RobotPlan(**{item.name: None for item in fields(RobotPlan)})


def world(prefixes):
    """Plan a world as it would be planned at first sight."""
    names = namespaces(prefixes, NamesParameters())
    robots = [
        replace(BLANK, prefix=prefix, namespace=name, tf_namespace=name)
        for prefix, name in names.items()
    ]
    return WorldPlan(tuple(robots))


@given(st.lists(st.sets(st.sampled_from('abcde')), min_size=1, max_size=8))
def test_a_robot_keeps_its_names_and_no_two_share_one(history):
    plan, known = WorldPlan(), {}
    for present in history:
        plan = keep_namespaces(world(sorted(present)), plan)
        assert [robot.prefix for robot in plan.robots] == sorted(present)
        names = {robot.prefix: robot.namespace for robot in plan.robots}
        assert len(set(names.values())) == len(names)
        for prefix in known.keys() & names.keys():
            assert names[prefix] == known[prefix]
        assert all(robot.tf_namespace == robot.namespace for robot in plan.robots)
        known = names
