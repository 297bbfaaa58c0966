# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The parameters of grippers."""

from __future__ import annotations

from dataclasses import dataclass

from urlab_ros_bridge.schema import key


def _grippers(value: tuple[str, ...]) -> str:
    for text in () if value == ('auto',) else value:
        if not all(text.partition(':')):
            return f'contains {text!r}, must be NAME:JOINT[,JOINT...]'
    return ''


@dataclass(frozen=True)
class GripperParameters:
    """Grippers, and their criteria for arrival and stalling."""

    grippers: tuple[str, ...] = key(
        ('auto',),
        'Grippers as NAME:JOINT[,JOINT...], with ROBOT/ in front if only that robot has it. '
        '["auto"]: as reported by the server.',
        check=_grippers,
    )
    gripper_goal_tolerance: float = key(
        0.005,
        'Distance at which a gripper has reached its goal (m or rad).',
        low=0.0,
        high=1.0,
        live=True,
    )
    gripper_stall_speed: float = key(
        0.002,
        'Speed below which a gripper is stalling (m/s or rad/s).',
        low=0.0,
        high=10.0,
        live=True,
    )
    gripper_stall_timeout: float = key(
        0.5,
        'Time below gripper_stall_speed after which a gripper has stalled (s of simulation time).',
        low=0.0,
        high=60.0,
        live=True,
    )
    gripper_allow_stalling: bool = key(
        True,
        'Treat a gripper that stalls before its goal as successful: it holds an object.',
        live=True,
    )
