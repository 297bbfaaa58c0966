# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""When a half begins without a trainer."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
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


__all__ = ['BadKickOff', 'KickOff']
