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
from urlab_ros_bridge.geometry import normalize
from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.sim.editor.geometry import boxes_of
from urlab_ros_bridge.sim.editor.geometry import GeometryCache
from urlab_ros_bridge.sim.editor.level import Level
from urlab_ros_bridge.sim.editor.level import LevelActor
from urlab_ros_bridge.sim.model.assembly import assemble

ROBOT = {'model': str(models.world_path('rover').with_name('rover_robot.xml'))}
FORMS = GeometryCache()
numbers = st.floats(-5, 5)
poses = st.builds(
    Pose,
    st.tuples(numbers, numbers, numbers),
    st.tuples(numbers, numbers, numbers, numbers)
    .filter(lambda quat: np.linalg.norm(quat) > 0.1)
    .map(normalize),
)


def actor(settings, pose=None):
    return LevelActor(
        'robot' if 'model' in settings else 'object', 'a', 'a', pose or Pose(), settings
    )


@settings(deadline=None, max_examples=examples(50))
@given(poses)
def test_bounds_in_a_pose_are_those_of_the_compiled_world(pose):
    level = Level()
    level.add(actor(ROBOT, pose))
    model = assemble(level.spec())[0]
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    low, high = FORMS.of(actor(ROBOT)).boxes.bounds(pose)
    expected_low, expected_high = boxes_of(model, data).bounds()
    assert np.allclose(low, expected_low, atol=1e-6)
    assert np.allclose(high, expected_high, atol=1e-6)
