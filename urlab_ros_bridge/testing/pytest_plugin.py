# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The pytest plugin, which pytest loads by its entry point `pytest11`.

It imports nothing of ROS, MuJoCo or the suite until a fixture is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from urlab_ros_bridge.testing.fake_server import FakeServer
    from urlab_ros_bridge.testing.simulation import Simulation

MARKER = (
    'simulation(world, *, bridge, mode, ...): what the fixtures `simulation` and `fake_server` '
    'start; the arguments of urlab_ros_bridge.testing.Simulation or FakeServer'
)


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line('markers', MARKER)


@pytest.fixture
def simulation(request: pytest.FixtureRequest) -> Iterator[Simulation]:
    """
    Run a headless server and a bridge on free ports and a free ROS domain.

    Arguments come from the marker `simulation`, and from indirect parameters, which win.
    """
    from urlab_ros_bridge.testing.simulation import Simulation

    positional, named = _arguments(request)
    with Simulation(*positional, **named) as running:
        yield running


@pytest.fixture
def fake_server(request: pytest.FixtureRequest) -> Iterator[FakeServer]:
    """Run a server without MuJoCo, whose robots do what a script says; arguments likewise."""
    from urlab_ros_bridge.testing.fake_server import FakeServer

    positional, named = _arguments(request)
    with FakeServer(*positional, **named) as server:
        yield server


def _arguments(request: pytest.FixtureRequest) -> tuple[tuple[Any, ...], dict[str, Any]]:
    marker = request.node.get_closest_marker('simulation')
    positional, named = (marker.args, dict(marker.kwargs)) if marker else ((), {})
    given = getattr(request, 'param', None)
    if isinstance(given, dict):
        return positional, {**named, **given}
    if given is not None:  # parametrize('simulation', ['rover', 'arm'], indirect=True)
        return (given, *positional[1:]), named
    return positional, named
