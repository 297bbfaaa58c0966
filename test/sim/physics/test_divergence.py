# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""An unstable simulation is reported in every reply and snapshot until the next reset."""

import mujoco
import numpy as np
import pytest

from urlab_ros_bridge.wire.encoding import codec


def break_world(rig, quantity):
    """Make a state or setpoint that MuJoCo reports as a bad `quantity`."""
    if quantity == 'qpos':
        rig.data.qpos[-1] = np.inf
    elif quantity == 'qvel':
        rig.data.qvel[-1] = 1e12
    elif quantity == 'qacc':
        rig.data.xfrc_applied[-1] = 9e9
    else:
        rig.engine.controls['rover'].write([0.0, np.nan])
    rig.engine.invalidate()


def stepped(rig, **fields):
    """Return the divergence after one step, which every reply and snapshot must agree on."""
    shown = [
        rig.ask('step', **fields),
        codec.unpack(rig.simulation.observer.snapshot()),
        rig.ask('status'),
        rig.caller(shared=True, encoding='json').ask('forward'),
        rig.other.ask('hello', shared=True),
    ]
    found, *others = [each.get('divergence') for each in shown]
    assert others == [found] * 4
    return found


@pytest.fixture
def rover(rover):
    """Return the rover, whose steps repeat one shape of request, as those of a policy do."""
    for _ in range(4):
        rover.ask('step', n_steps=5, per_articulation={'rover': {'ctrl': [1.0, 1.0]}})
    rover.other = rover.caller(shared=True)
    return rover


@pytest.mark.parametrize('quantity', ['qpos', 'qvel', 'qacc', 'ctrl'])
def test_divergence_is_reported_until_the_next_reset(rover, quantity):
    assert stepped(rover) is None
    before = rover.data.time
    break_world(rover, quantity)
    found = stepped(rover)
    last = 'actuator' if quantity == 'ctrl' else 'joint'
    count = rover.model.nu if quantity == 'ctrl' else rover.model.njnt
    names = [getattr(rover.model, last)(number).name for number in range(count)]
    assert found['quantity'] == quantity and found['element'] in names
    assert found['count'] == 1 and found['time'] == pytest.approx(before, abs=1e-12)
    reset = quantity != 'ctrl'
    assert found['world_reset'] == reset == (rover.data.time < before)
    assert stepped(rover, per_articulation={'rover': {'ctrl': [1.0, 1.0]}}) == found
    # Restarting the clock does not clear it, a reset does; the count continues.
    rover.ask('reset', keep_state=True)
    assert stepped(rover) == found
    rover.ask('reset', keep_time=True)
    assert stepped(rover) is None
    break_world(rover, quantity)
    assert stepped(rover)['count'] == 2


def test_a_world_continues_from_the_state_that_it_started_in(quadruped):
    start = quadruped.simulation.world.start_qpos()
    command = quadruped.engine.controls['quadruped'].setpoints
    held = command['zmq'].copy()
    quadruped.ask('step', n_steps=50)
    command['zmq'][:] = 0.0
    break_world(quadruped, 'qacc')
    assert quadruped.ask('step')['divergence']['world_reset']
    assert np.array_equal(quadruped.data.qpos, start) and quadruped.data.time == 0.0
    assert np.array_equal(command['zmq'], held)
    derived = quadruped.data.xpos.copy()
    mujoco.mj_kinematics(quadruped.model, quadruped.data)
    assert np.array_equal(quadruped.data.xpos, derived)
