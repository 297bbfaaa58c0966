# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Assignment of arms and bases to users."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
import threading

from urlab_ros_bridge.gateways.virtual_field.errors import BadMessage
from urlab_ros_bridge.gateways.virtual_field.errors import NoFreeArm
from urlab_ros_bridge.gateways.virtual_field.protocol.envelope import shown
from urlab_ros_bridge.gateways.virtual_field.scene.chains import ArmChain

# Colours of the published page, in order of a user's arms.
COLORS = ('#ff6b6b', '#74c0fc', '#8ce99a', '#ffd43b', '#f783ac', '#63e6be')
# Modes of the published page; here they select the arms of any robot.
STOCK_MODES = ('two-cr', 'demo-spline')


@dataclass(frozen=True, slots=True)
class Ownership:
    """
    Which user has which arm.

    :ivar version: of these owners; grows with every change.
    :ivar arm_ids: of each arm of the world; `owners` its user id, None for one that is free.
    :ivar users: user id -> ids of the arms, in order.
    """

    version: int
    arm_ids: tuple[str, ...]
    owners: tuple[str | None, ...]
    users: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Assignment:
    """
    The arms and base of a user.

    :ivar arms: places of its arms among those of the world, left hand first.
    :ivar base: prefix of the robot whose base it drives, empty for none.
    """

    user_id: str
    mode: str
    robot: str = ''
    arms: tuple[int, ...] = ()
    base: str = ''

    @property
    def arm_ids(self) -> list[str]:
        """Return the ids of its arms."""
        return [f'{self.user_id}_arm_{index}' for index in range(len(self.arms))]

    @property
    def controlled_arm_ids(self) -> list[str]:
        """Return the ids of the arms of the left and right hands; one arm follows both."""
        ids = self.arm_ids[:2]
        return ids * 2 if len(ids) == 1 else ids

    def manifest(self) -> dict[str, object]:
        """Return the payload of asset_manifest."""
        colors = {
            arm_id: {'color': COLORS[index % len(COLORS)]}
            for index, arm_id in enumerate(self.arm_ids)
        }
        return {'user_id': self.user_id, 'arms': colors, 'scenery': {}}


class ArmPool:
    """
    Assigns arms and bases to users.  Thread-safe.

    :ivar modes: character_mode -> prefixes of robots.
    """

    def __init__(
        self,
        world: str,
        arms: Sequence[ArmChain],
        steerable: Mapping[str, Sequence[int]],
        bases: Sequence[str],
    ) -> None:
        """
        Start with everything free.

        :param world: its name.
        :param steerable: prefix of every robot -> places of its arms that can be steered.
        :param bases: prefixes of robots that can be driven.
        """
        self.modes = modes_of(world, steerable)
        self._world = world
        self._names = [arm.full_name for arm in arms]
        self._steerable = {prefix: tuple(places) for prefix, places in steerable.items()}
        self._bases = frozenset(bases)
        self._lock = threading.Lock()
        self._assignments: dict[str, Assignment] = {}
        self._version = 0
        self._ownership = self._describe()

    @property
    def steerable(self) -> int:
        """Return how many arms can be steered."""
        return sum(map(len, self._steerable.values()))

    @property
    def ownership(self) -> Ownership:
        """Return which user has which arms."""
        return self._ownership

    def take(self, user_id: str, mode: str, count: int) -> Assignment:
        """
        Assign free arms of one robot, and its base if free, to a user.

        Arms that the user already has count as free.

        :param count: how many arms at most.
        :raises BadMessage: for an unknown mode.
        :raises NoFreeArm: when nothing is free, or there is nothing to steer.
        """
        robots = robots_of(mode, self.modes)
        with self._lock:
            others = [a for a in self._assignments.values() if a.user_id != user_id]
            taken = {arm for assignment in others for arm in assignment.arms}
            driven = {assignment.base for assignment in others}
            best: tuple[str, tuple[int, ...], str] = '', (), ''
            for robot in robots:
                arms = tuple(a for a in self._steerable[robot] if a not in taken)[:count]
                base = robot if robot in self._bases - driven else ''
                if (len(arms), bool(base)) > (len(best[1]), bool(best[2])):
                    best = robot, arms, base
            if not best[0]:
                raise NoFreeArm(self._why_not(mode, robots))
            assignment = Assignment(user_id, mode, *best)
            self._assignments[user_id] = assignment
            self._changed()
            return assignment

    def release(self, user_id: str) -> None:
        """Free the arms and the base of a user, if any."""
        with self._lock:
            if self._assignments.pop(user_id, None) is not None:
                self._changed()

    def _why_not(self, mode: str, robots: Sequence[str]) -> str:
        arms = sum(len(self._steerable[robot]) for robot in robots)
        bases = len(self._bases.intersection(robots))
        if not arms and not bases:
            return f'mode {mode!r} has nothing to steer: no arm with actuators, no mobile base'
        holders = [a.user_id for a in self._assignments.values() if a.robot in robots]
        users = ', '.join(sorted(holders))
        what = [f'{arms} arms'] * bool(arms) + [f'{bases} bases'] * bool(bases)
        return f'no free arm: all {" and ".join(what)} of mode {mode!r} are taken by {users}'

    def _changed(self) -> None:
        self._version += 1
        self._ownership = self._describe()

    def _describe(self) -> Ownership:
        ids: list[str] = list(self._names)
        owners: list[str | None] = [None] * len(ids)
        users = {}
        for assignment in self._assignments.values():
            users[assignment.user_id] = tuple(assignment.arm_ids)
            for place, arm_id in zip(assignment.arms, assignment.arm_ids, strict=True):
                ids[place], owners[place] = arm_id, assignment.user_id
        return Ownership(self._version, tuple(ids), tuple(owners), users)


def modes_of(world: str, robots: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    """
    Return each mode of a world and the robots it means.

    >>> modes_of('fleet', ['rover_1', 'rover_2'])['rover_2']
    ('rover_2',)
    """
    every = tuple(robots)
    return (
        {prefix: (prefix,) for prefix in every}
        | dict.fromkeys(STOCK_MODES, every)
        | {world: every}
    )


def robots_of(mode: str, modes: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """
    Return the robots of a mode.

    :raises BadMessage: for one that the world does not have.
    """
    if mode not in modes:
        raise BadMessage(
            'vr_client requires a backend-supported character_mode'
            + (f', not {shown(mode)}' if mode else '')
            + f'; valid here: {", ".join(modes)}'
        )
    return modes[mode]


__all__ = ['COLORS', 'STOCK_MODES', 'ArmPool', 'Assignment', 'Ownership', 'modes_of', 'robots_of']
