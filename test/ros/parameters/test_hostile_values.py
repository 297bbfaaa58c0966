# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Every parameter with 17 values: each is refused with a reason, or the bridge works with it."""

import math
import sys

from bridge_harness import wait_until
from nav_msgs.msg import Odometry
import pytest
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu
from sensor_msgs.msg import JointState
from visualization_msgs.msg import MarkerArray

from urlab_ros_bridge.ros.parameters.params import BadParameter
from urlab_ros_bridge.ros.program.features import Settings

pytestmark = pytest.mark.slow

FLOATS = (0.0, -0.0, 5e-324, 1e-310, 1e-9, 1e-3, 0.3, 1.0, 17.0, 1e3, 1e6, 1e300,
          sys.float_info.max, -1.0, math.nan, math.inf, -math.inf)  # fmt: skip
INTEGERS = (0, 1, -1, 2, 3, 10, 22, 80, 255, 1024, 5559, 65535, 65536, 2**31, 2**53, 2**63 - 1,
            -(2**63))  # fmt: skip
TEXTS = ('', ' ', 'a', 'a' * 90, 'a' * 247, 'x' * 4096, 'a/b', 'a//b', '~', '~/x', '{robot}/x',
         '{prefix}', '[', '(a+)+#', '$(id)', '-rf', 'ärger\n\0')  # fmt: skip
FLAGS = (True, False)
ROUNDS = 17


def values_of(row):
    plain = {bool: FLAGS, int: INTEGERS, float: FLOATS, str: (*row.key.choices, *TEXTS)}[row.kind]
    if row.is_list:
        lists = [(), *((value,) for value in plain), tuple(plain), plain[:1] * 3000]
        length = len(row.default)
        return [*lists[: ROUNDS - 3], *lists[-2:], plain[6:7] * length]
    return plain


def parameter(row, value):
    kinds = {bool: Parameter.Type.BOOL_ARRAY, int: Parameter.Type.INTEGER_ARRAY,
             float: Parameter.Type.DOUBLE_ARRAY, str: Parameter.Type.STRING_ARRAY}  # fmt: skip
    if row.is_list:
        return Parameter(row.name, kinds[row.kind], list(value))
    return Parameter(row.name, value=value)


def works(bridge):
    """Wait until some more ticks are published, or the thread that publishes has ended."""
    goal = bridge.stream.counters.ticks + 5
    wait_until(
        lambda: bridge.stream.counters.ticks >= goal or not bridge.stream._thread.is_alive()
    )
    assert bridge.stream._thread.is_alive() and bridge._thread.is_alive()


def test_live_changes_are_refused_or_take_effect(small_server, bridged):
    bridge, listener = bridged(small_server())
    wait_until(lambda: bridge.settled)
    for kind, topic in (
        (Odometry, 'odom'), (JointState, 'joint_states'), (Imu, 'imu/data'), (Clock, '/clock'),
        (MarkerArray, 'markers/entities'), (MarkerArray, 'markers/contacts'),
    ):  # fmt: skip
        listener.listen(kind, topic)
    rows = [row for row in Settings.TABLE.values() if row.live]
    assert len(rows) > 30
    refused = 0
    for number in range(ROUNDS):
        for row in rows:
            values = values_of(row)
            value = values[number % len(values)]
            (result,) = bridge.node.set_parameters([parameter(row, value)])
            expected = not row.problem(value)
            # rclpy compares with a range in its own way, but never takes what we refuse.
            right = result.successful <= expected and bool(result.reason) != result.successful
            assert right, (row.name, value, result)
            refused += not result.successful
        works(bridge)
    assert refused > 100


def test_all_other_values_are_refused_with_name_and_value(ros_node):
    from urlab_ros_bridge.ros.program.node import BridgeNode

    for row in Settings.TABLE.values():
        for value in values_of(row):
            text = row.problem(value)
            assert not text or text.startswith(row.name)
    bad = [
        parameter(row, next(filter(row.problem, values_of(row))))
        for row in Settings.TABLE.values()
        if any(map(row.problem, values_of(row)))
    ]
    with pytest.raises(BadParameter) as refused:
        ros_node(BridgeNode, parameter_overrides=bad)
    assert len(bad) > 60 and all(each.name in str(refused.value) for each in bad)
