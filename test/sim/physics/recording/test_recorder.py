# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Recording: one frame per step in every mode, a window that slides, and what it costs."""

from pathlib import Path

from example_counts import examples
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
import mujoco
import numpy as np

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


def test_a_frame_holds_the_whole_state(rig, mjcf):
    made = rig(mode='direct', model=mjcf(UNNAMED))
    made.ask('recording_start')
    made.ask('step', n_steps=3)
    recorder, data = made.simulation.recorder, made.data
    row = recorder.snapshot().row(2)
    assert row[recorder.layout.columns['mocap_pos']].tolist() == [1, 2, 3]
    everything = (data.qpos, data.qvel, data.ctrl, data.act, data.mocap_pos, data.mocap_quat)
    assert np.array_equal(row[1:], np.concatenate([part.ravel() for part in everything]))


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(st.sampled_from([1, 1, 1, 2, 5, 0, -3]), min_size=1, max_size=200), st.integers(1, 40)
)
def test_a_window_keeps_exactly_the_frames_within_its_duration(shared_rig, jumps, window):
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


def test_a_recording_without_limit_keeps_its_newest_frames(shared_rig):
    recorder = StateRecorder(shared_rig.engine, max_bytes=4 * module.BLOCK_BYTES)
    recorder.start()
    count = 5 * recorder._rows + 10
    for i in range(count):
        shared_rig.data.time = float(i)
        recorder._record()
    take = recorder.snapshot()
    assert recorder.nbytes <= 4 * module.BLOCK_BYTES and len(take) == recorder.frames
    assert [take.row(i)[0] for i in (0, len(take) - 1)] == [2 * recorder._rows, count - 1]
    recorder.stop()


def test_a_recording_can_be_simulated_again(rig, tmp_path):
    """The ctrl of frame i is the one that led to its state: MuJoCo alone repeats the motion."""
    rover = rig(mode='direct', data_dir=tmp_path)
    rover.ask('reset')
    rover.ask('recording_start')
    for i in range(40):
        rover.ask('step', n_steps=5, per_articulation={'rover': {'ctrl': [i % 7, i % 5]}})
    path = rover.ask('recording_save')['absolute_path']
    take = decode([Path(path).read_text()])
    model, data = rover.model, mujoco.MjData(rover.model)
    for i in range(len(take)):
        row = take.row(i)
        data.ctrl[:] = row[take.layout.columns['ctrl']]
        mujoco.mj_step(model, data)
        assert np.array_equal(data.qpos, row[take.layout.columns['qpos']])
    assert len(take) == 200 and abs(data.qpos[:2]).max() > 1e-3
