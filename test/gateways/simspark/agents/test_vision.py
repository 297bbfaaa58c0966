# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Vision, compared with MuJoCo's own frames and geoms."""

import math

import mujoco
import numpy as np
import pytest
from simspark_client.percepts import cartesian
from simspark_client.percepts import landmarks
from simspark_client.percepts import read_percepts

from urlab_ros_bridge.gateways.simspark.agents.vision import CALIBRATION
from urlab_ros_bridge.gateways.simspark.agents.vision import SPREAD

POSES = np.random.default_rng(0)
# What is shown with three decimals is off by less than this.
EXACT = 1.1e-3
PARTS = {
    'head': 'vision', 'rlowerarm': 'rforearm', 'llowerarm': 'lforearm',
    'rfoot': 'rf', 'lfoot': 'lf',
}  # fmt: skip


def random_pose(upright=False):
    """Return a place on the field and a quaternion xyzw."""
    place = [*POSES.uniform([-8, -5], [8, 5]), POSES.uniform(0.4, 1.0)]
    if upright:
        turn = POSES.uniform(-math.pi, math.pi)
        return place, [0, 0, math.sin(turn / 2), math.cos(turn / 2)]
    quaternion = POSES.standard_normal(4)
    return place, (quaternion / np.linalg.norm(quaternion)).tolist()


def angles(soccer, point):
    """Return distance and angles of a point, from the pose of the site in MuJoCo."""
    site = soccer.data.site('left_1_vision')
    away = np.asarray(point) - site.xpos
    forward, left, up = site.xmat.reshape(3, 3).T
    distance = math.dist(point, site.xpos)
    return (
        distance,
        math.degrees(math.atan2(away @ left, away @ forward)),
        math.degrees(math.asin(np.clip(away @ up / distance, -1, 1))),
    )


def test_points_are_seen_where_they_are_and_only_in_the_cone(game, agent, soccer):
    found = missed = 0
    for _ in range(60):
        game.place('left_1', *random_pose())
        game.turn()
        seen = agent.percepts.seen
        points = {soccer.model.site(i).name: soccer.data.site(i).xpos for i in range(8)}
        assert set(points) == set(landmarks())
        points['B'] = soccer.data.body('ball').xpos
        others = {player.number: player.parts for player in seen.players if player.team == 'right'}
        for part, site in PARTS.items():
            points[part] = soccer.data.site(f'right_1_{site}').xpos
        shown = seen.points | others.get(1, {})
        for name, point in points.items():
            distance, left, up = angles(soccer, point)
            out = max(abs(left), abs(up)) - 60.0
            if out < -0.01:
                found += 1
                assert shown[name].distance == pytest.approx(distance, abs=EXACT)
                # Near the pole the angle to the left is ill conditioned.
                assert shown[name].left == pytest.approx(left, abs=EXACT)
                assert shown[name].up == pytest.approx(up, abs=EXACT)
            elif out > 0.01:
                missed += 1
                assert name not in shown
    assert found > 50 and missed > 50


def test_own_arms_are_seen_and_nothing_is_that_is_too_near(game, agent, soccer):
    game.send(agent, '(lae1 3)(rae1 3)')
    game.cycles(30)  # until the arms point forward
    (own,) = [p for p in agent.percepts.seen.players if p.team == 'A']
    assert set(own.parts) == {'rlowerarm', 'llowerarm'}
    eye = soccer.data.site('left_1_vision').xpos
    soccer.placement.move_ball(eye + np.array([0.099, 0, 0]), (0, 0, 0))
    game.look()
    assert agent.percepts.seen.ball is None
    soccer.placement.move_ball(eye + np.array([0.101, 0, 0]), (0, 0, 0))
    game.look()
    assert agent.percepts.seen.ball.distance == pytest.approx(0.101, abs=EXACT)


def painted(soccer):
    """Return points of all straight lines of the field, from the geoms, spaced by 0.2 m."""
    found = []
    for index in range(soccer.model.ngeom):
        geom, data = soccer.model.geom(index), soccer.data.geom(index)
        is_line = soccer.model.material(geom.matid[0]).name == 'white' if geom.matid[0] >= 0 else 0
        if is_line and geom.type[0] == mujoco.mjtGeom.mjGEOM_BOX and max(geom.size) > 0.5:
            along = np.argmax(geom.size)
            half = geom.size[along] - 0.03
            axis = data.xmat.reshape(3, 3)[:, along]
            for way in np.arange(-half, half, 0.2):
                found.append((data.xpos + way * axis) * [1, 1, 0])
    return np.array(found)


def test_lines_are_those_that_are_painted(game, agent, soccer):
    paint = painted(soccer)
    radius = soccer.model.numeric('free_kick_distance').data[0]
    straight = 0
    for _ in range(20):
        game.place('left_1', *random_pose(upright=True))
        game.turn()
        site = soccer.data.site('left_1_vision')
        axes = site.xmat.reshape(3, 3)
        seen = np.array([[cartesian(end) for end in line] for line in agent.percepts.seen.lines])
        lines = site.xpos + seen @ axes.T
        np.testing.assert_allclose(lines[..., 2], 0, atol=0.01)
        # Each is painted, or a side of the decagon of the circle.
        middles = lines.mean(axis=1) * [1, 1, 0]
        away = np.linalg.norm(paint[:, None] - middles, axis=2).min(axis=0)
        ring = np.abs(np.linalg.norm(middles, axis=1) / radius - 0.97) < 0.035
        assert (ring | (away < 0.15)).all()
        straight += np.count_nonzero(~ring)
        # Whatever is painted in the cone is on one of the lines.
        local = (paint - site.xpos) @ axes
        slope = math.tan(math.radians(59.5))
        inside = (np.abs(local[:, 1:]) < slope * local[:, :1]).all(axis=1)
        way = lines[:, 1] - lines[:, 0]
        for point in paint[inside]:
            share = np.clip(((point - lines[:, 0]) * way).sum(1) / (way * way).sum(1), 0, 1)
            away = np.linalg.norm(lines[:, 0] + share[:, None] * way - point, axis=1)
            assert away.min() < 0.02
    assert straight > 60


def test_noise_repeats_with_its_seed_and_has_the_stated_size(play, soccer):
    def seen(seed, count=200):
        game = play(noise=True, seed=seed)
        agent = game.join()
        for _ in range(count):
            game.turn()
        return np.array([read_percepts(payload).seen.points['F1R'] for payload in agent.sent])

    first = seen(5)
    np.testing.assert_array_equal(first, seen(5))
    assert (first != seen(6)).mean() > 0.9
    truth = np.array(angles(soccer, soccer.data.site('F1R').xpos))
    spread = SPREAD * [truth[0], 1, 1]
    np.testing.assert_allclose(first.std(axis=0), spread, rtol=0.2)
    offset = np.abs(first.mean(axis=0) - truth)
    assert (offset < 4 * spread / math.sqrt(len(first)) + [2 * CALIBRATION, 0.1, 0.1]).all()


def test_ground_truth_is_in_the_frame_of_the_own_team(play, soccer):
    game = play(ground_truth=True)
    left, right = game.join('A'), game.join('B')
    soccer.placement.move_ball((1.0, 2.0, 0.5), (0, 0, 0))
    game.look()
    assert left.percepts.seen.truth['ballpos'] == (1.0, 2.0, 0.5)
    assert right.percepts.seen.truth['ballpos'] == (-1.0, -2.0, 0.5)
    for agent, side, sign in ((left, 'left', 1), (right, 'right', -1)):
        truth = agent.percepts.seen.truth
        x, y, z = soccer.data.site(f'{side}_1_vision').xpos
        assert truth['mypos'] == pytest.approx((sign * x, sign * y, z), abs=EXACT)
        assert truth['myorien'] == pytest.approx((0.0,), abs=0.1)
