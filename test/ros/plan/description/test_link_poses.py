# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Transforms of links against MuJoCo's own kinematics."""

import numpy as np

from urlab_ros_bridge.geometry import compose
from urlab_ros_bridge.geometry import rotate
from urlab_ros_bridge.ros.plan.description.link_poses import LinkPoses


def chained(robot, rows, root_pose):
    """Return the pose in the world of every link that transforms lead to."""
    transforms = {child: (parent, row[:3], row[3:]) for (parent, child), row in rows.items()}
    for parent, child, position, turn in (*robot.plan.tree.static, *robot.plan.appearance.static):
        transforms.setdefault(child, (parent, position, turn))
    found = {robot.skeleton.root: root_pose}

    def of(link):
        if link not in found:
            parent, position, turn = transforms[link]
            found[link] = compose(*of(parent), position, turn)
        return found[link]

    return {link.name: of(link.name) for link in robot.skeleton.links}


def test_transforms_lead_every_link_to_its_place(described):
    poses = LinkPoses(described.skeleton, described.plan.joints)
    rng = np.random.default_rng(3)
    for _ in range(5):
        described.randomize(rng)
        rows = poses.update(described.positions(), described.qpos())
        assert np.allclose(np.linalg.norm(rows[:, 3:], axis=1), 1.0)
        root = described.skeleton.root_pose
        body = next(k.body for k in described.skeleton.links if k.name == described.skeleton.root)
        if described.plan.base_joint:
            x, y, z, w = np.roll(described.data.xquat[body], -1)
            root = (tuple(described.data.xpos[body]), (x, y, z, w))
        places = chained(described, dict(zip(poses.frames, rows, strict=True)), root)
        for link in described.skeleton.links:
            if link.body < 0:
                continue
            position, turn = places[link.name]
            assert np.allclose(position, described.data.xpos[link.body], atol=1e-7), link
            found = np.array([rotate(turn, axis) for axis in np.eye(3)]).T
            expected = described.data.xmat[link.body].reshape(3, 3)
            assert np.allclose(found, expected, atol=1e-7), link


def test_missing_or_non_finite_positions_give_no_poses(describe):
    robot = describe('free')
    poses = LinkPoses(robot.skeleton, robot.plan.joints)
    positions, qpos = robot.positions(), robot.qpos()
    assert poses.needs_qpos and poses.update(positions, None) is None
    assert poses.update(positions, qpos[:9]) is None
    assert poses.update(np.full(len(positions), np.nan), qpos) is None
    assert poses.update(positions, qpos) is not None
