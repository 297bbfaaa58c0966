# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The numbers of the rules (field, ball, times, distances), and when a half begins alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import fields
from dataclasses import replace
import math
import re

from urlab_ros_bridge.gateways.simspark.errors import SimSparkError
from urlab_ros_bridge.gateways.simspark.game.players import MAX_NUMBER
from urlab_ros_bridge.gateways.simspark.game.players import Side

_LONGEST = 3600.0


class BadKickOff(SimSparkError, ValueError):
    """A text is none of the conditions for a kick-off."""

    def __init__(self, text: str) -> None:
        super().__init__(
            f'kick-off {text!r} is none of: both (teams have an agent), a number of agents from 1 '
            f'to {2 * MAX_NUMBER}, seconds such as 10s (up to {_LONGEST:g}s), or empty'
        )


@dataclass(frozen=True, slots=True)
class KickOff:
    """
    The condition for a kick-off.

    :ivar both: whether each team needs an agent; `agents` how many are needed together.
    :ivar seconds: simulated time in BeforeKickOff, once there is a team and the agents are there;
        None: ``wait_before_kick_off`` of the rules.
    """

    both: bool = False
    agents: int = 0
    seconds: float | None = None

    @classmethod
    def parse(cls, text: str) -> KickOff | None:
        """
        Read ``both``, a number of agents, or seconds such as ``10s``; '' is no kick-off.

        :raises BadKickOff: for anything else.
        """
        if not text:
            return None
        if text == 'both':
            return cls(both=True)
        if re.fullmatch(r'[0-9]{1,2}', text) and 1 <= int(text) <= 2 * MAX_NUMBER:
            return cls(agents=int(text))
        if re.fullmatch(r'[0-9]{1,4}(\.[0-9]{1,3})?s', text) and float(text[:-1]) <= _LONGEST:
            return cls(seconds=float(text[:-1]))
        raise BadKickOff(text)

    def is_waiting_for(self, ready: Counter[Side]) -> bool:
        """Return whether agents are missing; `ready` has their number by side."""
        return (self.both and len(+ready) < len(Side)) or ready.total() < self.agents


PENALTY_LENGTH = 1.8
# Beyond the goal, on both sides together.
PENALTY_WIDTH = 3.9


class BadRule(SimSparkError, ValueError):
    """A world states a rule that makes no sense."""


@dataclass(frozen=True, slots=True)
class Rules:
    """
    Numbers of the environment message, in its order; m, s and kg.

    The defaults are the page's example ("Environment Information Message"), and SimSpark's for
    what the page does not have.  A world changes them by MuJoCo's custom numerics of these names:
    ``<custom><numeric name="field_length" data="18"/></custom>``.

    :ivar free_kick_distance: of opponents from a free kick; RoboViz draws its centre circle so.
    :ivar half_time: length of one half.
    """

    field_length: float = 18.0
    field_width: float = 12.0
    field_height: float = 40.0
    goal_width: float = 2.1
    goal_depth: float = 0.6
    goal_height: float = 0.8
    border_size: float = 3.0
    free_kick_distance: float = 1.3
    wait_before_kick_off: float = 2.0
    agent_radius: float = 0.4
    ball_radius: float = 0.042
    ball_mass: float = 0.026
    goal_pause_time: float = 3.0
    kick_in_pause_time: float = 1.0
    half_time: float = 300.0
    pass_mode_min_opp_ball_dist: float = 1.0
    pass_mode_duration: float = 4.0

    @property
    def half_length(self) -> float:
        """Return the x of the right goal line."""
        return self.field_length / 2

    @property
    def half_width(self) -> float:
        """Return the y of the upper side line."""
        return self.field_width / 2

    @property
    def penalty_length(self) -> float:
        """Return the extent of a penalty area from its goal line."""
        return PENALTY_LENGTH

    @property
    def penalty_half_width(self) -> float:
        """Return half the width of a penalty area."""
        return (self.goal_width + PENALTY_WIDTH) / 2

    def in_area(self, side: Side, x: float, y: float) -> bool:
        """Return whether a place is in the penalty area of a team, or behind it."""
        inside = x * side.sign > self.half_length - self.penalty_length
        return inside and abs(y) < self.penalty_half_width

    def named(self) -> dict[str, float]:
        """Return the values by their names on the wire, in order."""
        return {_wire_name(each.name): getattr(self, each.name) for each in fields(self)}

    def changed(self, numbers: Mapping[str, float]) -> Rules:
        """
        Return rules with the values of a world; names that are not rules are not looked at.

        :raises BadRule: for a number below 0 or not finite.
        """
        own = {each.name for each in fields(self)}
        chosen = {name: float(value) for name, value in numbers.items() if name in own}
        for name, value in chosen.items():
            if not (math.isfinite(value) and value >= 0):
                raise BadRule(f'numeric {name!r} of the world must be 0 or more, not {value:g}')
        return replace(self, **chosen)


_RULES = ('goal_pause_time', 'kick_in_pause_time', 'half_time')


def _wire_name(name: str) -> str:
    return ('Rule' if name in _RULES else '') + name.title().replace('_', '')


__all__ = ['PENALTY_LENGTH', 'PENALTY_WIDTH', 'BadKickOff', 'BadRule', 'KickOff', 'Rules']
