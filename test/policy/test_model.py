# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import signal
import threading

import numpy as np
import onnx
from policies import endless
from policies import linear
from policies import write
import pytest

from urlab_ros_bridge.policy import model
from urlab_ros_bridge.policy.description import PolicyError
from urlab_ros_bridge.policy.description import read_policy
from urlab_ros_bridge.policy.model import OnnxPolicy

pytest.importorskip('onnxruntime')


def load(folder, **changes):
    path = write(folder, **changes)
    return OnnxPolicy(read_policy(path), path)


@pytest.mark.parametrize(
    ('shape', 'kind'),
    [(['batch', 'size'], onnx.TensorProto.FLOAT), ([1, 1, 12], onnx.TensorProto.DOUBLE)],
)
def test_it_computes_what_the_file_says(tmp_path, shape, kind):
    matrix = np.random.default_rng(1).normal(size=(12, 3))
    linear(tmp_path / 'walk.onnx', matrix, [1, 2, 3], shape, kind)
    observation = np.linspace(-1, 1, 12, dtype=np.float32)
    found = load(tmp_path).act(observation)
    np.testing.assert_allclose(found, observation @ matrix + [1, 2, 3], rtol=1e-5)


def test_a_wrong_number_of_inputs_is_reported_with_all_terms(tmp_path):
    linear(tmp_path / 'walk.onnx', np.zeros((15, 3)))
    with pytest.raises(PolicyError, match=r'takes 15 values, .* 12 = base_ang_vel\(3\) \+ velo'):
        load(tmp_path)


def test_the_order_of_joints_in_the_metadata_counts(tmp_path):
    for names in ('a,b,c', 'x,y,z', ''):
        linear(tmp_path / 'walk.onnx', np.zeros((12, 3)), metadata={'joint_names': names})
        load(tmp_path)
    linear(tmp_path / 'walk.onnx', np.zeros((12, 3)), metadata={'joint_names': 'c, a,b'})
    with pytest.raises(PolicyError, match=r'joints: .* c, a, b'):
        load(tmp_path)


def test_a_signal_and_the_limit_of_time_end_a_model_with_an_endless_loop(tmp_path, monkeypatch):
    endless(tmp_path / 'walk.onnx')
    path, stopped = write(tmp_path), []
    before = signal.signal(signal.SIGINT, lambda *_: stopped.append(True))
    try:
        threading.Timer(0.2, signal.raise_signal, (signal.SIGINT,)).start()
        with pytest.raises(PolicyError, match='interrupted'):
            OnnxPolicy(read_policy(path), path, lambda: bool(stopped))
    finally:
        signal.signal(signal.SIGINT, before)
    monkeypatch.setattr(model, 'STEP_SECONDS', 0.2)
    with pytest.raises(PolicyError, match='not ended'):
        load(tmp_path)


def test_a_model_names_no_other_file(tmp_path):
    path = linear(tmp_path / 'walk.onnx', np.ones((12, 3)))
    onnx.save(
        onnx.load(path), path, save_as_external_data=True, location='weights.bin',
        size_threshold=0,
    )  # fmt: skip
    assert (tmp_path / 'weights.bin').is_file()
    with pytest.raises(PolicyError, match='onnxruntime'):
        load(tmp_path)
