# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The profile: which robot is served, what a policy sees of it, and what its actions mean.

Each section is a dataclass whose fields are the keys of the YAML file; their metadata holds the
words for the documentation and the values they take.  Everything has a default.
"""
# ruff: noqa: RUF009, `key` makes fields

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import Field
from dataclasses import field
from dataclasses import fields
from difflib import get_close_matches
import math
from pathlib import Path
import types
from typing import Any
from typing import get_args
from typing import get_origin
from typing import get_type_hints
from typing import TypeVar

import yaml

from urlab_ros_bridge.gateways.chiral.errors import ProfileError
from urlab_ros_bridge.gateways.chiral.rotation import ROTATIONS

MAX_PROFILE = 1 << 20
T = TypeVar('T')

PACES = ('real_time', 'lockstep')
CLOCKS = ('sim', 'monotonic', 'unix_ns')
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


def key(default: Any, text: str, choices: tuple[str, ...] = (), low: float = -math.inf) -> Any:
    """Return a dataclass field with its documentation and its limits."""
    more = {'text': text, 'choices': choices, 'low': low}
    if isinstance(default, type):
        return field(default_factory=default, metadata=more)
    return field(default=default, metadata=more)


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
    kind: str = key('joint_position', 'What the numbers are.', PROPRIO_KINDS)
    joints: list[str] | None = key(None, 'Joints in order; default: all hinges and slides.')
    actuators: list[str] | None = key(None, 'Actuators of a gripper stream.')
    site: str = key('', 'Site or body whose pose is an ee_pose stream.')
    sensor: str = key('', 'Sensor of a sensor stream.')
    rotation: str = key('quat', 'Rotation of a pose.', tuple(ROTATIONS))
    reference: str = key('', 'Site or body that a pose is relative to; default: the reference.')


@dataclass
class ActionProfile:
    """One part of the action vector; the parts follow each other in the order of the list."""

    kind: str = key('joint_position', 'What the numbers mean.', ACTION_KINDS)
    joints: list[str] | None = key(None, 'Joints in order, or those that move an end effector.')
    actuators: list[str] | None = key(None, 'Actuators of a gripper or actuator part.')
    site: str = key('', 'Site or body that an ee_pose moves.')
    rotation: str = key('rot6d', 'Rotation of an ee_pose.', tuple(ROTATIONS))
    reference: str = key('', 'Site or body that an ee_pose is relative to; default: as above.')
    closed: float | None = key(None, 'Control of a closed gripper (0); default: the smallest.')
    open: float | None = key(None, 'Control of an open gripper (1); default: the largest.')
    max_jump: float | None = key(
        None, 'Largest change of a joint target from one action to the next (rad, m).', low=0.0
    )


@dataclass
class ControlProfile:
    """How actions are carried out."""

    rate: float = key(30.0, 'Actions per second of simulated time.', low=0.1)
    interpolate: bool = key(True, 'Reach a target in one control period instead of at once.')
    interpolation_rate: float = key(100.0, 'Set-points per second on the way.', low=1.0)
    chunks: str = key(
        'queue', 'What an action of shape [N, D] does: one row a period, the first, nothing.',
        CHUNKS,
    )  # fmt: skip
    on_jump: str = key('close', 'What a jump beyond max_jump does.', ON_JUMP)
    on_disconnect: str = key('hold', 'What happens when the driver has gone.', ON_DISCONNECT)


@dataclass
class ResetProfile:
    """Where an episode begins."""

    keyframe: str = key('', 'Keyframe; default: the first of home, stand, ready that there is.')
    seed: int = key(0, 'Seed of the first episode; the next ones count up.', low=0)
    joint_noise: float = key(0.0, 'Standard deviation of the joint positions (rad, m).', low=0.0)
    settle: float = key(0.0, 'Simulated seconds that pass before the first observation.', low=0.0)


@dataclass
class TaskProfile:
    """What is asked of the policy."""

    instruction: str = key('', 'Language instruction, passed on in extra and metadata.')
    hook: str = key('', 'module:callable that judges every observation: reward, success, ...')
    time_limit: float = key(0.0, 'Simulated seconds after which truncated is true.', low=0.0)


@dataclass
class Profile:
    """A whole profile."""

    articulation: str = key('', 'Prefix of the robot; default: the first of the world.')
    pace: str = key('real_time', 'Real time, or one control period for each action.', PACES)
    frames: str = key('latest', 'Newest frames at once, or ones made after the request.', FRAMES)
    clock: str = key('sim', 'Timestamps: seconds, monotonic seconds, unix nanoseconds.', CLOCKS)
    reference: str = key('', 'Site or body that poses are relative to; default: the base; world.')
    control: ControlProfile = key(ControlProfile, 'How actions are carried out.')
    cameras: list[CameraProfile] | None = key(None, 'Default: every colour camera.')
    proprio: list[ProprioProfile] | None = key(None, 'Default: joints, base and gripper.')
    actions: list[ActionProfile] | None = key(None, 'Default: what the actuators take.')
    reset: ResetProfile = key(ResetProfile, 'Where an episode begins.')
    task: TaskProfile = key(TaskProfile, 'What is asked of the policy.')


def load_profile(path: Path | str) -> Profile:
    """
    Read a profile.

    :raises ProfileError: naming the file, the key, the bad value and the valid ones.
    """
    path = Path(path)
    try:
        with path.open('rb') as file:
            text = file.read(MAX_PROFILE + 1)
        if len(text) > MAX_PROFILE:
            raise ProfileError(str(path), len(text), f'bytes are more than {MAX_PROFILE}')
        value = yaml.safe_load(text)
    except (OSError, UnicodeError, yaml.YAMLError, ValueError, RecursionError) as error:
        if isinstance(error, ProfileError):
            raise
        raise ProfileError(str(path), 'profile', f'cannot be read: {error}') from error
    return read_profile(value if value is not None else {}, path.name)


def read_profile(value: object, where: str = 'profile') -> Profile:
    """
    Check the value of a YAML file.

    :raises ProfileError: when it is no profile.
    """
    return _section(Profile, value, where)


def _section(kind: type[T], value: object, where: str) -> T:
    if not isinstance(value, dict):
        raise ProfileError(where, value, 'is not a map', [f.name for f in fields(kind)])
    known: dict[str, Field] = {item.name: item for item in fields(kind)}
    for name in value:
        if name not in known:
            near = get_close_matches(str(name), known, 1)
            hint = f', did you mean {near[0]!r}?' if near else ''
            raise ProfileError(where, name, f'is no key here{hint}', known)
    hints = get_type_hints(kind)
    return kind(
        **{
            name: _value(hints[name], known[name], given, f'{where}: {name}')
            for name, given in value.items()
        }
    )


def _value(kind: Any, item: Field, value: object, where: str) -> Any:
    if get_origin(kind) is types.UnionType:
        if value is None:
            return None
        kind = get_args(kind)[0]
    if get_origin(kind) is list:
        if not isinstance(value, list):
            raise ProfileError(where, value, 'is not a list')
        (inner,) = get_args(kind)
        return [_value(inner, item, v, f'{where}[{i}]') for i, v in enumerate(value)]
    if kind is bool or kind is str:
        return _word(kind, item, value, where)
    if kind is int or kind is float:
        return _number(kind, item, value, where)
    return _section(kind, value, where)


def _word(kind: type, item: Field, value: object, where: str) -> Any:
    choices = item.metadata['choices']
    if not isinstance(value, kind):
        raise ProfileError(where, value, f'is not a {"text" if kind is str else "truth value"}')
    if choices and value not in choices:
        raise ProfileError(where, value, 'is not a choice', choices)
    return value


def _number(kind: type, item: Field, value: object, where: str) -> Any:
    low = item.metadata['low']
    number = type(value) in ((int,) if kind is int else (int, float))
    if not number or not math.isfinite(value) or value < low:
        more = f' of at least {low:g}' if low > -math.inf else ''
        raise ProfileError(
            where, value, f'is not a{"n integer" if kind is int else " number"}{more}'
        )
    return kind(value)
