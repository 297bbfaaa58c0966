# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Noise: its statistics, that it repeats with its seed, and that it disturbs nothing else."""

import numpy as np
import pytest

ROBOT = """
<mujoco>
  <worldbody>
    <body name="base" pos="0 0 1">
      <freejoint/>
      <geom type="box" size=".1 .1 .1" mass="1"/>
      <site name="imu"/>
    </body>
  </worldbody>
  <sensor>
    <gyro name="gyro" site="imu"/>
    <accelerometer name="accelerometer" site="imu"/>
    <framequat name="orientation" objtype="site" objname="imu"/>
    <user name="scan" objtype="site" objname="imu" dim="90" datatype="real" needstage="pos"/>
  </sensor>
</mujoco>
"""


SCENE = """
<mujoco>
  <option timestep="0.01" gravity="0 0 0"/>
  <worldbody><geom type="cylinder" size="5 3" pos="0 0 0" contype="0" conaffinity="0"/>
    <body name="ring"><geom type="box" size=".1 9 9" pos="4 0 0"/>
    <geom type="box" size=".1 9 9" pos="-4 0 0"/><geom type="box" size="9 .1 9" pos="0 4 0"/>
    <geom type="box" size="9 .1 9" pos="0 -4 0"/></body></worldbody>
</mujoco>
"""


LIDAR = '{angle_min: -3.1, angle_max: 3.1, range_max: 9.0, rate: 100}'


@pytest.fixture
def noisy(rig, tmp_path):
    """Return a factory: noise of the sidecar -> a floating box in direct mode."""

    def make(noise, seed=0):
        (tmp_path / 'robot.xml').write_text(ROBOT)
        (tmp_path / 'scene.xml').write_text(SCENE)
        path = tmp_path / 'w.yaml'
        path.write_text(
            f'scene: scene.xml\nnoise_seed: {seed}\narticulations:\n'
            f'  - {{prefix: box, model: robot.xml, lidars: {{scan: {LIDAR}}}, noise: {noise}}}\n'
        )
        return rig(mode='direct', model=path)

    return make


def samples(rig, *sensors, count=400):
    rows = [rig.ask('step')['per_articulation']['box']['sensors'] for _ in range(count)]
    return [np.array([row[sensor] for row in rows]) for sensor in sensors]


def test_each_sensor_has_the_noise_of_the_sidecar(noisy):
    made = noisy(
        '{gyro: {stddev: 0.2}, accelerometer: {stddev: 0.2, resolution: 0.125, dropout: 0.3},'
        ' orientation: {stddev: 0.02}, scan: {stddev: 0.05, relative: 0.01, dropout: 0.2}}'
    )
    white, lossy, turned, scans = samples(made, 'gyro', 'accelerometer', 'orientation', 'scan')
    assert white.std() == pytest.approx(0.2, rel=0.1) and abs(white.mean()) < 0.03
    # White: neighbours know nothing of each other.
    assert abs(np.corrcoef(white[1:, 0], white[:-1, 0])[0, 1]) < 0.15
    assert np.array_equal(lossy * 8, np.round(lossy * 8))
    repeated = (lossy[1:] == lossy[:-1]).all(axis=1).mean()
    assert repeated == pytest.approx(0.3, abs=0.08)
    # An orientation stays a rotation.
    assert np.linalg.norm(turned, axis=1) == pytest.approx(1.0)
    angles = 2 * np.arccos(np.clip(np.abs(turned[:, 0]), 0, 1))
    assert np.sqrt(np.mean(angles**2)) == pytest.approx(0.02 * np.sqrt(3), rel=0.15)
    # Ranges are lost, and never invented.
    (exact,) = samples(noisy('{}'), 'scan', count=1)
    lost = scans == -1
    assert lost.mean() == pytest.approx(0.2, abs=0.03)
    error = ((scans - exact) / (0.05 + 0.01 * exact))[~lost]
    assert error.std() == pytest.approx(1.0, rel=0.1) and abs(error.mean()) < 0.05
    assert (scans[~lost] >= 0).all() and (scans <= 9.0).all()


def test_a_bias_stays_until_the_next_reset_and_a_walk_spreads_with_the_root_of_time(noisy):
    made = noisy('{gyro: {bias: 0.5}, accelerometer: {walk: 0.1}}')
    biases, walks = [], []
    for _ in range(60):
        made.ask('reset')
        values = [
            made.ask('step', n_steps=count)['per_articulation']['box']['sensors']
            for count in (25, 75)
        ]
        assert values[1]['gyro'] == pytest.approx(values[0]['gyro'], abs=1e-12)
        biases.append(values[0]['gyro'])
        walks.append([each['accelerometer'] for each in values])
    assert np.std(biases) == pytest.approx(0.5, rel=0.2)
    # After 0.25 s and 1 s.
    assert np.std(walks, axis=(0, 2)) == pytest.approx([0.05, 0.1], rel=0.2)


ALL = '{gyro: {stddev: 1, bias: 1, walk: 1, dropout: 0.1}, scan: {stddev: 0.1, dropout: 0.1}}'


def test_the_same_seed_repeats_and_another_does_not(noisy):
    made = noisy(ALL)
    runs = []
    for seed in (7, 7, 8, None):
        made.ask('reset', seed=seed)
        runs.append(samples(made, 'gyro', 'scan', count=20))
    for first, second, other, further in zip(*runs, strict=True):
        assert np.array_equal(first, second)
        assert not np.array_equal(first, other) and not np.array_equal(second, further)
    fresh = [samples(noisy(ALL, seed), 'gyro', count=20) for seed in (3, 3, 4)]
    assert np.array_equal(fresh[0], fresh[1]) and not np.array_equal(fresh[0], fresh[2])


def test_noise_changes_no_state_and_repeated_reads_are_equal(noisy):
    made, exact = noisy(ALL), noisy('{}')
    for _ in range(5):
        noisy_reply = made.ask('step', observations='full')['per_articulation']['box']
        exact_reply = exact.ask('step', observations='full')['per_articulation']['box']
        assert noisy_reply['sensors']['gyro'] != exact_reply['sensors']['gyro']
        for key in ('qpos', 'qvel', 'bodies'):
            assert noisy_reply[key] == exact_reply[key]
    again = [made.ask('forward')['per_articulation']['box']['sensors']['gyro'] for _ in range(2)]
    assert again[0] == again[1]
