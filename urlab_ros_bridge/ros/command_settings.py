# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The parameters of trajectories, grippers, wrenches, and of who may command."""

from __future__ import annotations

from dataclasses import dataclass

from urlab_ros_bridge.ros.setting_row import parameter

GROUP = 'Trajectories and control'


@dataclass(frozen=True)
class CommandSettings:
    """A part of `settings.Settings`."""

    trajectory_controller: str = parameter(
        'joint_trajectory_controller',
        'Name below which a robot offers the action follow_joint_trajectory and the '
        'topics joint_trajectory and controller_state.',
        group=GROUP,
        topic=True,
    )
    trajectory_rate: float = parameter(
        200.0,
        'Limit for set-points of a trajectory (Hz of simulation time), 0: every tick.',
        group=GROUP,
        low=0.0,
        high=10000.0,
        live=True,
    )
    trajectory_feedback_rate: float = parameter(
        20.0,
        'Limit for the feedback of a trajectory (Hz of simulation time), 0: every tick.',
        group=GROUP,
        low=0.0,
        high=10000.0,
        live=True,
    )
    trajectory_velocity_gain: float = parameter(
        5.0,
        'Actuators that take a velocity get that of the trajectory, and this times the '
        'position error (1/s).',
        group=GROUP,
        low=0.0,
        high=1000.0,
        live=True,
    )
    trajectory_stop_time: float = parameter(
        0.1,
        'The joints of a trajectory that is cancelled come to rest in this time (s of '
        'simulation time).',
        group=GROUP,
        low=0.0,
        high=10.0,
        live=True,
    )
    trajectory_path_tolerance: float = parameter(
        0.0,
        'Largest position error on the way (rad or m) where a goal names none, 0: any.',
        group=GROUP,
        low=0.0,
        high=1000.0,
        live=True,
    )
    trajectory_goal_tolerance: float = parameter(
        0.0,
        'Largest position error at the end (rad or m) where a goal names none, 0: any.',
        group=GROUP,
        low=0.0,
        high=1000.0,
        live=True,
    )
    trajectory_stopped_velocity_tolerance: float = parameter(
        0.0,
        'Largest speed at the end (rad/s or m/s) where a goal names none, 0: any.',
        group=GROUP,
        low=0.0,
        high=1000.0,
        live=True,
    )
    trajectory_goal_time: float = parameter(
        2.0,
        'The goal tolerances have to be met this long after the last point (s of '
        'simulation time) where a goal does not say, 0: wait for ever.',
        group=GROUP,
        low=0.0,
        high=3600.0,
        live=True,
    )
    allow_partial_joints_goal: bool = parameter(
        True,
        'Follow trajectories that do not name all joints; the others stay as they are.',
        group=GROUP,
        live=True,
    )
    allow_nonzero_velocity_at_trajectory_end: bool = parameter(
        False,
        'Follow trajectories whose last point has a velocity; the joints rest there all the same.',
        group=GROUP,
        live=True,
    )
    reject_bad_goals: bool = parameter(
        False,
        'Reject a goal that cannot be followed. Otherwise it is accepted and aborted at '
        'once, so that its result tells the client why.',
        group=GROUP,
        live=True,
    )
    joint_command_lock: float = parameter(
        0.5,
        'For so long after a joint command no source of lower or equal priority gets its '
        'joints (s of simulation time).',
        group=GROUP,
        low=0.0,
        high=60.0,
        live=True,
    )
    arbitration: str = parameter(
        'priority',
        'Who gets a joint that another source commands. "priority": only a higher source, '
        'in the order joint_trajectory and gripper, joint_commands, cmd_vel. "last": '
        'whoever commands last.',
        group=GROUP,
        choices=('priority', 'last'),
        live=True,
    )
    grippers: tuple[str, ...] = parameter(
        ('auto',),
        'Grippers as NAME:JOINT[,JOINT...], with ROBOT/ in front where only that robot has it. '
        '["auto"]: what the server tells.',
        group=GROUP,
    )
    gripper_goal_tolerance: float = parameter(
        0.005,
        'A gripper is where it was sent when it is as near as this (m or rad).',
        group=GROUP,
        low=0.0,
        high=1.0,
        live=True,
    )
    gripper_stall_speed: float = parameter(
        0.002,
        'A gripper that is slower has stalled (m/s or rad/s).',
        group=GROUP,
        low=0.0,
        high=10.0,
        live=True,
    )
    gripper_stall_timeout: float = parameter(
        0.5,
        'A gripper has stalled when it was slow for this long (s of simulation time).',
        group=GROUP,
        low=0.0,
        high=60.0,
        live=True,
    )
    gripper_allow_stalling: bool = parameter(
        True,
        'A gripper that stalled before it was where it was sent has succeeded: it holds '
        'something.',
        group=GROUP,
        live=True,
    )
    wrench_duration: float = parameter(
        0.1,
        'How long a message on wrench_command pushes, unless another one comes (s of '
        'simulation time).',
        group=GROUP,
        low=0.0,
        high=60.0,
        live=True,
    )
