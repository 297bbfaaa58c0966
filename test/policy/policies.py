# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Descriptions and models for the tests of policies."""

from pathlib import Path

import numpy as np
import onnx
from onnx import helper
from onnx import numpy_helper
import yaml

JOINTS = ('a', 'b', 'c')


def plain(**changes):
    """Return the content of a description; None takes a key out."""
    content = {
        'model': 'walk.onnx',
        'rate': 50.0,
        'joints': list(JOINTS),
        'default_pose': {'a': 0.1, 'b': -0.2, 'c': 0.3},
        'observations': ['base_ang_vel', 'velocity_commands', 'joint_pos_rel', 'last_action'],
        'start_time': 0.2,
        'hold_time': 0.1,
        **changes,
    }
    return {name: value for name, value in content.items() if value is not None}


def write(folder: Path, **changes) -> Path:
    path = folder / 'walk.yaml'
    path.write_text(yaml.safe_dump(plain(**changes), sort_keys=False))
    return path


def endless(path: Path) -> Path:
    """Write a model with a loop that never ends."""
    kind = onnx.TensorProto
    go_on = numpy_helper.from_array(np.array(True), 'go_on')
    body = helper.make_graph(
        [
            helper.make_node('Identity', ['go_on_before'], ['go_on_after']),
            helper.make_node('Identity', ['before'], ['after']),
        ],
        'body',
        [
            helper.make_tensor_value_info('count', kind.INT64, []),
            helper.make_tensor_value_info('go_on_before', kind.BOOL, []),
            helper.make_tensor_value_info('before', kind.FLOAT, None),
        ],
        [
            helper.make_tensor_value_info('go_on_after', kind.BOOL, []),
            helper.make_tensor_value_info('after', kind.FLOAT, None),
        ],
    )
    graph = helper.make_graph(
        [helper.make_node('Loop', ['', 'go_on', 'obs'], ['actions'], body=body)],
        'walk',
        [helper.make_tensor_value_info('obs', kind.FLOAT, [1, 12])],
        [helper.make_tensor_value_info('actions', kind.FLOAT, None)],
        [go_on],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8)
    onnx.save(model, path)
    return path


def linear(
    path: Path, matrix, bias=None, shape=None, kind=onnx.TensorProto.FLOAT, metadata=None
) -> Path:
    """Write the model action = observation @ matrix + bias."""
    matrix = np.asarray(matrix, dtype=helper.tensor_dtype_to_np_dtype(kind))
    bias = np.zeros(matrix.shape[1]) if bias is None else bias
    nodes = [
        helper.make_node('MatMul', ['obs', 'matrix'], ['product']),
        helper.make_node('Add', ['product', 'bias'], ['actions']),
    ]
    graph = helper.make_graph(
        nodes,
        'walk',
        [helper.make_tensor_value_info('obs', kind, shape or [1, matrix.shape[0]])],
        [helper.make_tensor_value_info('actions', kind, None)],
        [
            numpy_helper.from_array(matrix, 'matrix'),
            numpy_helper.from_array(np.asarray(bias, dtype=matrix.dtype), 'bias'),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8)
    helper.set_model_props(model, metadata or {})
    onnx.save(model, path)
    return path
