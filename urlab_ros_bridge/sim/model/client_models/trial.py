# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
A first compilation in another process, which may hang, crash or eat memory instead of the server.

MuJoCo cannot be interrupted, and a short text can ask for any amount of work.  So a model of a
client is compiled by a process with limits first; only what passes is compiled here, from the same
bytes.  The process is started for the first model and stays, for all worlds of a server.
"""

from __future__ import annotations

from contextlib import suppress
from io import FileIO
import json
import logging
import os
from pathlib import Path
import signal
import subprocess
import sys
import threading
import time
import weakref

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


class Trial:
    """Tries models, one at a time; thread-safe."""

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

        :raises OpError: import_failed: what MuJoCo says, or which limit is exceeded;
            shutting_down.
        """
        with self._lock:
            key = bundle.key
            if key not in self._passed:
                found = self._judged(self._exchange(bundle))
                while len(self._passed) >= _MEMORY:
                    del self._passed[next(iter(self._passed))]
                self._passed[key] = found
            return self._passed[key]

    def close(self) -> None:
        """End the process; waiting requests get shutting_down."""
        self._closed = True
        worker = self._worker
        if worker is not None:
            # The thread that waits for an answer closes the pipes.
            worker.kill()

    def _judged(self, answer: dict) -> Sizes:
        """Return the sizes of a model that has passed."""
        if 'refused' in answer:
            raise import_failed(answer['refused'])
        if 'memory' in answer:
            raise _spent('memory', self._memory >> 20, 'MiB')
        number = answer.get('signal')
        if number in (signal.SIGXCPU, signal.SIGKILL):
            raise _spent('processor time', self._cpu, 's')
        if number == signal.SIGALRM:
            raise _spent('time', self._wall, 's')
        if number is not None:
            raise OpError('import_failed', f'MuJoCo crashed with signal {number} on this model')
        sizes = Sizes(answer['sizes'])
        for name, (what, limit, _) in limits.SIZES.items():
            if sizes.of(name) > limit:
                raise too_large(what, sizes.of(name), limit)
        return sizes

    def _exchange(self, bundle: Bundle) -> dict:
        """Send a model, and return the answer."""
        worker = self._running()
        xml = bundle.xml.encode()
        self._number += 1
        head = {
            'number': self._number,
            'xml': len(xml),
            'parsed': {name: len(content) for name, content in bundle.parsed.items()},
            'compiled': {name: len(content) for name, content in bundle.compiled.items()},
            'sizes': {name: limit for name, (_, limit, _) in limits.SIZES.items()},
            'cpu': self._cpu,
            'wall': self._wall,
            'memory': self._memory,
        }
        parts = [json.dumps(head).encode() + b'\n', xml]
        parts += [*bundle.parsed.values(), *bundle.compiled.values()]
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
                # Never take the verdict on another model for this one's.
                raise ValueError('an answer to another request')
            return answer
        except (OSError, ValueError, KeyError, TypeError) as error:
            self._forget(worker)
            if late.is_set():
                raise _spent('time', seconds, 's') from error
            raise OpError('import_failed', 'the trial compiler exited') from error
        finally:
            watch.cancel()

    def _running(self) -> _TrialWorker:
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
    """Return the error of a model that MuJoCo refuses: the first line of what it says."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return OpError('import_failed', lines[0] if lines else type(error).__name__)


def _spent(what: str, limit: float, unit: str) -> OpError:
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


__all__ = ['Trial', 'import_failed']
