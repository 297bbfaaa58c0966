# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""set_sim_options: all or nothing, echoed as applied, never a way to break the server."""

from concurrent.futures import ThreadPoolExecutor
import copy
import re
import time

import mujoco
import numpy as np
import pytest


def read(rig):
    """Return the echo of a request that changes nothing."""
    return rig.ask('set_sim_options', options={})['options']


COUNTS = ('iterations', 'ls_iterations', 'noslip_iterations', 'ccd_iterations')


@pytest.mark.parametrize('name', COUNTS)
def test_each_count_of_the_solver_is_bounded(rover, name):
    before = read(rover)
    for wrong in (10_001, 10**9, -1):
        assert rover.code('set_sim_options', options={name: wrong}) == 'bad_value'
    assert read(rover) == before
    assert rover.ask('set_sim_options', options={name: 13})['options'][name] == 13


def test_counts_that_multiply_are_bounded_together(rover):
    before = read(rover)
    with pytest.raises(Exception, match=r'100000000 .*500000'):
        rover.ask('set_sim_options', options={'iterations': 10_000, 'ls_iterations': 10_000})
    assert read(rover) == before


BOXES = '<body pos="0 0 {z}"><freejoint/><geom type="box" size="0.1 0.1 0.1"/></body>'


PILE = (
    '<mujoco><worldbody><geom type="plane" size="1 1 1"/>'
    + ''.join(BOXES.format(z=round(0.099 + 0.198 * number, 3)) for number in range(200))
    + '</worldbody></mujoco>'
)


SLOW = {'solver': 'pgs', 'iterations': 10_000, 'noslip_iterations': 10_000, 'tolerance': 0.0,
        'noslip_tolerance': 0.0}  # fmt: skip


def test_options_with_too_long_a_step_are_refused_while_others_are_served(rig, mjcf):
    """A step cannot be interrupted: what it costs is measured before it can hold the model."""
    pile = rig(mode='direct', model=mjcf(PILE))
    pile.ask('step', n_steps=3)
    before = read(pile)
    other = pile.caller(shared=True)
    with ThreadPoolExecutor(1) as pool:
        refused = pool.submit(pile.code, 'set_sim_options', options=SLOW)
        waits = []
        while not refused.done():
            begun = time.monotonic()
            other.ask('step')
            waits.append(time.monotonic() - begun)
    assert refused.result() == 'bad_value'
    assert len(waits) > 3 and np.median(waits) < 0.5
    assert read(pile) == before
    assert pile.ask('set_sim_options', options={**SLOW, 'iterations': 20, 'noslip_iterations': 0})


@pytest.mark.parametrize('bit', range(int(mujoco.mjtEnableBit.mjNENABLE)))
def test_options_that_mujoco_refuses_are_answered_with_its_message(rover, bit):
    options, before = {'enableflags': 1 << bit, 'gravity': [1, 2, 3], 'iterations': 5}, read(rover)
    model = copy.copy(rover.model)
    model.opt.enableflags, model.opt.iterations = 1 << bit, 5
    try:
        mujoco.mj_step(model, mujoco.MjData(model))
    except mujoco.FatalError as error:
        with pytest.raises(Exception, match=f'bad_value.*{re.escape(str(error)[:30])}'):
            rover.ask('set_sim_options', options=options)
        assert read(rover) == before
    else:
        assert rover.ask('set_sim_options', options=options)['options']['iterations'] == 5
    assert rover.ask('step', n_steps=3)['step'] == 3
