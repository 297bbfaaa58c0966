# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The parameters that all commands have in common."""

from __future__ import annotations

from dataclasses import dataclass

from urlab_ros_bridge.schema import key


@dataclass(frozen=True)
class CommandParameters:
    """Parameters of all commands."""

    command_max_age: float = key(
        0.5,
        'Maximum accepted age of speeds, efforts and wrenches (s of wall time), also while '
        'simulation time is frozen; 0: no limit. Positions, trajectories and commands that stop '
        'the robot are accepted at any age.',
        low=0.0,
        high=3600.0,
        live=True,
    )
