# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The model of a policy: an ONNX file with one input and one output."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import wait
from pathlib import Path
import time
from typing import Any

import numpy as np

from urlab_ros_bridge.policy.description import PolicyDescription
from urlab_ros_bridge.policy.description import PolicyError

MAX_BYTES = 500_000_000
# Longest step (s), and period of the checks for its end.
STEP_SECONDS = 60.0
POLL_SECONDS = 0.1
_TYPES = {'tensor(float)': np.float32, 'tensor(double)': np.float64, 'tensor(float16)': np.float16}


class OnnxPolicy:
    """
    An ONNX model, checked against its description.

    The file is loaded from bytes, so it cannot refer to other files, and runs on the CPU: a step
    of a policy is too small for anything else.
    """

    def __init__(
        self,
        description: PolicyDescription,
        path: Path,
        is_stopping: Callable[[], bool] = lambda: False,
    ) -> None:
        """
        Load the model and run it once.

        :param path: of the description.
        :param is_stopping: returns whether the program ends, which ends a step.
        :raises PolicyError: when onnxruntime is missing, the file cannot be read, is no ONNX
            model, or its inputs or outputs do not match the description.
        """
        self._path = path
        self._file = path.parent / description.model
        self._description = description
        session = self._session()
        inputs, outputs = session.get_inputs(), session.get_outputs()
        if len(inputs) != 1:
            names = ', '.join(each.name for each in inputs)
            raise self._error(
                f'has {len(inputs)} inputs ({names}), expected one; recurrent policies are not '
                'supported: export the policy with a history of observations'
            )
        self._input, self._output = inputs[0].name, outputs[0].name
        if inputs[0].type not in _TYPES:
            raise self._error(f'takes {inputs[0].type}, expected one of {", ".join(_TYPES)}')
        self._type = _TYPES[inputs[0].type]
        self._shape = self._input_shape(inputs[0].shape)
        self._run = session.run
        self._is_stopping = is_stopping
        # A thread of its own, so that signals are handled while a step takes long.
        self._thread = ThreadPoolExecutor(1, 'inference')
        self._check_joints(session.get_modelmeta().custom_metadata_map)
        self._check_output()

    def act(self, observation: np.ndarray) -> np.ndarray:
        """
        Return the output, (m,) float64, for an observation (n,).

        :raises PolicyError: when the step fails, or does not end.
        """
        from onnxruntime import RunOptions

        given = observation.astype(self._type).reshape(self._shape)
        options, begun = RunOptions(), time.monotonic()
        step = self._thread.submit(self._run, [self._output], {self._input: given}, options)
        while not wait((step,), POLL_SECONDS).done:
            if self._is_stopping() or time.monotonic() - begun > STEP_SECONDS:
                options.terminate = True
        try:
            (output,) = step.result()
        except Exception as error:  # of classes that onnxruntime does not document
            raise self._error(self._failure(error, options.terminate)) from None
        return np.asarray(output, dtype=np.float64).ravel()

    def _failure(self, error: Exception, was_ended: bool) -> str:
        if not was_ended:
            return f'fails with the observations {self._description.breakdown()}: {error}'
        if self._is_stopping():
            return 'was interrupted'
        return f'has not ended its step after {STEP_SECONDS:g} s'

    def _error(self, problem: str) -> PolicyError:
        return PolicyError(self._path, 'model', f'{self._file.name} {problem}')

    def _session(self) -> Any:
        try:
            import onnxruntime
        except ImportError as error:
            raise PolicyError(
                self._path,
                'model',
                f'needs onnxruntime (run "urlab setup --with policy"): {error}',
            ) from None
        try:
            with self._file.open('rb') as file:
                data = file.read(MAX_BYTES + 1)
        except (OSError, ValueError) as error:
            raise PolicyError(self._path, 'model', f'cannot be read: {error}') from None
        if len(data) > MAX_BYTES:
            raise self._error(f'is larger than {MAX_BYTES} bytes')
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self._description.threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            return onnxruntime.InferenceSession(data, options, providers=['CPUExecutionProvider'])
        except Exception as error:  # of classes that onnxruntime does not document
            raise self._error(f'is not a model that onnxruntime can run: {error}') from None

    def _input_shape(self, shape: list[Any]) -> tuple[int, ...]:
        """Return the shape for one step; text and None stand for any size."""
        size = self._description.size
        free = all(not isinstance(each, int) or each == 1 for each in shape[:-1])
        last = shape[-1] if shape else 1
        if not shape or not free:
            raise self._error(f'takes an input of shape {shape}, expected [1, {size}]')
        if isinstance(last, int) and last != size:
            raise self._error(
                f'takes {last} values, but the observations have {self._description.breakdown()}'
            )
        return (*(1 for _ in shape[:-1]), size)

    def _check_output(self) -> None:
        size = self._description.size
        found = self.act(np.zeros(size, dtype=np.float32))
        joints = self._description.joints
        if len(found) != len(joints):
            raise self._error(
                f'outputs {len(found)} values, but joints has {len(joints)}: {", ".join(joints)}'
            )

    def _check_joints(self, metadata: dict[str, str]) -> None:
        """Compare the order of the joints with that in the metadata of some exporters (mjlab)."""
        exported = tuple(name.strip() for name in metadata.get('joint_names', '').split(','))
        joints = self._description.joints
        if exported != joints and sorted(exported) == sorted(joints):
            raise PolicyError(
                self._path, 'joints', f'must have the order of the model: {", ".join(exported)}'
            )


__all__ = ['OnnxPolicy']
