# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The quadruped stands under the PD controller of its sidecar."""

import mujoco
import numpy as np
import pytest

LEGS = ('FL', 'FR', 'RL', 'RR')
JOINTS = tuple(f'{leg}_{part}' for leg in LEGS for part in ('hip', 'thigh', 'calf'))


class PdLoop:
    """tau = clip(kp (target - q) - kv qd), written to ctrl before each step."""

    def __init__(self, model, data, settings):
        self.model, self.data = model, data
        joints = model.actuator_trnid[:, 0]
        self.q, self.v = model.jnt_qposadr[joints], model.jnt_dofadr[joints]
        self.kp, self.kv = settings['default_kp'], settings['default_kv']
        self.limit = np.array(
            [
                settings['torque_limit'].get(name, settings['default_torque_limit'])
                for name in JOINTS
            ]
        )

    def run(self, targets, seconds):
        """Yield (base height m, tilt in degrees) after each step."""
        for _ in range(round(seconds / self.model.opt.timestep)):
            torque = self.kp * (targets - self.data.qpos[self.q])
            torque -= self.kv * self.data.qvel[self.v]
            self.data.ctrl[:] = np.clip(torque, -self.limit, self.limit)
            mujoco.mj_step(self.model, self.data)
            base = self.data.body('quadruped_base_link')
            yield base.xpos[2], np.degrees(np.arccos(min(1.0, base.xmat[8])))


@pytest.fixture
def pd_at(quadruped, at_key, sidecar):
    """Return a function: keyframe -> (PdLoop there, the targets that the keyframe holds)."""
    settings = sidecar('quadruped')['articulations'][0]['controller']

    def place(key):
        data = at_key(quadruped, f'quadruped_{key}')
        return PdLoop(quadruped, data, settings), data.ctrl.copy()

    return place


@pytest.mark.parametrize(('key', 'height'), [('stand', 0.30), ('rest', 0.12)])
def test_it_holds_a_keyframe_still(pd_at, key, height):
    loop, targets = pd_at(key)
    start = loop.data.body('quadruped_base_link').xpos.copy()
    assert start[2] == pytest.approx(height, abs=0.005)
    track = np.array(list(loop.run(targets, 10.0)))
    assert np.abs(track[:, 0] - start[2]).max() < 0.02
    assert track[:, 1].max() < 3.0
    drift = loop.data.body('quadruped_base_link').xpos[:2] - start[:2]
    assert np.linalg.norm(drift) < 0.005
    assert np.abs(loop.data.qvel[:6]).max() < 0.01
