# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The trial of client models with one fork for very many models, in place of a fork for each.

The same function compiles under the same limits.  What ends the fork is that model's verdict, as
it is in the product; the next model gets a new fork.  One in a hundred goes the product's way, and
both verdicts must be equal.
"""

from __future__ import annotations

import os
import pickle
import resource
import signal
import struct
from typing import Any

import mujoco

from urlab_ros_bridge.sim.model.client_models import limits
from urlab_ros_bridge.sim.model.client_models import trial_worker
from urlab_ros_bridge.sim.model.client_models.document import Bundle
from urlab_ros_bridge.sim.model.client_models.trial import Trial

_EVERY = 100  # models of which one goes the product's way
_LIFE = 5_000  # models that a fork compiles: what MuJoCo loses must not add up


class LongTrial(Trial):
    """A trial whose fork lives on."""

    def __init__(self, cpu: int, wall: float) -> None:
        super().__init__(cpu=cpu, wall=wall)
        self._fork: _Fork | None = None
        self._asked = 0

    def _compiled(self, bundle: Bundle) -> dict:
        self._asked += 1
        found = self._ask(bundle)
        if self._asked % _EVERY == 0:
            theirs = super()._compiled(bundle)
            alike = [{key: value for key, value in each.items() if key != 'number'}
                     for each in (found, theirs)]  # fmt: skip
            # Which memory is free, and so how it ends, may differ between processes.
            if 'memory' not in found and 'signal' not in found and alike[0] != alike[1]:
                raise AssertionError(f'two verdicts on one model: {alike}')
        return found

    def _ask(self, bundle: Bundle) -> dict:
        if self._fork is None:
            self._fork = _Fork(self._cpu, self._wall, self._memory)
        # One that is interrupted would give its answer to the next question.
        fork, self._fork = self._fork, None
        try:
            answer, lives = fork.ask(bundle)
        except BaseException:
            fork.kill()
            raise
        self._fork = fork if lives else None
        return answer

    def close(self) -> None:
        """End the fork, too."""
        if self._fork is not None:
            self._fork.end()
        super().close()


class _Fork:
    """The process that compiles, and the pipes to it."""

    def __init__(self, cpu: int, wall: float, memory: int) -> None:
        self._left = _LIFE
        theirs, self._requests = os.pipe()
        self._answers, ours = os.pipe()
        self._process = os.fork()
        if not self._process:
            os.close(self._requests)
            os.close(self._answers)
            try:
                _compile_all(theirs, ours, cpu, wall, memory)
            finally:
                os._exit(0)
        os.close(theirs)
        os.close(ours)

    def ask(self, bundle: Bundle) -> tuple[dict[str, Any], bool]:
        """Return the verdict, and whether the fork may be asked again."""
        content = pickle.dumps((bundle.xml, bundle.parsed, bundle.compiled))
        try:
            _send(self._requests, content)
            answer: dict[str, Any] = pickle.loads(_receive(self._answers))
        except (OSError, EOFError):
            return {'signal': os.WTERMSIG(self.end())}, False
        self._left -= 1
        if not self._left:
            self.end()
        return answer, self._left > 0

    def kill(self) -> None:
        """End it at once."""
        os.kill(self._process, signal.SIGKILL)
        self.end()

    def end(self) -> int:
        """Close the pipes and wait for the end; return the status."""
        os.close(self._requests)
        os.close(self._answers)
        return os.waitpid(self._process, 0)[1]


def _compile_all(requests: int, answers: int, cpu: int, wall: float, memory: int) -> None:
    """Compile what is asked for, without files, and with so much time and memory each."""
    with open('/proc/self/statm', 'rb') as file:
        own = int(file.read().split()[0]) * resource.getpagesize()
    # The product's process has hardly anything of its own.
    resource.setrlimit(resource.RLIMIT_AS, (own + memory, own + memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    sizes = {name: limit for name, (_, limit, _) in limits.SIZES.items()}
    while True:
        xml, parsed, compiled = pickle.loads(_receive(requests))
        used = resource.getrusage(resource.RUSAGE_SELF)
        spent = int(used.ru_utime + used.ru_stime)
        resource.setrlimit(resource.RLIMIT_CPU, (spent + cpu + 1, resource.RLIM_INFINITY))
        signal.setitimer(signal.ITIMER_REAL, wall)
        files = {'xml': {'': xml.encode()}, 'parsed': parsed, 'compiled': compiled}
        verdict = trial_worker._verdict(mujoco, {'sizes': sizes}, files)
        # What it keeps of files lies between what it frees: soon nothing fits, and all is refused.
        mujoco.mj_clearCache(mujoco.mj_getCache())
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        _send(answers, pickle.dumps(verdict))


def _send(pipe: int, content: bytes) -> None:
    view = memoryview(struct.pack('<Q', len(content)) + content)
    while view:
        view = view[os.write(pipe, view) :]


def _receive(pipe: int) -> bytes:
    size = struct.unpack('<Q', _exactly(pipe, 8))[0]
    return _exactly(pipe, size)


def _exactly(pipe: int, size: int) -> bytes:
    content = b''
    while len(content) < size:
        piece = os.read(pipe, min(size - len(content), 1 << 20))
        if not piece:
            raise EOFError
        content += piece
    return content
