# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The editor: the open level, play, drawings and the viewport.

Ops of the editor run one at a time under `lock`, except those that wait for a compilation.
Drawings and the viewport may be read from any thread that does not hold the engine's lock.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
import threading
import weakref

import numpy as np

from urlab_ros_bridge.editor.blueprints import BlueprintLibrary
from urlab_ros_bridge.editor.drawings import Drawings
from urlab_ros_bridge.editor.geometry import GeometryCache
from urlab_ros_bridge.editor.level import Level
from urlab_ros_bridge.editor.level import LevelActor
from urlab_ros_bridge.editor.model_files import ClientModelFiles
from urlab_ros_bridge.editor.play import LevelPlayer
from urlab_ros_bridge.editor.play import RunningWorld
from urlab_ros_bridge.editor.viewport import Viewport
from urlab_ros_bridge.editor.viewport import ViewportCamera
from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.errors import WorldError
from urlab_ros_bridge.sim.simulation import Simulation
from urlab_ros_bridge.sim.simulation import SimulationHost

SCENE_BODY = 'scene'  # kind of a body of the scene file: it moves in play and cannot be edited
START_SECONDS = 600.0  # how long the start of a server waits for its own world


class LevelEditor:
    """
    The state of the editor, which outlives worlds.

    :ivar manager: whether a client has requested a manager in this level; play needs none.
    :ivar model_files: reads the files that levels are made of.
    :ivar selected: name of the selected actor, '' for none.

    """

    def __init__(self, host: SimulationHost) -> None:
        self.lock = threading.RLock()
        self.host = host
        # The simulation owns it: an editor between two worlds must not keep the last one.
        self._camera: Callable[[], ViewportCamera | None] = lambda: None
        self.data = host.data
        self.model_files = ClientModelFiles(host.client_models, lambda: host.draining)
        self.library = BlueprintLibrary(host.data, self.model_files)
        self.geometry = GeometryCache(self.model_files)
        self.play = LevelPlayer(host, self.model_files)
        self.drawings = Drawings()
        self.viewport = Viewport(self._tracked_pose)

        self.selected = ''
        self.manager = False
        self._level = Level()

    @property
    def level(self) -> Level:
        """Return the open level."""
        return self._level

    @level.setter
    def level(self, level: Level) -> None:
        self._level = level
        if self.selected and self.selected not in {actor.name for actor in level.actors}:
            self.selected = ''

    def open(self, level: Level) -> None:
        """Open another level: play ends, and drawings are removed."""
        self.play.stop()
        self.viewport.untrack()
        self.drawings.clear()
        self.level = level
        self.selected = ''
        self.manager = level.path is not None or bool(level.actors)
        for actor in level.actors:
            if actor.kind != 'light':
                self.library.adopt(actor.kind, actor.settings)

    def open_and_play(self, path: Path) -> None:
        """
        Open a level and run it, as a server does at its start.

        :raises UrlabError: why it cannot be opened or does not compile.
        """
        level = Level.open(path)
        self.model_files.trust(level.files())
        level.model_files = self.model_files
        self.open(level)
        state = self.begin(START_SECONDS)
        if self.running() is None:
            raise WorldError(self.play.error or f'{path}: {state}')

    def begin(self, timeout: float, promote: bool = False) -> str:
        """Play the level as it is now; see `LevelPlayer.begin`."""
        with self.lock:
            level = self.level.copy()
        poses = {actor.name: actor.pose for actor in level.actors}
        return self.play.begin(level.spec, level.name, poses, timeout, promote)

    def close(self) -> None:
        """End play for good."""
        self.play.close()

    def running(self) -> RunningWorld | None:
        """Return the running world; None if there is none."""
        simulation = self.host.simulation
        return None if simulation is None else RunningWorld(simulation, self.play.poses)

    @property
    def in_pie(self) -> bool:
        """Return whether a world is running."""
        return self.host.simulation is not None

    def find(self, target: str, by_name: bool = False) -> LevelActor:
        """
        Return an actor by id, else by name; in play also a dynamic body of the scene file.

        :raises OpError: unknown_actor.
        """
        try:
            return self.level.find(target, by_name)
        except OpError:
            running = self.running()
            if running is None or target not in running.others(self._names()):
                raise
            return self._scene_body(target, running)

    def live_actors(self) -> list[LevelActor]:
        """Return the actors, at their poses in the running world if there is one."""
        running = self.running()
        if running is None:
            return list(self.level.actors)
        found = []
        for actor in self.level.actors:
            pose = running.pose(actor.name)
            if actor.kind == 'light' or pose is not None:
                found.append(actor if pose is None else replace(actor, pose=pose))
        names = running.others(self._names())
        return found + [self._scene_body(name, running) for name in names]

    def bounds(
        self, actor: LevelActor, live: bool = False, solid_only: bool = False
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """
        Return the corners of an actor's bounds in m; None if it has none.

        :param live: at its pose in the running world, if it is in it.
        :raises WorldError: when it does not compile.
        """
        running = self.running()
        if running is not None and (live or actor.kind == SCENE_BODY) and running.has(actor.name):
            return running.boxes(actor.name).bounds(solid_only=solid_only)
        if actor.kind == 'light':
            point = np.array(actor.pose.position)
            return point, point
        return self.geometry.of(actor).boxes.bounds(actor.pose, solid_only)

    def aim(self) -> None:
        """Update the camera of the running world after the viewport has changed."""
        camera = self._camera()
        if camera is not None:
            camera.aim()

    def open_camera(self, simulation: Simulation) -> ViewportCamera:
        """Make the viewport a camera of a world."""

        def pose_of(name: str) -> Pose | None:
            return RunningWorld(simulation, self.play.poses).pose_now(name) or self._resting_pose(
                name
            )

        camera = ViewportCamera(self.viewport, simulation, pose_of)
        self._camera = weakref.ref(camera)
        return camera

    def _names(self) -> set[str]:
        return {actor.name for actor in self.level.actors}

    @staticmethod
    def _scene_body(name: str, running: RunningWorld) -> LevelActor:
        return LevelActor(SCENE_BODY, name, '', running.pose(name) or Pose())

    def _tracked_pose(self, name: str) -> Pose | None:
        running = self.running()
        pose = running.pose(name) if running is not None else None
        return pose or self._resting_pose(name)

    def _resting_pose(self, name: str) -> Pose | None:
        return next((actor.pose for actor in self.level.actors if actor.name == name), None)
