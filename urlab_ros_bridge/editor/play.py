# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Play: run a level as a world, and stop it.

Compiling has its own thread, so that `begin_pie` can answer `timeout` and `pie_status` can be
requested meanwhile.  The result of a compilation that is no longer needed is dropped.

In play, an actor's pose is that of its own frame.  A robot's root body usually has an offset from
that frame, which is computed from its pose when the level was compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import replace
import logging
import threading

import mujoco
import numpy as np

from urlab_ros_bridge.editor.model_files import CountedFiles
from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.geometry import pose_of
from urlab_ros_bridge.geometry import xyzw_to_wxyz
from urlab_ros_bridge.sim.building import build_simulation
from urlab_ros_bridge.sim.building import check_world
from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.model.assembly import assemble
from urlab_ros_bridge.sim.model.bounds import Boxes
from urlab_ros_bridge.sim.model.bounds import boxes_of
from urlab_ros_bridge.sim.model.mjcf_import import ModelFiles
from urlab_ros_bridge.sim.model.mjcf_import import OPERATOR
from urlab_ros_bridge.sim.model.sidecar.specs import WorldSpec
from urlab_ros_bridge.sim.model.world import World
from urlab_ros_bridge.sim.requests.background import THREAD
from urlab_ros_bridge.sim.simulation import Simulation
from urlab_ros_bridge.sim.simulation import SimulationHost
from urlab_ros_bridge.wire.errors import UrlabError

_FREE = int(mujoco.mjtJoint.mjJNT_FREE)


class RunningWorld:
    """
    The running world as the editor sees it.

    :param poses: the actors' poses as they were compiled, by name.
    """

    def __init__(self, simulation: Simulation, poses: Mapping[str, Pose]) -> None:
        self._simulation = simulation
        self._model = simulation.world.model
        self._poses = poses

    @property
    def sim_time(self) -> float:
        """Return the simulated seconds."""
        return float(self._simulation.world.data.time)

    def others(self, names: set[str]) -> list[str]:
        """Return the top-level dynamic bodies of the scene file: those not in `names`."""
        return [
            name
            for name, entity in self._simulation.world.entities.items()
            if name not in names and self._model.body_parentid[entity.body] == 0
        ]

    def has(self, name: str) -> bool:
        """Return whether there is an actor or a body with this name."""
        return self._root(name) >= 0

    def pose(self, name: str) -> Pose | None:
        """Return the pose of an actor or a dynamic body of the scene; None if it is unknown."""
        with self._simulation.engine.lock:
            return self.pose_now(name)

    def pose_now(self, name: str) -> Pose | None:
        """Return the same; the caller holds the engine's lock."""
        root = self._root(name)
        if root < 0:
            return None
        data = self._simulation.world.data
        now = pose_of(data.xpos[root], data.xquat[root])
        return now.then(self._offset(name, root).inverse())

    def boxes(self, name: str) -> Boxes:
        """Return the boxes of an actor's geoms, in the world."""
        bodies = self._bodies(name)
        with self._simulation.engine.lock:
            return boxes_of(self._model, self._simulation.world.data, bodies)

    def place(self, name: str, pose: Pose) -> bool:
        """
        Move an actor whose root is free or a mocap body; its velocity stays.

        :return: false when it cannot be moved while the world runs.
        """
        root = self._root(name)
        if root < 0:
            return False
        wanted = pose.then(self._offset(name, root))
        quat = xyzw_to_wxyz(wanted.orientation)
        mocap, joint = int(self._model.body_mocapid[root]), int(self._model.body_jntadr[root])
        engine, data = self._simulation.engine, self._simulation.world.data
        free = joint >= 0 and self._model.jnt_type[joint] == _FREE
        if mocap < 0 and not free:
            return False
        with engine.lock:
            if free:
                start = self._model.jnt_qposadr[joint]
                data.qpos[start : start + 7] = (*wanted.position, *quat)
            else:
                data.mocap_pos[mocap], data.mocap_quat[mocap] = wanted.position, quat
            engine.forward()
            engine.state_changed()
        return True

    def _root(self, name: str) -> int:
        """Return the root body of an actor, -1 when the world was compiled without it."""
        world = self._simulation.world
        if name in world.articulations:
            first = world.articulations[name].first_body
            return -1 if first is None else first.id
        if name not in self._poses and name not in world.entities:
            return -1
        return int(mujoco.mj_name2id(self._model, mujoco.mjtObj.mjOBJ_BODY, name))

    def _offset(self, name: str, root: int) -> Pose:
        """Return the root body's pose in the actor's frame, in the reference configuration."""
        if name not in self._poses:
            return Pose()
        model = self._model
        body = pose_of(model.body_pos[root], model.body_quat[root])
        return self._poses[name].inverse().then(body)

    def _bodies(self, name: str) -> list[int]:
        """Return the bodies of an actor; a robot's file may have several trees of them."""
        robot = self._simulation.world.articulations.get(name)
        if robot is not None:
            return [body.id for body in robot.bodies.values()]
        root = self._root(name)
        if root < 0:
            return []
        below = self._model.body_rootid == self._model.body_rootid[root]
        return np.flatnonzero(below).tolist()


CAMERA = 'viewport'  # name of the free camera of a played world
OFF, COMPILING, FAILED, READY = 'off', 'compiling', 'compile_failed', 'ready'
TIMEOUT = 'timeout'
_LOG = logging.getLogger(__name__)


@dataclass(slots=True)
class _Attempt:
    """One compilation; `poses` are those of the actors in what is compiled."""

    make: Callable[[], WorldSpec]
    name: str
    poses: Mapping[str, Pose]
    promote: bool
    done: threading.Event


class LevelPlayer:
    """
    Starts and stops the world of the open level; thread-safe.

    :ivar poses: the actors' poses when the running world was compiled; empty without one.
    """

    def __init__(self, host: SimulationHost, files: ModelFiles = OPERATOR) -> None:
        self._host, self._files = host, files
        self._lock = threading.Lock()
        self._attempt: _Attempt | None = None
        self._error = ''
        self._closed = False
        self.poses: Mapping[str, Pose] = {}

    @property
    def state(self) -> str:
        """Return off, compiling, compile_failed or ready."""
        if self._host.simulation is not None:
            return READY
        if self._attempt is not None:
            return COMPILING
        return FAILED if self._error else OFF

    @property
    def error(self) -> str:
        """Return why the last compilation failed, '' if it did not."""
        return self._error

    def begin(
        self,
        make: Callable[[], WorldSpec],
        name: str,
        poses: Mapping[str, Pose],
        timeout: float,
        promote: bool = False,
    ) -> str:
        """
        Compile and run; a running world continues, and a running compilation is awaited.

        :param make: returns the world's description; its exceptions become the compile error.
        :param timeout: seconds to wait.
        :param promote: begin in direct mode, as a plain hello has it, unless a mode is pinned.
        :return: ready, compile_failed or timeout; off when it was stopped in between.
        :raises OpError: shutting_down when the server stops.
        """
        with self._lock:
            self._check_open()
            if self._host.simulation is not None:
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
        """End play or the compilation, if there is one."""
        with self._lock:
            attempt, self._attempt = self._attempt, None
            self._error = ''
            self.poses = {}
            self._host.close()
        if attempt is not None:
            attempt.done.set()

    def close(self) -> None:
        """Stop permanently; requests that wait for a compilation answer shutting_down."""
        self._closed = True
        self.stop()

    def _run(self, attempt: _Attempt) -> None:
        try:
            self._compile(attempt)
        finally:
            attempt.done.set()

    def _compile(self, attempt: _Attempt) -> None:
        try:
            spec = replace(attempt.make(), free_camera=CAMERA)
            files = CountedFiles(self._files, len(spec.objects))
            world = World(attempt.name, spec, *assemble(spec, files))
            simulation = build_simulation(self._host.config, self._host.data, world)
            if self._host.revision:  # the operator chose the first world
                check_world(self._host.client_models, simulation)
        except UrlabError as error:
            self._fail(attempt, str(error))
            return
        except Exception as error:
            _LOG.exception('compiling the level failed')
            self._fail(attempt, f'{type(error).__name__}: {error}')
            return
        if attempt.promote:
            # Before time starts, so that the first step of a policy is the first of all.
            simulation.engine.run.promote_to_direct()
        with self._lock:
            if self._attempt is not attempt:
                return
            try:
                self._host.open(simulation)
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
