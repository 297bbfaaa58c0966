# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Play a Nao of `urlab server --world soccer` that kicks the ball, and print where both are.

    urlab simspark --pace free
    python examples/simspark_agent.py
"""

from collections.abc import Sequence

from simspark_client.clients import AgentClient
from simspark_client.clients import MonitorClient
from simspark_client.motion import LEFT_KICK
from simspark_client.motion import Motion
from simspark_client.motion import STANCE
from simspark_client.percepts import landmarks
from simspark_client.percepts import locate


def perform(agent: AgentClient, poses: Sequence[tuple]) -> None:
    """Go through a sequence of poses, and print the estimated positions of agent and ball."""
    motion = Motion(agent.percepts, poses)
    while not motion.is_over:
        agent.act(motion.speeds(agent.percepts))
        seen = agent.perceive().seen
        if seen is not None and seen.ball is not None:
            here = locate(seen, landmarks())
            if here is not None:
                own, ball = here.place[:2].round(2), here.on_field(seen.ball)[:2].round(2)
                print(f'{agent.percepts.time:.2f} s: at {own}, ball {ball}')


with AgentClient(team='Ours') as agent:
    agent.beam(-0.21, -0.035)  # behind the ball, before the kick-off
    agent.perceive()
    perform(agent, [(1.0, STANCE), (1.0, STANCE)])
    with MonitorClient() as referee:
        referee.send(['kickOff', 'Left'])  # RoboViz sends this by its menu
    perform(agent, [*LEFT_KICK, (2.0, STANCE)])
