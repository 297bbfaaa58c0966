# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Deadlines, counters and pauses of the engine."""

import threading
from types import SimpleNamespace

from dispatching import dispatch
import mujoco
import pytest

from urlab_ros_bridge.sim.physics import engine as engine_module
from urlab_ros_bridge.sim.physics import run_state
from urlab_ros_bridge.sim.physics.run_state import STEP_TIMEOUT
from urlab_ros_bridge.wire.encoding import codec


def later(seconds, call):
    timer = threading.Timer(seconds, call)
    timer.start()
    return timer


@pytest.mark.parametrize('mode', ['live', 'puppet'])
def test_a_waiting_step_is_dropped_when_the_mode_changes(rover, mode):
    rover.ask('set_paused', paused=True)
    other = rover.caller(shared=True)
    timer = later(0.1, lambda: other.ask('set_mode', mode=mode))
    with pytest.raises(Exception, match=f'step_timeout.*{mode}'):
        rover.ask('step', per_articulation={'rover': {'ctrl': [9.0, 9.0]}})
    timer.join()
    assert rover.ask('status')['step'] == 0 and not rover.data.ctrl.any()


class Clock:
    """The engine's clock: a step takes a tenth of a second."""

    def __init__(self, monkeypatch, engine):
        self.now = 100.0
        fake = SimpleNamespace(monotonic=lambda: self.now)
        for module in (engine_module, run_state):
            monkeypatch.setattr(module, 'time', fake)
        engine.hooks.after_step.append(lambda: self.pass_by(0.1))

    def pass_by(self, seconds):
        self.now += seconds


def test_waiting_and_stepping_share_one_deadline(rover, monkeypatch):
    clock = Clock(monkeypatch, rover.engine)
    rover.ask('set_paused', paused=True)
    other = rover.caller(shared=True)

    def go_on():
        clock.pass_by(STEP_TIMEOUT - 1.05)
        other.ask('set_paused', paused=False)

    timer = later(0.05, go_on)
    with pytest.raises(Exception, match='step_timeout: 11 of 1000'):
        rover.ask('step', n_steps=1000)
    timer.join()


def cost_after(engine, monkeypatch, *steps):
    """Return what a sub-step counts for (s) after requests of four that take so long each (s)."""
    clock = Clock(monkeypatch, engine)
    engine.hooks.after_step.clear()
    seconds = iter(steps)
    engine.hooks.after_step.append(lambda: clock.pass_by(next(seconds)))
    for _ in range(len(steps) // 4):
        engine.advance(4, (), clock.now + 100.0)
    return engine.run.seconds_per_step


def test_steps_that_became_slower_are_known_after_some_requests(rover, monkeypatch):
    assert cost_after(rover.engine, monkeypatch, *[1e-3] * 400) == pytest.approx(1e-3, rel=0.1)


def test_steps_of_a_paused_live_world_have_a_deadline_too(rig, monkeypatch):
    rover = rig(paused=True)
    Clock(monkeypatch, rover.engine)
    done = round(10 * STEP_TIMEOUT)
    with pytest.raises(Exception, match=rf'step_timeout: ({done}|{done + 1}) of 1000'):
        rover.ask('step', n_steps=1000, while_paused=True)


def test_a_refused_step_of_a_running_world_stages_nothing(rig):
    rover = rig()
    command = {'rover': {'ctrl': [5.0, 5.0]}}
    assert rover.code('step', while_paused=True, per_articulation=command) == 'bad_value'
    assert rover.code('step', while_paused='yes', per_articulation=command) == 'bad_value'
    assert not rover.engine.controls['rover'].slots['zmq'].any()


def test_wrenches_act_in_paused_live_steps_and_nowhere_else_in_live(rig):
    rover = rig(paused=True)
    push = {'rover': {'xfrc_applied': {'base_link': [0, 0, 900, 0, 0, 0]}}}
    rover.ask('step', per_articulation=push)
    assert not rover.data.xfrc_applied.any()
    reply = rover.ask('step', n_steps=5, while_paused=True, per_articulation=push)
    assert reply['per_articulation']['rover']['qvel'][2] > 0.1
    assert not rover.data.xfrc_applied.any()


def test_a_keyframe_with_a_time_sets_the_clock_unless_time_is_kept(rig, mjcf):
    server = rig(model=mjcf(
        '<mujoco><worldbody><body><joint name="j" axis="0 1 0"/><geom size="0.1"/></body>'
        '</worldbody><actuator><motor joint="j"/></actuator>'
        '<keyframe><key name="late" time="2.5" qpos="0.25"/></keyframe></mujoco>'
    ))  # fmt: skip
    assert server.ask('reset', keyframe_name='late')['sim_time'] == {'sec': 2, 'nsec': 500_000_000}
    reply = server.ask('reset', keep_time=True)
    assert reply['time'] == 2.5 and server.data.qpos[0] == 0.0


def test_something_that_breaks_in_a_handler_is_an_internal_error_and_the_lock_is_free(
    rover, monkeypatch, caplog
):
    monkeypatch.setattr(mujoco, 'mj_step1', lambda *_: 1 / 0)
    assert rover.code('step') == 'internal_error'
    assert 'ZeroDivisionError' in caplog.text
    assert rover.engine.lock.acquire(0.1)
    rover.engine.lock.release()
    # Nor does a reply that cannot be encoded break the caller.
    monkeypatch.setattr(rover.context.observer, 'observe', lambda *_: {'x': object()})
    frame = codec.pack({'op': 'forward', 'session_id': rover.session_id})
    assert codec.unpack(dispatch(rover.dispatcher, frame))['code'] == 'internal_error'
