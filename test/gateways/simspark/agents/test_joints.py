# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Hinge speeds: their effect on the joints of the simulated robot."""

from itertools import pairwise
import math

import numpy as np
import pytest

from urlab_ros_bridge.gateways.simspark.agents.joints import MAX_SPEED


def degrees(agent, name='hj1'):
    return agent.percepts.joints[name]


@pytest.mark.parametrize('speed', [-1.0, 3.0, 100.0])
def test_a_hinge_turns_a_fiftieth_of_its_speed_in_every_cycle(home_game, settled_agent, speed):
    """In rad/s, cut to the fastest; stock agents count on where a joint is after a cycle."""
    home_game.send(settled_agent, f'(he1 {speed})')
    seen = []
    for _ in range(10):
        home_game.cycles(1)
        seen.append(degrees(settled_agent))
    ways = np.diff(seen)[3:]
    np.testing.assert_allclose(ways, math.degrees(min(speed, MAX_SPEED)) * 0.02, rtol=0.06)


def test_a_gateway_that_comes_late_keeps_the_speed(home_game, settled_agent):
    """Beside a server whose time passes by itself some cycles take twice as long."""
    home_game.send(settled_agent, '(he1 1)')
    home_game.cycles(3)
    start, began = degrees(settled_agent), settled_agent.percepts.time
    for steps in (20, 10, 30, 20, 20, 10, 20, 20, 10, 20, 20):
        home_game.world.scene.update(home_game.world.link.step(home_game.targets, steps))
        home_game.turn()
    passed = settled_agent.percepts.time - began
    assert degrees(settled_agent) - start == pytest.approx(math.degrees(passed), rel=0.1)


def test_an_action_is_seen_in_the_percepts_but_one(home_game, settled_agent):
    home_game.send(settled_agent, '(he1 1)')  # in answer to the percepts of this cycle
    before = degrees(settled_agent)
    home_game.cycles(1)
    assert degrees(settled_agent) == pytest.approx(before, abs=0.01)
    home_game.cycles(1)
    assert degrees(settled_agent) > before + 0.3


def test_a_speed_lasts_until_the_next_one_and_zero_holds(home_game, settled_agent):
    home_game.send(settled_agent, '(he1 1)(lae1 2)')
    home_game.cycles(20)
    home_game.send(settled_agent, '(he1 0)(he1 0.0)(lae1 0)')
    home_game.cycles(10)
    held = degrees(settled_agent), degrees(settled_agent, 'laj1')
    assert held[0] == pytest.approx(math.degrees(0.4), abs=0.5)
    home_game.cycles(50)
    assert set(home_game.targets) == {'left_1'}  # robots without an agent are left alone
    assert degrees(settled_agent) == pytest.approx(held[0], abs=0.05)
    assert degrees(settled_agent, 'laj1') == pytest.approx(held[1], abs=0.05)


def test_a_joint_keeps_its_speed_up_to_its_limit_and_leaves_it_at_once(home_game, settled_agent):
    """Agents get up from the ground with joints that run into their stops at full speed."""
    home_game.send(settled_agent, '(he2 5)')
    seen = []
    for _ in range(14):
        home_game.cycles(1)
        seen.append(degrees(settled_agent, 'hj2'))
    way = math.degrees(5) * 0.02
    moving = [b - a for a, b in pairwise(seen) if a > 2 and a + way < 44.5]
    assert len(moving) > 3
    np.testing.assert_allclose(moving, way, rtol=0.12)
    home_game.cycles(46)
    assert degrees(settled_agent, 'hj2') == pytest.approx(45, abs=0.6)
    home_game.send(settled_agent, '(he2 -1)')
    home_game.cycles(12)
    assert degrees(settled_agent, 'hj2') < 36


def test_a_joint_that_cannot_move_does_not_jump_when_it_can(home_game, settled_agent, soccer):
    """The setpoint never runs ahead of the joint further than the motor could pull."""
    home_game.place('left_1', (-3, 0, 0.02), (0, 1, 0, 0))  # head in the ground
    home_game.send(settled_agent, '(lae1 6)')
    for _ in range(40):
        home_game.cycles(1)
        name = 'left_1_lae1'
        ahead = soccer.data.actuator(name).ctrl[0] - soccer.data.joint(name).qpos[0]
        # 10 N m at 150 N m/rad, the way of a cycle, and the lead.
        assert abs(ahead) < 10 / 150 + (0.02 + 0.012) * MAX_SPEED
