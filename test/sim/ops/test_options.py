# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""set_sim_options: all or nothing, echoed as applied, never a way to break the server."""

from dispatching import dispatch
import mujoco
import numpy as np
import pytest

from urlab_ros_bridge.wire.encoding import codec

ENUMS = {
    'integrator': ('euler', 'rk4', 'implicit', 'implicitfast'),
    'cone': ('pyramidal', 'elliptic'),
    'solver': ('pgs', 'cg', 'newton'),
}


def read(rig):
    """Return the echo of a request that changes nothing."""
    return rig.ask('set_sim_options', options={})['options']


@pytest.mark.parametrize(('name', 'word'), [(n, w) for n, words in ENUMS.items() for w in words])
def test_every_word_is_applied_whatever_its_case(rover, name, word):
    echoed = rover.ask('set_sim_options', options={name: word.upper()})['options']
    assert echoed[name] == word
    enum = {'integrator': mujoco.mjtIntegrator, 'cone': mujoco.mjtCone,
            'solver': mujoco.mjtSolver}[name]  # fmt: skip
    assert enum(getattr(rover.model.opt, name)).name.lower().endswith(f'_{word}')
    assert np.isfinite(rover.ask('step', n_steps=5)['per_articulation']['rover']['qpos']).all()


@pytest.mark.parametrize('name', ['iterations', 'ls_iterations', 'noslip_iterations',
                                  'ccd_iterations'])  # fmt: skip
def test_the_solver_can_always_be_stopped(rover, name):
    before = read(rover)
    assert rover.code('set_sim_options', options={name: 10**9}) == 'bad_value'
    assert rover.code('set_sim_options', options={name: -1}) == 'bad_value'
    assert read(rover) == before
    assert rover.ask('set_sim_options', options={name: 13})['options'][name] == 13


def test_a_bad_field_leaves_the_good_ones_alone(rover):
    before = read(rover)
    for bad in ({'solver': 'abacus'}, {'wind': [1, 2]}, {'enableflags': 1 << 30}, {'mass': 1}):
        assert rover.code('set_sim_options', options={'timestep': 0.004, **bad}) == 'bad_value'
    assert read(rover) == before


def test_what_mujoco_refuses_is_taken_back_and_told(rover, monkeypatch):
    before = read(rover)
    real = mujoco.mj_step

    def picky(model, data):
        if model.opt.timestep == 0.003:
            raise mujoco.FatalError('mj_step: not at 3 ms')
        real(model, data)

    monkeypatch.setattr(mujoco, 'mj_step', picky)
    with pytest.raises(Exception, match=r'bad_value.*MuJoCo.*not at 3 ms'):
        rover.ask(
            'set_sim_options',
            options={'timestep': 0.003, 'gravity': [1, 2, 3], 'solver': 'cg', 'iterations': 5},
        )
    assert read(rover) == before
    assert rover.ask('step', n_steps=3)['step'] == 3


@pytest.mark.parametrize('bit', range(int(mujoco.mjtEnableBit.mjNENABLE)))
def test_no_flag_breaks_a_later_step(rover, bit):
    frame = {'op': 'set_sim_options', 'options': {'enableflags': 1 << bit}}
    frame['session_id'] = rover.session_id
    reply = codec.unpack(dispatch(rover.dispatcher, codec.pack(frame)))
    assert reply.get('code') in (None, 'bad_value')
    assert rover.ask('step', n_steps=3)['step'] == 3


def test_raw_masks_and_named_flags_are_the_same_bits(rover):
    multiccd = int(mujoco.mjtDisableBit.mjDSBL_MULTICCD)
    sleep = int(mujoco.mjtEnableBit.mjENBL_SLEEP)
    echoed = rover.ask('set_sim_options', options={'disableflags': multiccd})['options']
    assert echoed['enable_multiccd'] is False
    echoed = rover.ask('set_sim_options', options={'enable_sleep': True})['options']
    assert echoed['enableflags'] & sleep and echoed['enable_multiccd'] is False
    echoed = rover.ask('set_sim_options', options={'enable_multiccd': True})['options']
    assert not echoed['disableflags'] & multiccd and echoed['enable_sleep'] is True


def test_the_echo_has_every_field_of_the_page(rover):
    assert set(read(rover)) == {
        'timestep', 'gravity', 'wind', 'magnetic', 'density', 'viscosity', 'impratio',
        'tolerance', 'iterations', 'ls_iterations', 'integrator', 'cone', 'solver',
        'noslip_iterations', 'noslip_tolerance', 'ccd_iterations', 'ccd_tolerance',
        'enable_multiccd', 'enable_sleep', 'sleep_tolerance', 'disableflags', 'enableflags',
        'num_worker_threads', 'max_worker_threads'}  # fmt: skip
