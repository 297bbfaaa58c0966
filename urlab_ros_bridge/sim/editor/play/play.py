# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Play: a level becomes a running world, and stops being one.

Compiling happens on its own thread, so that an impatient `begin_pie` can answer `timeout`
and `pie_status` can be asked in between.  A compilation no longer wanted is dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import replace
import logging
import threading

from urlab_ros_bridge.sim.editor.level.transforms import ActorPose
from urlab_ros_bridge.sim.editor.model_files import CountedFiles
from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.model.assembly import assemble
from urlab_ros_bridge.sim.model.mjcf_import import ModelFiles
from urlab_ros_bridge.sim.model.mjcf_import import OPERATOR
from urlab_ros_bridge.sim.model.sidecar.specs import WorldSpec
from urlab_ros_bridge.sim.model.world import World
from urlab_ros_bridge.sim.requests.background import THREAD
from urlab_ros_bridge.sim.stage import build_context
from urlab_ros_bridge.sim.stage import check_world
from urlab_ros_bridge.sim.stage import Stage
from urlab_ros_bridge.wire.errors import UrlabError

OFF, COMPILING, FAILED, READY = 'off', 'compiling', 'compile_failed', 'ready'
TIMEOUT = 'timeout'
_LOG = logging.getLogger(__name__)


@dataclass(slots=True)
class _Attempt:
    """One compilation; `poses` are those of the actors in what is compiled."""

    make: Callable[[], WorldSpec]
    name: str
    poses: Mapping[str, ActorPose]
    promote: bool
    done: threading.Event


class LevelPlayer:
    """
    Starts and stops the world of the open level; thread-safe.

    :ivar poses: actors' poses in the running world as it was compiled; empty when none runs.
    """

    def __init__(self, stage: Stage, files: ModelFiles = OPERATOR) -> None:
        self._stage, self._files = stage, files
        self._lock = threading.Lock()
        self._attempt: _Attempt | None = None
        self._error = ''
        self._closed = False
        self.poses: Mapping[str, ActorPose] = {}

    @property
    def state(self) -> str:
        """Return off, compiling, compile_failed or ready."""
        if self._stage.context is not None:
            return READY
        if self._attempt is not None:
            return COMPILING
        return FAILED if self._error else OFF

    @property
    def error(self) -> str:
        """Return why the last compilation failed, '' when it did not."""
        return self._error

    def begin(
        self,
        make: Callable[[], WorldSpec],
        name: str,
        poses: Mapping[str, ActorPose],
        timeout: float,
        promote: bool = False,
    ) -> str:
        """
        Compile and run; a running world continues, one that compiles is waited for.

        :param make: returns the world's description; what it raises is the compile error.
        :param timeout: seconds to wait.
        :param promote: begin in direct mode, as a plain hello has it, unless a mode is pinned.
        :return: ready, compile_failed or timeout; off when it was stopped in between.
        :raises OpError: shutting_down when the server stops.
        """
        with self._lock:
            self._check_open()
            if self._stage.context is not None:
                return READY
            attempt = self._attempt
            if attempt is None:
                self._error = ''
                attempt = _Attempt(make, name, poses, promote, threading.Event())
                self._attempt = attempt
                threading.Thread(
                    target=self._run, args=(attempt,), name=THREAD, daemon=True
                ).start()
        if not attempt.done.wait(timeout):
            return TIMEOUT
        self._check_open()
        return self.state

    def _check_open(self) -> None:
        if self._closed:
            raise OpError('shutting_down')

    def stop(self) -> None:
        """End play, or the compilation; harmless when there is neither."""
        with self._lock:
            attempt, self._attempt = self._attempt, None
            self._error = ''
            self.poses = {}
            self._stage.close()
        if attempt is not None:
            attempt.done.set()

    def close(self) -> None:
        """Stop for good: requests waiting for a compilation learn that the server shuts down."""
        self._closed = True
        self.stop()

    def _run(self, attempt: _Attempt) -> None:
        try:
            self._compile(attempt)
        finally:
            attempt.done.set()

    def _compile(self, attempt: _Attempt) -> None:
        try:
            spec = replace(attempt.make(), viewport=True)
            files = CountedFiles(self._files, len(spec.objects))
            world = World(attempt.name, spec, *assemble(spec, files))
            context = build_context(self._stage.config, self._stage.data, world)
            if self._stage.revision:  # what the server starts with is the operator's
                check_world(self._stage.client_models, context)
        except UrlabError as error:
            self._fail(attempt, str(error))
            return
        except Exception as error:
            _LOG.exception('compiling the level failed')
            self._fail(attempt, f'{type(error).__name__}: {error}')
            return
        if attempt.promote:
            # Before time starts, so that the first step of a policy is the first of all.
            context.engine.run.promote()
        with self._lock:
            if self._attempt is not attempt:
                return
            try:
                self._stage.open(context)
                self.poses = attempt.poses
            except Exception as error:
                _LOG.exception('the level cannot run')
                self._error = f'{type(error).__name__}: {error}'
            self._attempt = None

    def _fail(self, attempt: _Attempt, error: str) -> None:
        with self._lock:
            if self._attempt is attempt:
                self._error = error
                self._attempt = None


__all__ = ['COMPILING', 'FAILED', 'OFF', 'READY', 'TIMEOUT', 'LevelPlayer']
