# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The e-stop of the server: what it stops, what it refuses, and that releasing starts nothing."""

import threading
import time

import numpy as np
import pytest

DRIVE = {'articulation': 'rover', 'linear': [0.6, 0.0, 0.0], 'timeout': 1e3}
CTRL = {'rover': {'ctrl': [4.0, 4.0], 'xfrc_applied': {'base_link': [500.0, 0, 0, 0, 0, 0]}}}
MOVING = (
    ('set_twist', DRIVE),
    ('set_setpoints', {'articulation': 'rover', 'values': {'left_wheel': 1.0}}),
    ('apply_wrench', {'articulation': 'rover', 'force': [10.0, 0.0, 0.0]}),
    ('pull_body', {'body': 'rover_base_link', 'target': [1.0, 0.0, 0.0], 'duration': 1.0}),
    ('claim_control', {'articulation': 'rover'}),
    ('set_qpos', {'target': 'rover', 'qpos': [0, 0, 1, 1, 0, 0, 0]}),
    ('set_entity_state', {'entity': 'rover', 'linear': [1.0, 0.0, 0.0]}),
)
STOPPING = (
    ('set_twist', {'articulation': 'rover'}),
    ('set_setpoints', {'articulation': 'rover', 'values': {'left_wheel': 0.0}}),
    ('apply_wrench', {'articulation': 'rover'}),
)


def speed(rig):
    """Return that of the base of the only robot, m/s."""
    world = rig.host.simulation.world
    (robot,) = world.articulations.values()
    dofs = robot.base_joint.dof_slots
    return float(np.linalg.norm(world.data.qvel[dofs][:3]))


@pytest.mark.parametrize(
    ('op', 'fields'),
    [
        ('set_twist', DRIVE),
        ('step', {'per_articulation': CTRL, 'n_steps': 100}),
        ('apply_wrench', {'articulation': 'rover', 'force': [300.0, 0, 0], 'duration': 60.0}),
    ],
)
def test_a_moving_robot_comes_to_rest_and_stays_there(rover, op, fields):
    rover.ask(op, **fields)
    rover.ask('step', n_steps=300)
    assert speed(rover) > 0.1
    assert rover.caller(shared=True).ask('e_stop', engaged=True)['engaged'] is True
    rover.ask('step', n_steps=1000)
    assert speed(rover) < 0.02
    rover.ask('e_stop', engaged=False)
    rover.ask('step', n_steps=300)
    assert speed(rover) < 0.02


def test_while_engaged_motion_is_refused_and_stopping_is_not(rover):
    assert rover.ask('status')['e_stop'] is False
    rover.ask('e_stop', engaged=True)
    assert rover.ask('status')['e_stop'] is True
    for op, fields in MOVING:
        assert rover.code(op, **fields) == 'e_stop_engaged'
    for op, fields in STOPPING:
        rover.ask(op, **fields)
    rover.ask('e_stop', engaged=False)
    for op, fields in MOVING:
        rover.ask(op, **fields)


def test_moving_joints_hold_their_position_and_loaded_ones_their_setpoint(rig):
    arms = rig(world='bimanual', step_mode='direct')
    name, control = next(iter(arms.engine.controls.items()))
    actuators = list(control.articulation.actuators)
    arms.ask('step', n_steps=500)
    held = control.setpoints['zmq'].copy()
    arms.ask('set_setpoints', articulation=name, values={actuators[0]: held[0] + 0.8})
    arms.ask('step', n_steps=60)
    arms.ask('e_stop', engaged=True)
    arms.ask('step', n_steps=1)
    stopped = control.setpoints['zmq'].copy()
    assert held[0] + 0.02 < stopped[0] < held[0] + 0.75
    arms.ask('step', n_steps=500)
    joint = arms.simulation.world.tables.joints[
        control.articulation.actuators[actuators[0]].joint_id
    ]
    assert arms.data.qpos[joint.qpos_address] == pytest.approx(stopped[0], abs=0.05)
    assert np.abs(arms.data.qvel).max() < 0.02
    still = np.abs(stopped - held) == 0.0
    assert still.sum() > len(held) // 2, 'joints at rest keep their setpoints'


def test_engaging_is_immediate_even_during_a_long_step(rover):
    rover.ask('set_twist', **DRIVE)
    other = rover.caller(shared=True)
    worker = threading.Thread(target=rover.reply, args=('step',), kwargs={'n_steps': 8_000})
    worker.start()
    while speed(rover) < 0.3:
        time.sleep(0.001)
    other.ask('e_stop', engaged=True)
    engaged = rover.data.time
    worker.join(60.0)
    assert rover.data.time - engaged > 1.0, 'the step went on'
    assert speed(rover) < 0.02


def test_only_a_release_ends_an_e_stop(rover):
    rover.ask('set_twist', **DRIVE)
    rover.ask('e_stop', engaged=True)
    crate = '<mujoco><worldbody><body name="b"><geom size=".1"/></body></worldbody></mujoco>'
    for op, fields in (
        ('reset', {}),
        ('reset', {'articulation': 'rover', 'keep_time': True}),
        ('set_paused', {'paused': True}),
        ('set_paused', {'paused': False}),
        ('spawn_entity', {'name': 'crate', 'xml': crate, 'pos': [2.0, 0.0, 1.0]}),
    ):
        rover.ask(op, **fields)
        rover.hello(shared=True)
        assert rover.ask('status')['e_stop'] is True, op
        assert rover.code('set_twist', **DRIVE) == 'e_stop_engaged'
    assert rover.ask('step', n_steps=300)['e_stop'] is True
    assert speed(rover) < 0.02
