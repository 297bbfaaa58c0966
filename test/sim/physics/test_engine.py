# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Deadlines, counters and pauses of the engine."""

import threading

import mujoco
import numpy as np
import pytest


def test_a_waiting_step_is_dropped_when_the_mode_changes(rover):
    rover.ask('set_paused', paused=True)
    other = rover.caller(shared=True)
    timer = threading.Timer(0.1, lambda: other.ask('set_mode', mode='live'))
    timer.start()
    command = {'rover': {'ctrl': [9.0, 9.0]}}
    assert rover.code('step', per_articulation=command) == 'step_timeout'
    timer.join()
    assert rover.ask('status')['step'] == 0 and not rover.data.ctrl.any()


def test_a_refused_step_of_a_running_world_changes_no_setpoint(rig):
    rover = rig()
    command = {'rover': {'ctrl': [5.0, 5.0]}}
    assert rover.code('step', while_paused=True, per_articulation=command) == 'bad_value'
    assert rover.code('step', while_paused='yes', per_articulation=command) == 'bad_value'
    assert not rover.engine.controls['rover'].setpoints['zmq'].any()


def test_wrenches_act_in_paused_live_steps_and_nowhere_else_in_live(rig):
    rover = rig(paused=True)
    push = {'rover': {'xfrc_applied': {'base_link': [0, 0, 900, 0, 0, 0]}}}
    rover.ask('step', per_articulation=push)
    assert not rover.data.xfrc_applied.any()
    reply = rover.ask('step', n_steps=5, while_paused=True, per_articulation=push)
    assert reply['per_articulation']['rover']['qvel'][2] > 0.1
    assert not rover.data.xfrc_applied.any()


def test_an_exception_in_a_handler_is_an_internal_error_and_releases_the_lock(rover, monkeypatch):
    monkeypatch.setattr(mujoco, 'mj_step1', lambda *_: 1 / 0)
    assert rover.code('step') == 'internal_error'
    assert rover.engine.lock.acquire(0.1)
    rover.engine.lock.release()
    # Nor does a reply that cannot be encoded break the caller.
    monkeypatch.setattr(rover.simulation.observer, 'observe', lambda *_: {'x': object()})
    assert rover.code('forward') == 'internal_error'


def test_keep_state_resets_the_clock_only(rover):
    def physics():
        return [getattr(rover.data, name).copy() for name in ('qpos', 'qvel', 'act', 'ctrl')]

    rover.ask('set_twist', articulation='rover', linear=[0.5, 0, 0], angular=[0, 0, 0.3])
    rover.ask('step', n_steps=400)
    before, epoch = physics(), rover.engine.clock.epoch
    reply = rover.ask('reset', keep_state=True)
    assert (reply['time'], reply['step'], rover.engine.clock.epoch) == (0.0, 0, epoch + 1)
    assert all(map(np.array_equal, before, physics()))
    reply = rover.ask('step', n_steps=10)
    assert reply['step'] == 10 and reply['time'] == pytest.approx(0.02)
