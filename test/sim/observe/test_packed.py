# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A reply that is packed in place equals one that is built and packed."""

import numpy as np
import pytest

from urlab_ros_bridge.sim.observe.observer import ObservationView
from urlab_ros_bridge.wire.encoding import codec
from urlab_ros_bridge.wire.ops import OBSERVATION_LEVELS


@pytest.mark.parametrize('world', ['rover', 'quadruped'])
@pytest.mark.parametrize('level', OBSERVATION_LEVELS)
def test_a_packed_reply_equals_the_built_one_in_any_state(rig, world, level):
    made = rig(mode='direct', world=world)
    observer, random = made.simulation.observer, np.random.default_rng(3)
    for _ in range(5):
        made.data.qvel[:] += random.normal(size=made.model.nv) * 0.1
        made.data.ctrl[:] = random.normal(size=made.model.nu)
        made.ask('step', n_steps=3)
        built, packed = (
            observer.observe(ObservationView(level), 3),
            codec.unpack(observer.packed(ObservationView(level), 3)),
        )
        for reply in (built, packed):
            del reply['wall_time']
        assert packed == {'op': 'step_ok', **built}
        assert _lengths(packed) == _lengths(built) | {'op': None}


def _lengths(value):
    if isinstance(value, dict):
        return {key: _lengths(item) for key, item in value.items()}
    return len(value) if isinstance(value, list) else None
