# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The YAML file that describes a policy: model, joints, observations, action and limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import math
import os
from pathlib import Path

import numpy as np

from urlab_ros_bridge.files.folders import shipped_file
from urlab_ros_bridge.files.folders import shipped_names
from urlab_ros_bridge.policy.terms import TERMS
from urlab_ros_bridge.schema import hint
from urlab_ros_bridge.schema import key
from urlab_ros_bridge.schema import KeyProblem
from urlab_ros_bridge.schema import Place
from urlab_ros_bridge.schema import read
from urlab_ros_bridge.schema import read_yaml
from urlab_ros_bridge.schema import SchemaError
from urlab_ros_bridge.schema import shown
from urlab_ros_bridge.schema.keys import Key
from urlab_ros_bridge.schema.sections import read_value

FOLDER = 'config/policy'
MAX_HISTORY = 100
HOLD, LIMP, ZERO = 'hold', 'limp', 'zero'

Numbers = float | tuple[float, ...]


class PolicyError(SchemaError):
    """A policy cannot be run; the message names the file and the key."""


def _numbers(place: Place) -> Numbers:
    """Read a scalar, or a list with one number per element."""
    if isinstance(place.value, (list, tuple)):
        return tuple(read_value(Key(), float, item) for item in place.items())
    number: float = read_value(Key(), float, place)
    return number


def _by_joint(place: Place) -> Numbers | dict[str, float]:
    """Read one number for all joints, a list in their order, or numbers by name."""
    if isinstance(place.value, dict):
        return {name: read_value(Key(), float, item) for name, item in place.mapping().items()}
    return _numbers(place)


def _terms(place: Place) -> tuple[TermSection, ...]:
    """Read the list of terms, each a name alone or a mapping."""
    found = []
    for item in place.items():
        if isinstance(item.value, str):  # a name alone
            item = item._replace(value={'term': item.value})
        found.append(read(TermSection, item))
    if not found:
        raise place.fail(f'must be a list of terms, not {shown(place.value)}')
    return tuple(found)


def _range(span: tuple[float, float]) -> str:
    return (
        '' if span[0] < span[1] else f'must be from a lower to a higher number, not {list(span)}'
    )


def _pair(place: Place) -> tuple[float, float]:
    """Read a range: its two ends, or one number for both sides of zero."""
    if isinstance(place.value, (list, tuple)):
        span: tuple[float, float] = read_value(Key(), tuple[float, float], place)
    else:
        number = read_value(Key(above=0.0), float, place)
        span = (-number, number)
    if problem := _range(span):
        raise place.fail(problem)
    return span


@dataclass(frozen=True, slots=True)
class TermSection:
    """One term of the observation: `(clip(value) - offset) * scale`."""

    term: str = key(text='Name of the term.', choices=tuple(TERMS))
    scale: Numbers = key(1.0, 'Factor, or one per element.', parse=_numbers)
    offset: Numbers = key(0.0, 'Subtracted before scaling.', parse=_numbers)
    clip: tuple[float, float] | None = key(None, 'Range before offset and scale.', parse=_pair)
    period: float = key(0.0, 'Period of the term `phase`.', unit='s', low=0.0)
    history: int | None = key(
        None, 'Number of steps in the history of this term.', low=1, high=MAX_HISTORY
    )

    def __post_init__(self) -> None:
        if (self.term == 'phase') != (self.period > 0.0):
            problem = (
                'is required for the term phase'
                if self.term == 'phase'
                else (f'is for the term phase, not for {self.term}')
            )
            raise KeyProblem('period', problem)


@dataclass(frozen=True, slots=True)
class HistorySection:
    """How observations of several steps are stacked; at first, the first step is repeated."""

    length: int = key(1, 'Number of steps, including the current one.', low=1, high=MAX_HISTORY)
    order: str = key(
        'by_term',
        'All steps of a term and then the next term (Isaac Lab), or all terms of a step and then '
        'the next step.',
        choices=('by_term', 'by_step'),
    )
    newest: str = key('last', 'Position of the current step.', choices=('last', 'first'))


@dataclass(frozen=True, slots=True)
class ActionSection:
    """How outputs become targets: `target = offset + scale * clip(output)`."""

    scale: Numbers | dict[str, float] = key(
        1.0, 'Factor, one for each joint in order, or by name.', parse=_by_joint
    )
    offset: str = key(
        'default_pose', 'Added to the scaled output.', choices=('default_pose', 'none')
    )
    clip: tuple[float, float] | None = key(None, 'Range of the output.', parse=_pair)


@dataclass(frozen=True, slots=True)
class CommandSection:
    """The velocity command."""

    linear: tuple[float, float] | None = key(None, 'Range of vx.', unit='m/s', parse=_pair)
    lateral: tuple[float, float] | None = key(None, 'Range of vy.', unit='m/s', parse=_pair)
    angular: tuple[float, float] | None = key(
        None, 'Range of yaw rate.', unit='rad/s', parse=_pair
    )
    timeout: float = key(0.5, 'Age at which a command expires; 0: never.', unit='s', low=0.0)
    on_timeout: str = key(
        HOLD,
        'Then: move to the default pose, go limp, or continue with zero velocity.',
        choices=(HOLD, LIMP, ZERO),
    )

    def limits(self) -> np.ndarray:
        """Return the ranges, (3, 2)."""
        free = (-math.inf, math.inf)
        return np.array([self.linear or free, self.lateral or free, self.angular or free])


@dataclass(frozen=True, slots=True)
class ImuSection:
    """How the IMU is mounted."""

    rotation: tuple[float, float, float] = key(
        (0.0, 0.0, 0.0), 'Roll, pitch and yaw of the IMU in the base frame.', unit='rad'
    )


@dataclass(frozen=True, slots=True)
class PolicyDescription:
    """One policy; see docs/policy.md."""

    model: str = key(text='ONNX file, relative to this one.', longest=4096)
    rate: float = key(text='Steps of the policy per second.', unit='Hz', above=0.0, high=1000.0)
    joints: tuple[str, ...] = key(text='Joints of the outputs of the model, in order.')
    default_pose: dict[str, float] = key(text='Position of each joint by name.', unit='rad')
    observations: tuple[TermSection, ...] = key(text='Terms in order.', parse=_terms)
    observation_joints: tuple[str, ...] = key(
        (), 'Joints of the joint terms, in order; default: `joints`.'
    )
    clip_observations: tuple[float, float] | None = key(
        None, 'Range of the inputs of the model.', parse=_pair
    )
    history: HistorySection = key(factory=HistorySection)
    action: ActionSection = key(factory=ActionSection)
    command: CommandSection = key(factory=CommandSection)
    imu: ImuSection = key(factory=ImuSection)
    start_time: float = key(
        2.0, 'Duration of the first transition to the default pose.', unit='s', low=0.0
    )
    hold_time: float = key(0.3, 'Duration of later transitions to it.', unit='s', low=0.0)
    observation_timeout: float = key(
        0.2, 'Age at which sensor readings are stale.', unit='s', above=0.0
    )
    on_stale: str = key(
        HOLD,
        'Then: move to the default pose, or go limp.',
        choices=(HOLD, LIMP),
    )
    tilt_limit: float | None = key(
        None,
        'Tilt beyond which the joints are limp.',
        unit='rad',
        above=0.0,
    )
    pairing: str = key(
        'exact',
        'exact: messages with equal stamps belong together; newest: the newest of each topic, at '
        'each joint_states.',
        choices=('exact', 'newest'),
    )
    output: str = key(
        'joint_state',
        'Type of joint_commands: JointState with names, or Float64MultiArray in the order of '
        '`joints`.',
        choices=('joint_state', 'array'),
    )
    threads: int = key(1, 'Threads of one inference.', low=1, high=64)

    def __post_init__(self) -> None:
        for name in ('joints', 'observation_joints'):
            names = getattr(self, name)
            twice = next((joint for joint in names if names.count(joint) > 1), None)
            if twice is not None:
                raise KeyProblem(name, f'{shown(twice)} is named twice')
        if not self.joints:
            raise KeyProblem('joints', 'must list the joints that the model moves')
        needed = dict.fromkeys((*self.joints, *self.observed))
        for joint in self.default_pose:
            if joint not in needed:
                raise KeyProblem(
                    'default_pose',
                    f'{shown(joint)} is not a joint of this policy; {hint(joint, needed)}',
                )
        if missing := [joint for joint in needed if joint not in self.default_pose]:
            raise KeyProblem('default_pose', f'lacks {", ".join(missing)}')
        self._check_lengths()

    @property
    def observed(self) -> tuple[str, ...]:
        """Return the joints of the joint terms."""
        return self.observation_joints or self.joints

    @property
    def needs(self) -> frozenset[str]:
        """Return the sensors that the policy needs."""
        found = {TERMS[section.term].needs for section in self.observations}
        if self.tilt_limit is not None:
            found.add('imu')
        return frozenset({*found, 'joint_states'})

    def pose(self, joints: Sequence[str]) -> np.ndarray:
        """Return the default pose of some joints, (n,)."""
        return np.array([self.default_pose[joint] for joint in joints])

    def action_scale(self) -> np.ndarray:
        """Return the factor of each output, (m,)."""
        scale = self.action.scale
        if isinstance(scale, dict):
            return np.array([scale[joint] for joint in self.joints])
        return np.broadcast_to(np.asarray(scale, dtype=float), len(self.joints)).copy()

    def size_of(self, section: TermSection) -> int:
        """Return the size of a term in one step."""
        return TERMS[section.term].size(len(self.observed), len(self.joints))

    def steps_of(self, section: TermSection) -> int:
        """Return the history length of a term."""
        return section.history or self.history.length

    @property
    def size(self) -> int:
        """Return the size of the observation."""
        return sum(self.size_of(each) * self.steps_of(each) for each in self.observations)

    def breakdown(self) -> str:
        """
        Describe the observation.

        Such as `45 = base_ang_vel(3) + joint_pos_rel(12) x 5 steps`.
        """
        parts = []
        for section in self.observations:
            steps = self.steps_of(section)
            part = f'{section.term}({self.size_of(section)})'
            parts.append(part if steps == 1 else f'{part} x {steps} steps')
        return f'{self.size} = {" + ".join(parts)}'

    def _check_lengths(self) -> None:
        for index, section in enumerate(self.observations):
            size = self.size_of(section)
            for name in ('scale', 'offset'):
                given = getattr(section, name)
                if isinstance(given, tuple) and len(given) != size:
                    raise KeyProblem(
                        'observations',
                        f'[{index}].{name}: must be one number or {size} for the '
                        f'term {section.term}, not {len(given)}',
                    )
            if section.history is not None and self.history.order == 'by_step':
                raise KeyProblem(
                    'observations', f'[{index}].history: requires history.order by_term'
                )
        scale = self.action.scale
        if isinstance(scale, tuple) and len(scale) != len(self.joints):
            raise KeyProblem(
                'action',
                f'scale: must be one number or {len(self.joints)}, one for each joint, '
                f'not {len(scale)}',
            )
        if isinstance(scale, dict):
            for joint in scale:
                if joint not in self.joints:
                    raise KeyProblem(
                        'action',
                        f'scale: unknown joint {shown(joint)}; {hint(joint, self.joints)}',
                    )
            if missing := [joint for joint in self.joints if joint not in scale]:
                raise KeyProblem('action', f'scale: lacks {", ".join(missing)}')


def policy_names() -> list[str]:
    """Return the names of the bundled policies in alphabetical order."""
    return shipped_names(FOLDER, '.yaml')


def find_policy(name_or_path: str) -> Path:
    """
    Return the file of a policy; a file takes precedence over a bundled policy of that name.

    :raises PolicyError: when there is neither; it lists the names.
    """
    if os.path.isfile(name_or_path):  # total, unlike Path.is_file
        return Path(name_or_path)
    names = policy_names()
    if name_or_path not in names:
        raise PolicyError(
            f'policy {shown(name_or_path)}',
            '',
            'there is no such file, and no bundled policy of that name; '
            f'{hint(name_or_path, names)}',
        )
    return shipped_file(f'{FOLDER}/{name_or_path}.yaml')


def read_policy(path: Path) -> PolicyDescription:
    """
    Read the description of a policy.

    :raises PolicyError: with the file, the key and what is wrong.
    """
    return read(PolicyDescription, read_yaml(path, PolicyError))


__all__ = [
    'HOLD',
    'LIMP',
    'ZERO',
    'PolicyDescription',
    'PolicyError',
    'TermSection',
    'find_policy',
    'policy_names',
    'read_policy',
]
