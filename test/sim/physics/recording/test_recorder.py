# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Recording: one frame per step in every mode, a window that slides, and what it costs."""

from pathlib import Path
import time

from example_counts import examples
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
import mujoco
import numpy as np
import pytest

from urlab_ros_bridge.sim.physics import recorder as module
from urlab_ros_bridge.sim.physics.recorder import StateRecorder
from urlab_ros_bridge.wire.recording import decode

UNNAMED = """
<mujoco>
  <worldbody>
    <body name="ball" pos="0 0 1"><joint type="ball"/><geom size=".1"/></body>
    <body name="slider"><joint name="s" type="slide"/><geom size=".1" pos="1 0 0"/></body>
    <body name="target" mocap="true" pos="1 2 3"/>
  </worldbody>
  <actuator>
    <motor joint="s"/>
    <general name="slow" joint="s" dyntype="filter" dynprm="0.1"/>
  </actuator>
</mujoco>
"""


def times(rig):
    take = rig.context.recorder.snapshot()
    return [float(take.row(i)[0]) for i in range(len(take))]


def test_pushes_of_a_puppeteer_are_frames_whatever_their_time(rover):
    rover.ask('set_mode', mode='puppet')
    rover.ask('recording_start', max_duration_s=1.0)
    stamps = [0.5, 0.5, 0.75, 0.25, 0.25, 0.5]
    for stamp in stamps:
        rover.ask('step', n_steps=9, time=stamp)
    assert times(rover) == stamps
    step = rover.model.opt.timestep
    duration = rover.ask('recording_stop')['sim_duration_s']
    assert duration == pytest.approx(0.25 + 0.25 + 3 * step)


def test_live_frames_follow_each_other_by_one_timestep_even_over_a_pause(server, connect):
    running = server()
    caller = connect(running, shared=True)
    caller.ask('recording_start')
    time.sleep(0.3)
    caller.ask('set_paused', paused=True)
    before = caller.ask('status')['recording']
    time.sleep(0.3)
    assert before['active'] and caller.ask('status')['recording'] == before
    caller.ask('set_paused', paused=False)
    time.sleep(0.2)
    caller.ask('recording_stop')
    take = running.context.recorder.snapshot()
    stamps = np.array([take.row(i)[0] for i in range(len(take))])
    np.testing.assert_allclose(
        np.diff(stamps), running.context.world.model.opt.timestep, rtol=1e-6
    )
    assert len(take) > before['frames'] > 50


def test_errors_of_the_page(rover):
    for op in ('recording_stop', 'recording_save'):
        assert rover.code(op) == 'recording_not_active'
    rover.ask('recording_start')
    assert rover.code('recording_start') == 'recording_already_active'
    assert rover.code('recording_save') == 'recording_not_active'  # nothing yet
    rover.ask('step')
    rover.ask('recording_clear')
    assert rover.context.recorder.active and rover.code('recording_save') == 'recording_not_active'
    rover.ask('step')
    rover.ask('recording_stop')
    assert rover.code('recording_save', path='../x.json') == 'path_not_writable'
    assert rover.code('recording_save', path=3) == 'bad_value'
    for limit in (0, -1, 'x', float('nan')):
        assert rover.code('recording_start', max_duration_s=limit) == 'bad_value'
    assert rover.context.recorder.frames == 1  # a refused start forgets nothing
    rover.ask('recording_clear')
    rover.ask('recording_clear')
    assert rover.ask('recording_start', name='x', max_duration_s=5) == {
        'op': 'recording_start_ok',
        'name': 'live',
        'max_duration_s': 5,
    }
    assert rover.ask('recording_stop')['sim_duration_s'] == 0.0
    assert rover.ask('recording_start')['max_duration_s'] > 1e38


def test_a_draining_server_breaks_a_save_off(rig, tmp_path):
    rover = rig(data_dir=tmp_path)
    rover.ask('recording_start')
    rover.ask('set_mode', mode='direct')
    rover.ask('step')
    rover.engine.run.draining = True
    assert rover.code('recording_save') == 'shutting_down'
    assert list((tmp_path / 'Replays').iterdir()) == []


def test_a_frame_holds_the_whole_state(rig, mjcf):
    made = rig(model=mjcf(UNNAMED))
    made.ask('set_mode', mode='direct')
    made.ask('recording_start')
    made.ask('step', n_steps=3)
    recorder, data = made.context.recorder, made.data
    row = recorder.snapshot().row(2)
    assert row[recorder.layout.mocap_pos].tolist() == [1, 2, 3]
    everything = (data.qpos, data.qvel, data.ctrl, data.act, data.mocap_pos, data.mocap_quat)
    assert np.array_equal(row[1:], np.concatenate([part.ravel() for part in everything]))


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(st.sampled_from([1, 1, 1, 2, 5, 0, -3]), min_size=1, max_size=200),
    st.integers(1, 40),
)
def test_the_window_keeps_exactly_what_is_young_enough(shared_rig, jumps, window):
    """The law, with time in whole timesteps: a frame that is not later counts as one later."""
    rig, step = shared_rig, 2.0**-9
    rig.model.opt.timestep = step
    recorder = StateRecorder(rig.engine)
    recorder._rows = 16  # many blocks
    recorder.clear()
    recorder.start(window * step)
    now, age, kept = 0, 0, []
    for jump in jumps:
        now += jump
        age += max(jump, 1)
        rig.data.time = now * step
        recorder._record()
        kept = [(a, t) for a, t in (*kept, (age, now)) if a >= age - window]
        take = recorder.snapshot()
        assert recorder.frames == len(take) == len(kept)
    assert [take.row(i)[0] for i in range(len(take))] == [t * step for _, t in kept]
    assert recorder.duration == (kept[-1][0] - kept[0][0]) * step
    recorder.stop()


def test_a_snapshot_does_not_change_any_more(shared_rig):
    recorder = StateRecorder(shared_rig.engine)
    recorder.start(20 * shared_rig.model.opt.timestep)
    for _ in range(30):
        shared_rig.data.time += shared_rig.model.opt.timestep
        recorder._record()
    take = recorder.snapshot()
    before = [take.row(i).tolist() for i in range(len(take))]
    assert len(take) == 21
    for _ in range(5000):
        shared_rig.data.time += shared_rig.model.opt.timestep
        recorder._record()
    recorder.clear()
    assert [take.row(i).tolist() for i in range(len(take))] == before
    recorder.stop()


def test_a_recording_without_limit_keeps_its_newest_frames(shared_rig, caplog):
    recorder = StateRecorder(shared_rig.engine, max_bytes=4 * module.BLOCK_BYTES)
    recorder.start()
    count = 5 * recorder._rows + 10
    for i in range(count):
        shared_rig.data.time = float(i)
        recorder._record()
    take = recorder.snapshot()
    assert recorder.nbytes <= 4 * module.BLOCK_BYTES and len(take) == recorder.frames
    assert [take.row(i)[0] for i in (0, len(take) - 1)] == [2 * recorder._rows, count - 1]
    assert recorder.duration == count - 1 - 2 * recorder._rows
    assert len([r for r in caplog.records if 'oldest frames are dropped' in r.message]) == 1
    recorder.stop()


def test_a_recording_can_be_simulated_again(rig, tmp_path):
    """The ctrl of frame i is the one that led to its state: MuJoCo alone repeats the way."""
    rover = rig(data_dir=tmp_path)
    rover.ask('set_mode', mode='direct')
    rover.ask('reset')
    rover.ask('recording_start')
    for i in range(40):
        rover.ask('step', n_steps=5, per_articulation={'rover': {'ctrl': [i % 7, i % 5]}})
    path = rover.ask('recording_save')['absolute_path']
    take = decode([Path(path).read_text()])
    model, data = rover.model, mujoco.MjData(rover.model)
    for i in range(len(take)):
        row = take.row(i)
        data.ctrl[:] = row[take.layout.ctrl]
        mujoco.mj_step(model, data)
        assert np.array_equal(data.qpos, row[take.layout.qpos])
    assert len(take) == 200 and abs(data.qpos[:2]).max() > 1e-3
