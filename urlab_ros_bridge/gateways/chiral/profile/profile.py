# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The profile: the robot that is served, its observations, and the meaning of its actions.

Each section is a dataclass whose fields are the keys of the YAML file (`schema`).  Everything has
a default.
"""

from __future__ import annotations

from dataclasses import dataclass
import os
from pathlib import Path

from urlab_ros_bridge.files.folders import shipped_file
from urlab_ros_bridge.files.folders import shipped_names
from urlab_ros_bridge.gateways.chiral.errors import ProfileError
from urlab_ros_bridge.gateways.chiral.profile.rotations import ROTATIONS
from urlab_ros_bridge.gateways.simulation.clocks import CLOCKS
from urlab_ros_bridge.schema import hint
from urlab_ros_bridge.schema import key
from urlab_ros_bridge.schema import Place
from urlab_ros_bridge.schema import read
from urlab_ros_bridge.schema import read_yaml
from urlab_ros_bridge.schema import shown

PACES = ('real_time', 'lockstep')
FRAMES = ('latest', 'fresh')
ON_DISCONNECT = ('hold', 'stop', 'reset')
CHUNKS = ('queue', 'first', 'refuse')
ON_JUMP = ('close', 'clip')
PROPRIO_KINDS = (
    'joint_position', 'joint_velocity', 'joint_torque', 'joint_target', 'gripper', 'ee_pose',
    'base_pose', 'sensor',
)  # fmt: skip
ACTION_KINDS = (
    'joint_position', 'joint_delta', 'joint_velocity', 'joint_torque', 'gripper', 'ee_pose',
    'ee_delta', 'twist', 'actuator',
)  # fmt: skip


@dataclass
class CameraProfile:
    """One camera of the observations."""

    name: str = key('', 'Name on the wire; default: that of the colour camera.')
    rgb: str = key('', 'Colour camera of the robot or of the scene.')
    depth: str = key('auto', 'Depth camera; auto: the one with the same view; none: no depth.')


@dataclass
class ProprioProfile:
    """One stream of numbers."""

    name: str = key('', 'Name on the wire; default: the kind.')
    kind: str = key('joint_position', 'What the numbers are.', choices=PROPRIO_KINDS)
    joints: list[str] | None = key(None, 'Joints in order; default: all hinges and slides.')
    actuators: list[str] | None = key(None, 'Actuators of a gripper stream.')
    site: str = key('', 'Site or body whose pose is an ee_pose stream.')
    sensor: str = key('', 'Sensor of a sensor stream.')
    rotation: str = key('quat', 'Rotation of a pose.', choices=tuple(ROTATIONS))
    reference: str = key('', 'Site or body that a pose is relative to; default: the reference.')


@dataclass
class ActionProfile:
    """One part of the action vector; the parts follow each other in the order of the list."""

    kind: str = key('joint_position', 'What the numbers mean.', choices=ACTION_KINDS)
    joints: list[str] | None = key(None, 'Joints in order, or those that move an end effector.')
    actuators: list[str] | None = key(None, 'Actuators of a gripper or actuator part.')
    site: str = key('', 'Site or body that an ee_pose moves.')
    rotation: str = key('rot6d', 'Rotation of an ee_pose.', choices=tuple(ROTATIONS))
    reference: str = key('', 'Site or body that an ee_pose is relative to; default: as above.')
    closed: float | None = key(None, 'Control of a closed gripper (0); default: the smallest.')
    open: float | None = key(None, 'Control of an open gripper (1); default: the largest.')
    max_jump: float | None = key(
        None, 'Largest change of a joint target from one action to the next (rad, m).', low=0.0
    )


@dataclass
class ControlProfile:
    """How actions are carried out."""

    rate: float = key(30.0, 'Actions per second of simulated time.', unit='Hz', low=0.1)
    interpolate: bool = key(True, 'Reach a target in one control period instead of at once.')
    interpolation_rate: float = key(100.0, 'Setpoints per second on the way.', unit='Hz', low=1.0)
    chunks: str = key(
        'queue', 'What an action of shape [N, D] does: one row a period, the first, nothing.',
        choices=CHUNKS,
    )  # fmt: skip
    on_jump: str = key('close', 'What a jump beyond max_jump does.', choices=ON_JUMP)
    on_disconnect: str = key(
        'hold', 'What happens when the driver disconnects.', choices=ON_DISCONNECT
    )


@dataclass
class ResetProfile:
    """Where an episode begins."""

    keyframe: str = key('', 'Keyframe; default: the first existing one of home, stand, ready.')
    seed: int = key(0, 'Seed of the first episode; the next ones count up.', low=0)
    joint_noise: float = key(0.0, 'Standard deviation of the joint positions (rad, m).', low=0.0)
    settle: float = key(0.0, 'Simulated seconds that pass before the first observation.', low=0.0)


@dataclass
class TaskProfile:
    """The task of the policy."""

    instruction: str = key('', 'Language instruction, passed on in extra and metadata.')
    hook: str = key('', 'module:callable that judges every observation: reward, success, ...')
    time_limit: float = key(0.0, 'Simulated seconds after which truncated is true.', low=0.0)


@dataclass
class Profile:
    """A whole profile."""

    articulation: str = key('', 'Prefix of the robot; default: the first of the world.')
    pace: str = key(
        'real_time', 'Real time, or one control period for each action.', choices=PACES
    )
    frames: str = key(
        'latest', 'Newest frames at once, or ones made after the request.', choices=FRAMES
    )
    clock: str = key(
        'sim', 'Timestamps: seconds, monotonic seconds, unix nanoseconds.', choices=CLOCKS
    )
    reference: str = key('', 'Site or body that poses are relative to; default: the base; world.')
    control: ControlProfile = key(text='How actions are carried out.', factory=ControlProfile)
    cameras: list[CameraProfile] | None = key(None, 'Default: every colour camera.')
    proprio: list[ProprioProfile] | None = key(None, 'Default: joints, base and gripper.')
    actions: list[ActionProfile] | None = key(None, 'Default: what the actuators take.')
    reset: ResetProfile = key(text='Where an episode begins.', factory=ResetProfile)
    task: TaskProfile = key(text='The task of the policy.', factory=TaskProfile)


def load_profile(path: Path | str) -> Profile:
    """
    Read a profile from a YAML file.

    :raises ProfileError: naming the file, the key, the bad value and the valid ones.
    """
    return read(Profile, read_yaml(Path(path), ProfileError))


def read_profile(value: object, source: str = 'profile') -> Profile:
    """
    Read a profile from the value of a YAML file.

    :param source: what the errors name as the file.
    :raises ProfileError: when it is not a profile.
    """
    return read(Profile, Place(value, '', source, ProfileError))


FOLDER = 'config/chiral'


def profile_names() -> list[str]:
    """Return the names of the bundled profiles in alphabetical order."""
    return shipped_names(FOLDER, '.yaml')


def find_profile(name_or_path: str) -> Path:
    """
    Return the file of a profile; a file of the user goes before a bundled one of that name.

    :param name_or_path: such as ``bimanual`` or ``my_profile.yaml``.
    :raises ProfileError: when there is neither; it lists the names.
    """
    if os.path.isfile(name_or_path):  # False too for what no system can open
        return Path(name_or_path)
    names = profile_names()
    if name_or_path not in names:
        what = 'is a folder' if os.path.isdir(name_or_path) else 'there is no such file'
        raise ProfileError(
            f'profile {shown(name_or_path)}',
            '',
            f'{what}, and no bundled profile of that name; {hint(name_or_path, names)}',
        )
    return shipped_file(f'{FOLDER}/{name_or_path}.yaml')


__all__ = [
    'ACTION_KINDS',
    'CHUNKS',
    'FRAMES',
    'ON_DISCONNECT',
    'ON_JUMP',
    'PACES',
    'PROPRIO_KINDS',
    'ActionProfile',
    'CameraProfile',
    'ControlProfile',
    'Profile',
    'ProprioProfile',
    'ResetProfile',
    'TaskProfile',
    'find_profile',
    'load_profile',
    'profile_names',
    'read_profile',
]
