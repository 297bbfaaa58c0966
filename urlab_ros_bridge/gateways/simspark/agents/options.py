# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""How agents are served."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """
    Settings of the agents' side.

    :ivar vision_cycles: agents see in every cycle of so many.
    :ivar noise: whether vision and beams have the errors of the league, from `seed`.
    :ivar ground_truth: whether See has the agent's own place and heading, and the ball's place.
    :ivar score: whether GS has the score.
    :ivar wait_for_syn: whether the next cycle waits for the (syn) of agents that send it.
    """

    vision_cycles: int = 2
    noise: bool = False
    seed: int = 0
    ground_truth: bool = False
    score: bool = True
    wait_for_syn: bool = True


__all__ = ['AgentOptions']
