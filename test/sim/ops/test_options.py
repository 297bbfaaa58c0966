# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""set_sim_options: all or nothing, echoed as applied, never a way to break the server."""

from concurrent.futures import ThreadPoolExecutor
import copy
import re

import mujoco
import pytest
from spawn_models import BOX

from urlab_ros_bridge.sim.model.client_models import reader


def read(rig):
    """Return the echo of a request that changes nothing."""
    return rig.ask('set_sim_options', options={})['options']


def test_options_with_too_long_a_step_are_refused_while_others_are_served(rover, monkeypatch):
    """A step cannot be interrupted: what it costs is measured before it can hold the model."""
    other, trial, served = rover.caller(shared=True), rover.host.client_models._trial, []
    step = trial.step

    def step_meanwhile(*state):
        with ThreadPoolExecutor(1) as pool:
            served.append(pool.submit(other.ask, 'step').result(60))
        return step(*state)

    monkeypatch.setattr(trial, 'step', step_meanwhile)
    monkeypatch.setattr(reader, 'STEP_SECONDS', -1.0)  # clocks of processes may be coarse
    before = read(rover)
    assert rover.code('set_sim_options', options={'iterations': 10_000}) == 'bad_value'
    assert served and read(rover) == before
    world = rover.host.simulation
    assert rover.code('spawn_entity', name='a', xml=BOX) == 'import_failed'
    assert rover.host.simulation is world and rover.ask('step')


def test_options_that_mujoco_refuses_are_answered_with_its_message(rover):
    reasons = []
    for bit in range(int(mujoco.mjtEnableBit.mjNENABLE)):
        options, before = {'enableflags': 1 << bit, 'gravity': [1, 2, bit]}, read(rover)
        model = copy.copy(rover.model)
        model.opt.enableflags = 1 << bit
        try:
            mujoco.mj_step(model, mujoco.MjData(model))
        except mujoco.FatalError as error:
            reasons.append(str(error)[:30])
            with pytest.raises(Exception, match=f'bad_value.*{re.escape(reasons[-1])}'):
                rover.ask('set_sim_options', options=options)
            assert read(rover) == before
        else:
            assert rover.ask('set_sim_options', options=options)['options']['gravity'][2] == bit
        assert rover.ask('step')
    assert reasons
