# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Trials in another process, which may hang, crash or run out of memory in place of the server.

MuJoCo cannot be interrupted, and a short text can ask for any amount of work.  So a model of a
client is compiled by a process with limits first; only what passes is compiled here, from the same
bytes.  A world that a client changes is stepped there before it runs here.  The process is started
for the first trial and stays, for all worlds of a server.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from io import FileIO
import json
import logging
import math
import os
from pathlib import Path
import signal
import subprocess
import sys
import threading
import time
from typing import Any
from typing import NamedTuple
import weakref

import mujoco
import numpy as np

from urlab_ros_bridge.files.no_windows import WITHOUT_WINDOWS
from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.model.client_models import limits
from urlab_ros_bridge.sim.model.client_models import trial_worker
from urlab_ros_bridge.sim.model.client_models.document import Bundle
from urlab_ros_bridge.sim.model.client_models.limits import Sizes
from urlab_ros_bridge.sim.model.client_models.limits import too_large

_START_SECONDS = 60.0
_GRACE_SECONDS = 10.0  # beyond the limit that the fork keeps by itself: for sending and receiving
_MEMORY = 64  # verdicts that are remembered
_LOG = logging.getLogger(__name__)


class StepTrial(NamedTuple):
    """
    Result of stepping a model on trial.

    :ivar seconds: processor time of the longest step; math.inf when it was aborted.
    :ivar diverged: MuJoCo reset the state, because it became invalid.
    """

    seconds: float
    diverged: bool


class Trial:
    """Compiles and steps models on trial, one at a time; thread-safe."""

    def __init__(
        self,
        cpu: int = limits.CPU_SECONDS,
        wall: float = limits.WALL_SECONDS,
        memory: int = limits.MEMORY_BYTES,
    ) -> None:
        self._cpu, self._wall, self._memory = cpu, wall, memory
        self._lock = threading.Lock()
        self._worker: _TrialWorker | None = None
        self._closed = False
        self._number = 0
        self._passed: dict[bytes, Sizes] = {}

    def sizes(self, bundle: Bundle) -> Sizes:
        """
        Compile a model, and return how large it is.

        :raises OpError: import_failed: MuJoCo's message, or the exceeded limit;
            shutting_down.
        """
        request = {
            'sizes': {name: limit for name, (_, limit, _) in limits.SIZES.items()},
            'cpu': self._cpu,
            'memory': self._memory,
        }
        files = {
            'xml': {'': bundle.xml.encode()},
            'parsed': bundle.parsed,
            'compiled': bundle.compiled,
        }
        with self._lock:
            key = bundle.key
            if key not in self._passed:
                found = self._checked_sizes(self._exchange(request, files))
                while len(self._passed) >= _MEMORY:
                    del self._passed[next(iter(self._passed))]
                self._passed[key] = found
            return self._passed[key]

    def step(
        self, model: mujoco.MjModel, state: np.ndarray, options: Mapping[str, Any] | None = None
    ) -> StepTrial:
        """
        Step a model a few times from a state.

        :param state: mjSTATE_INTEGRATION, float64 of shape (mj_stateSize,).
        :param options: fields of `model.opt` that have other values on trial.
        :raises OpError: import_failed: MuJoCo's message; shutting_down.
        """
        content = np.empty(mujoco.mj_sizeModel(model), np.uint8)
        mujoco.mj_saveModel(model, None, content)
        files = {'model': {'tried.mjb': content.tobytes()}, 'state': {'': state.tobytes()}}
        request = {
            'options': dict(options or {}),
            'seconds': limits.STEP_SECONDS,
            'cpu': limits.STEP_CPU_SECONDS,
            'memory': self._memory + 4 * len(content),
        }
        with self._lock:
            answer = self._exchange(request, files)
        if 'seconds' in answer:
            return StepTrial(answer['seconds'], answer['diverged'])
        if answer.get('signal') in (signal.SIGXCPU, signal.SIGKILL, signal.SIGALRM):
            return StepTrial(math.inf, False)
        if 'memory' in answer:
            raise OpError('import_failed', 'a step takes more memory than there is for a trial')
        if 'signal' in answer:
            raise OpError('import_failed', f'MuJoCo crashed with signal {answer["signal"]}')
        raise import_failed(answer['refused'])

    def close(self) -> None:
        """End the process; waiting requests get shutting_down."""
        self._closed = True
        worker = self._worker
        if worker is not None:
            # The thread that waits for an answer closes the pipes.
            worker.kill()

    def _checked_sizes(self, answer: dict) -> Sizes:
        """Return the sizes of a model that has passed."""
        if 'refused' in answer:
            raise import_failed(answer['refused'])
        if 'memory' in answer:
            raise _limit_exceeded('memory', self._memory >> 20, 'MiB')
        number = answer.get('signal')
        if number in (signal.SIGXCPU, signal.SIGKILL):
            raise _limit_exceeded('processor time', self._cpu, 's')
        if number == signal.SIGALRM:
            raise _limit_exceeded('time', self._wall, 's')
        if number is not None:
            raise OpError('import_failed', f'MuJoCo crashed with signal {number} on this model')
        sizes = Sizes(answer['sizes'])
        for name, (what, limit, _) in limits.SIZES.items():
            if sizes[name] > limit:
                raise too_large(what, sizes[name], limit)
        return sizes

    def _exchange(self, request: dict, files: Mapping[str, Mapping[str, bytes]]) -> dict:
        """Send a request with its files, and return the answer."""
        worker = self._running_worker()
        self._number += 1
        head = {
            'number': self._number,
            'wall': self._wall,
            **request,
            'files': {
                group: {name: len(content) for name, content in items.items()}
                for group, items in files.items()
            },
        }
        parts = [json.dumps(head).encode() + b'\n']
        parts += [content for items in files.values() for content in items.values()]
        seconds = self._wall + _GRACE_SECONDS
        late = threading.Event()
        watch = threading.Timer(seconds, _stop_late_worker, (worker, late))
        watch.daemon = True
        watch.start()
        try:
            for part in parts:
                worker.write(part)
            answer = json.loads(worker.read_line())
            if answer['number'] != self._number:
                # Never mistake the answer to another request for this one's.
                raise ValueError('an answer to another request')
            return answer
        except (OSError, ValueError, KeyError, TypeError) as error:
            self._forget(worker)
            if late.is_set():
                raise _limit_exceeded('time', seconds, 's') from error
            raise OpError('import_failed', 'the trial compiler exited') from error
        finally:
            watch.cancel()

    def _running_worker(self) -> _TrialWorker:
        """Return the process, started if need be."""
        worker = self._worker
        if worker is not None and worker.process.poll() is None and not self._closed:
            return worker
        self._check_open()
        begun = time.monotonic()
        worker = self._worker = _TrialWorker()
        weakref.finalize(self, worker.end)
        if self._closed:
            self._forget(worker)
        watch = threading.Timer(_START_SECONDS, worker.kill)
        watch.daemon = True
        watch.start()
        ready = worker.read_line()
        watch.cancel()
        if not ready:
            self._forget(worker)
            raise OpError('import_failed', 'the trial compiler did not start')
        took = time.monotonic() - begun
        _LOG.debug(
            'process %d is the trial compiler; it started in %.2f s', worker.process.pid, took
        )
        return worker

    def _forget(self, worker: _TrialWorker) -> None:
        worker.end()
        if self._worker is worker:
            self._worker = None
        self._check_open()

    def _check_open(self) -> None:
        if self._closed:
            raise OpError('shutting_down')


def import_failed(error: object) -> OpError:
    """Return the error of a model that MuJoCo refuses, with the first line of its message."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return OpError('import_failed', lines[0] if lines else type(error).__name__)


def _limit_exceeded(what: str, limit: float, unit: str) -> OpError:
    return OpError(
        'import_failed',
        f'compiling the model takes more {what} than the limit of {limit:g} {unit}',
    )


class _TrialWorker:
    """The process that compiles models, and the pipes to it."""

    def __init__(self) -> None:
        read_end, write_end = os.pipe()
        self._requests = FileIO(write_end, 'wb')
        answers_end, their_end = os.pipe()
        self._answers = FileIO(answers_end, 'rb')
        try:
            self.process = subprocess.Popen(
                [sys.executable, '-I', str(Path(trial_worker.__file__)), json.dumps(sys.path)],
                stdin=read_end,
                stdout=their_end,
                stderr=subprocess.DEVNULL,
                # One thread, so that it can fork; no graphics.
                env={**os.environ, **WITHOUT_WINDOWS, 'OPENBLAS_NUM_THREADS': '1'},
                start_new_session=True,
            )
        finally:
            os.close(read_end)
            os.close(their_end)

    def write(self, content: bytes) -> None:
        """Send bytes; blocks until all are sent."""
        view = memoryview(content)
        while view:
            view = view[self._requests.write(view) :]

    def read_line(self) -> bytes:
        """Wait for a line; empty when the process has ended."""
        return self._answers.readline(trial_worker.MAX_LINE)

    def kill(self) -> None:
        """Kill the process and its fork; harmless when they have ended."""
        if self.process.poll() is None:
            with suppress(ProcessLookupError, PermissionError):
                # Its own session, so the group has its number.
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def end(self) -> None:
        """Kill the process, and close the pipes to it; called by the thread that uses them."""
        self.kill()
        for pipe in (self._requests, self._answers):
            with suppress(OSError):
                pipe.close()


def _stop_late_worker(worker: _TrialWorker, late: threading.Event) -> None:
    late.set()
    worker.kill()
