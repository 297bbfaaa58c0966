# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
For tests of your own robots and nodes: simulations that tests start, and what they wait for.

The pytest plugin (`pytest_plugin`) has the fixtures; everything here also works without pytest.
Names are imported when they are first used, so that the plugin costs nothing where it is not used.
"""

from __future__ import annotations

import importlib
from typing import Any
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from urlab_ros_bridge.testing.domains import take_domain
    from urlab_ros_bridge.testing.fake_newest_server import FakeNewestServer
    from urlab_ros_bridge.testing.fake_server import FakeRobot
    from urlab_ros_bridge.testing.fake_server import FakeServer
    from urlab_ros_bridge.testing.in_launch import launch_simulation
    from urlab_ros_bridge.testing.motion import assert_moved
    from urlab_ros_bridge.testing.motion import step_until
    from urlab_ros_bridge.testing.ros_messages import wait_for_message
    from urlab_ros_bridge.testing.simulation import Simulation

_HOMES = {
    'FakeNewestServer': 'fake_newest_server',
    'FakeRobot': 'fake_server',
    'FakeServer': 'fake_server',
    'Simulation': 'simulation',
    'assert_moved': 'motion',
    'launch_simulation': 'in_launch',
    'step_until': 'motion',
    'take_domain': 'domains',
    'wait_for_message': 'ros_messages',
}

__all__ = [
    'FakeNewestServer',
    'FakeRobot',
    'FakeServer',
    'Simulation',
    'assert_moved',
    'launch_simulation',
    'step_until',
    'take_domain',
    'wait_for_message',
]


def __getattr__(name: str) -> Any:
    """Import what is asked for."""
    if name not in _HOMES:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    return getattr(importlib.import_module(f'{__name__}.{_HOMES[name]}'), name)
