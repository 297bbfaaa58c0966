# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The plan of a world in which something was spawned or deleted while it ran."""

from __future__ import annotations

from dataclasses import replace

from urlab_ros_bridge.ros.plan import WorldPlan


def keep_namespaces(plan: WorldPlan, before: WorldPlan) -> WorldPlan:
    """
    Return the plan with robots that were there before under the names that they had.

    A robot that was alone has no namespace, and keeps none when another one is spawned: whoever
    listens to its topics goes on.
    """
    known = {robot.prefix: robot for robot in before.robots}
    robots = [
        replace(
            robot,
            namespace=known[robot.prefix].namespace,
            tf_namespace=known[robot.prefix].tf_namespace,
        )
        if robot.prefix in known
        else robot
        for robot in plan.robots
    ]
    return replace(plan, robots=tuple(robots))
