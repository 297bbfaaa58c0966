# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Which of several bridges of one name on a machine may start."""

from domains import free_domain
import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')
pytest.importorskip('urlab_msgs.msg')

from rclpy.parameter import Parameter  # noqa: E402

from urlab_ros_bridge.ros.program.node import BridgeNode  # noqa: E402
from urlab_ros_bridge.ros.reports import second_bridge as module  # noqa: E402
from urlab_ros_bridge.ros.reports.second_bridge import SecondBridge  # noqa: E402


@pytest.fixture
def make_bridge(monkeypatch, ros_node):
    """Return a function that makes bridges of one feature in this process, on one domain."""
    monkeypatch.setattr(module, '_LEAVING_SECONDS', 0.5)
    domain = free_domain()
    return lambda second_bridge='refuse', **arguments: ros_node(
        BridgeNode,
        domain=domain,
        features=(module.FEATURE,),
        parameter_overrides=[Parameter('second_bridge', value=second_bridge)],
        **arguments,
    )


def test_a_name_is_free_when_its_bridge_is_destroyed_and_no_sooner(make_bridge):
    first, second = make_bridge(), make_bridge()
    first.start()
    for _ in range(2):
        with pytest.raises(SecondBridge, match='urlab_bridge'):
            second.start()
        first.stop()
    kept = list(first.bridge._parts)  # what is left of it in memory holds nothing
    first.destroy_node()
    second.start()
    assert kept


def test_warn_allows_two_and_keeps_out_a_bridge_that_refuses(make_bridge):
    for _ in range(2):
        make_bridge('warn').start()
    with pytest.raises(SecondBridge):
        make_bridge().start()
