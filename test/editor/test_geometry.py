# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Bounds and bodies of actors at rest, against MuJoCo's own placement."""

from example_counts import examples
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
import mujoco
import numpy as np

from urlab_ros_bridge import models
from urlab_ros_bridge.editor.geometry import GeometryCache
from urlab_ros_bridge.editor.level import Level
from urlab_ros_bridge.editor.level import LevelActor
from urlab_ros_bridge.geometry import normalize
from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.sim.model.assembly import assemble
from urlab_ros_bridge.sim.model.bounds import boxes_of

ROBOT = {'model': str(models.world_path('rover').with_name('rover_robot.xml'))}
FORMS = GeometryCache()


def actor(pose):
    return LevelActor('robot', 'a', 'a', pose, ROBOT)


@settings(deadline=None, max_examples=examples(20))
@given(st.integers(0, 2**32 - 1))
def test_bounds_in_a_pose_are_those_of_the_compiled_world(seed):
    random = np.random.default_rng(seed)
    pose = Pose(tuple(random.uniform(-5, 5, 3)), normalize(random.normal(size=4)))
    level = Level()
    level.add(actor(pose))
    model = assemble(level.spec())[0]
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    bounds = FORMS.of(actor(Pose())).boxes.bounds(pose)
    assert np.allclose(bounds, boxes_of(model, data).bounds(), atol=1e-6)
