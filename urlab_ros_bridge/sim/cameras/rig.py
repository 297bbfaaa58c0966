# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The cameras of a running world: which are watched and due, and what the renderer gets."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import json
import time
from typing import Any
from typing import Protocol

from urlab_ros_bridge.sim.cameras import connection as link
from urlab_ros_bridge.sim.cameras.catalog import CameraItem
from urlab_ros_bridge.sim.cameras.catalog import read_catalog
from urlab_ros_bridge.sim.cameras.connection import RendererConnection
from urlab_ros_bridge.sim.cameras.free_camera import FreeCameraView
from urlab_ros_bridge.sim.cameras.schedule import Delayed
from urlab_ros_bridge.sim.cameras.schedule import DelayLine
from urlab_ros_bridge.sim.cameras.schedule import Schedule
from urlab_ros_bridge.sim.cameras.visual_state import pack_arrays
from urlab_ros_bridge.sim.cameras.visual_state import VisualState
from urlab_ros_bridge.sim.physics.engine import Engine
from urlab_ros_bridge.transport.shm.region import Region

KEEP_RENDERING_SECONDS = (
    2.0  # s of wall time that a camera keeps rendering after a `latest` request
)
FROZEN_SECONDS = 0.05  # s of wall time without a step until time counts as frozen
_NEVER, _ALWAYS = 2**62, -(2**62)


class RendererStarter(Protocol):
    """The service that starts the renderer process."""

    def start_soon(self) -> None:
        """Start it; does not wait."""

    def wait(self, timeout: float) -> RendererConnection | None:
        """Start it if need be; None when it is not ready in time."""


class CameraRig:
    """
    Decides at every tick which cameras take an image; cheap while none does.

    Methods need the engine's lock if their docstring says so; others are for any thread.

    :ivar items: the catalog.
    :ivar endpoints: address of each camera's stream, '' while there is none.
    :ivar off: why there are no images, '' when there are.
    :ivar overlays: what `set_overlays` was given last.
    :ivar regions: shared memory that frames of these cameras go to besides; set them before the
        renderer starts.
    :ivar readers: the cameras whose regions have readers.
    :ivar renderer: starts the renderer process; None while there cannot be one.
    :ivar port: the running renderer, None while there is none.
    :ivar free_view: returns the pose of the free camera for each captured state, called with the
        lock held; None leaves it.
    """

    def __init__(self, engine: Engine) -> None:
        world = engine.world
        self.engine = engine
        self.items: tuple[CameraItem, ...] = read_catalog(world.model, world.spec)
        self.prefixes = list(world.articulations)
        self.endpoints = [''] * len(self.items)
        self.off = 'cameras are off'
        self.overlays: Sequence[Mapping[str, Any]] = ()
        self.state = VisualState(world.model, world.data, self.items)
        self.free_view: Callable[[], FreeCameraView] | None = None
        self.renderer: RendererStarter | None = None
        self.port: RendererConnection | None = None
        self.regions: dict[int, Region] = {}
        self._schedules = [Schedule(item) for item in self.items]
        self._subscribed: frozenset[int] = frozenset()
        self.readers: frozenset[int] = frozenset()
        self._newcomers: set[int] = set()
        self._requested: dict[int, float] = {}
        self._switched_off: dict[str, set[int]] = {'zmq': set(), 'shm': set()}
        self._delayed = DelayLine()
        self._timeline = 0
        self._epoch = engine.clock.epoch
        self._previous_ns = _ALWAYS
        self._next_ns = _ALWAYS
        self._moved = 0.0
        self._still_state = b''

    @property
    def watched(self) -> int:
        """Return how many cameras are being rendered."""
        return len(self._wanted()) if self.port else 0

    def attach(self, port: RendererConnection | None) -> None:
        """Use a renderer that has just started, or none any more."""
        if port is not None:
            port.memory.control[link.JobMemory.TIMELINE] = self._timeline
            port.tell_readers(self.readers)
        self._subscribed = frozenset()
        self.port = port
        self._replan()

    def turn_off(self, reason: str) -> None:
        """Turn cameras off permanently."""
        self.off = reason
        self.endpoints = [''] * len(self.items)

    def subscribe(self, cameras: Iterable[int], new: Iterable[int] = ()) -> None:
        """
        Note which cameras are subscribed now.

        :param new: those with a new subscriber.
        """
        now = frozenset(cameras)
        for camera in now - self._subscribed:
            self._schedules[camera].restart()
        self._newcomers |= set(new)
        self._subscribed = now
        self._replan()

    def read_regions(self, cameras: Iterable[int]) -> None:
        """Set the cameras whose shared-memory regions are open; start the renderer."""
        now = frozenset(cameras)
        for camera in now - self.readers:
            self._schedules[camera].restart()
        self.readers = now
        self._replan()
        if self.port is not None:
            self.port.tell_readers(now)
        elif now and self.renderer is not None:
            self.renderer.start_soon()

    def switch_streams(self, camera: int, **switches: bool) -> dict[str, bool]:
        """
        Switch the streams of a camera on or off, and return which are on.  Needs the lock.

        :param switches: ``zmq`` and ``shm``; absent ones stay.
        """
        for transport, on in switches.items():
            cameras = self._switched_off[transport]
            if on:
                cameras.discard(camera)
            else:
                cameras.add(camera)
        self._schedules[camera].restart()
        self._replan()
        off = self._switched_off
        return {
            'zmq': bool(self.endpoints[camera]) and camera not in off['zmq'],
            'shm': camera in self.regions and camera not in off['shm'],
        }

    def set_delay(self, camera: int, delay: float, jitter: float, seed: int) -> None:
        """Set how much later than captured a camera delivers (s).  Needs the lock."""
        self._delayed.drop({camera})
        self._schedules[camera].set_delay(delay, jitter, seed)
        self._replan()

    def publish(self, rows: bool) -> None:
        """Capture the images that are due; see `EngineHooks.publish`."""
        port, engine = self.port, self.engine
        if port is None or not (self._subscribed or self.readers or self._requested):
            if engine.clock.epoch != self._epoch:
                self._note_time(engine.clock.stamp_ns)  # images may still be on their way
            return
        now_ns = engine.clock.stamp_ns
        if self._previous_ns < now_ns < self._next_ns and engine.clock.epoch == self._epoch:
            self._previous_ns, self._moved = now_ns, time.monotonic()
            return
        self._note_time(now_ns)
        wanted = self._wanted()
        due = {camera for camera in wanted if self._schedules[camera].due(now_ns)}
        if now_ns == self._previous_ns:
            self._capture_still(port, wanted, due, now_ns)
        else:
            self._moved = time.monotonic()
            self._capture_due(port, due, now_ns)
        self._deliver(port, now_ns)
        self._previous_ns = now_ns
        self._plan(wanted)

    def capture(self) -> tuple[bytes, link.Capture]:
        """Return the present state, for a later `RendererConnection.ask`.  Needs the lock."""
        now_ns = self.engine.clock.stamp_ns
        self._note_time(now_ns)
        return self._take_state(), self._capture(now_ns)

    def keep_rendering(self, cameras: Iterable[int]) -> set[int]:
        """
        Render these cameras at their rate for a while.  Needs the lock.

        :return: those that have a frame already, of this timeline and not from long ago.
        """
        self._note_time(self.engine.clock.stamp_ns)
        wanted, until, ready = self._wanted(), time.monotonic() + KEEP_RENDERING_SECONDS, set()
        for camera in cameras:
            if camera not in wanted:
                self._schedules[camera].restart()
            if camera not in self._requested and self.port is not None:
                self.port.latest.pop(camera, None)  # of an earlier pull
            elif self._is_current(camera):
                ready.add(camera)
            self._requested[camera] = until
        self._replan()
        return ready

    def capture_soon(self, cameras: Iterable[int]) -> None:
        """
        Queue the present state for rendering by these cameras, unless the renderer is busy.

        Needs the lock, and does not wait; cameras with a latency are left to their schedule.
        """
        prompt = {camera for camera in cameras if not self.delays(camera)}
        if self.port is None:
            if self.renderer is not None:
                self.renderer.start_soon()
        elif prompt and not self.port.busy:
            now_ns = self.engine.clock.stamp_ns
            self._note_time(now_ns)
            self._post(self.port, self._take_state(), prompt, now_ns)

    def _is_current(self, camera: int) -> bool:
        frame = self.port.latest.get(camera) if self.port else None
        return frame is not None and frame.capture.timeline == self._timeline

    def wait(self, timeout: float) -> RendererConnection | None:
        """Start the renderer if need be and return its port; None when it is not there in time."""
        port = self.port
        return port if port or not self.renderer else self.renderer.wait(timeout)

    def delays(self, camera: int) -> bool:
        """Return whether a camera delivers later than it captures."""
        return self._schedules[camera].delayed

    def model_changed(self) -> None:
        """
        Show changed colours, lights, sizes or lenses from the next frame on.  Needs the lock.

        For what `visual_state.VISUAL_ARRAYS` lists, not for meshes or textures.
        """
        if self.port is not None:
            self.port.tell(link.ARRAYS, pack_arrays(self.engine.world.model))
            self._redraw()

    def set_overlays(self, overlays: Sequence[Mapping[str, Any]]) -> None:
        """Draw these geoms too in `real` images, see `drawing.add_overlays`; [] = none."""
        self.overlays = list(overlays)
        if self.port is not None:
            self.port.tell(link.OVERLAYS, json.dumps(self.overlays).encode())
            self._redraw()

    def _replan(self) -> None:
        """Check at the next state which cameras are due: the requested ones have changed."""
        self._next_ns = _ALWAYS

    def _redraw(self) -> None:
        self._still_state = b''
        self._next_ns = _ALWAYS

    def _wanted(self) -> set[int]:
        pulled = self._requested
        if pulled:
            now = time.monotonic()
            self._requested = pulled = {cam: end for cam, end in pulled.items() if end > now}
        off = self._switched_off
        return {*self._subscribed - off['zmq'], *self.readers - off['shm'], *pulled}

    def _note_time(self, now_ns: int) -> None:
        """Begin a new timeline when time went back: frames of the old one must not be sent."""
        if self.engine.clock.epoch == self._epoch and now_ns >= self._previous_ns:
            return
        self._epoch = self.engine.clock.epoch
        self._previous_ns = _ALWAYS
        self._timeline += 1
        self._still_state = b''
        self._delayed.drop()
        for schedule in self._schedules:
            schedule.restart()
        if self.port is not None:
            self.port.memory.control[link.JobMemory.TIMELINE] = self._timeline

    def _capture(self, now_ns: int) -> link.Capture:
        engine = self.engine
        return link.Capture(
            now_ns, engine.clock.steps, self._timeline, time.time(), engine.clock.frame_id
        )

    def _take_state(self) -> bytes:
        if self.free_view is not None and self.state.free is not None:
            self.state.free.aim(self.free_view())
        return self.state.take()

    def _capture_still(
        self, port: RendererConnection, wanted: set[int], due: set[int], now_ns: int
    ) -> None:
        """
        Time is frozen: new subscribers get an image, and all do when something was moved.

        Not between two steps: then the next one brings the image, at the camera's rate.
        """
        if port.busy or (
            not self.engine.run.paused and time.monotonic() - self._moved < FROZEN_SECONDS
        ):
            return
        state = self._take_state()
        cameras = due | (self._newcomers & wanted) if state == self._still_state else wanted
        if cameras:
            # There is no time for a latency to pass in.
            self._delayed.drop(cameras)
            self._post(port, state, cameras, now_ns)

    def _capture_due(self, port: RendererConnection, due: set[int], now_ns: int) -> None:
        late = {camera for camera in due if self._schedules[camera].delayed}
        state = self._take_state() if late else b''
        capture = self._capture(now_ns)
        for camera in late:
            schedule = self._schedules[camera]
            schedule.take(now_ns)
            release = schedule.release_ns(now_ns)
            self._delayed.add(Delayed(release, camera, capture, state))
        prompt = due - late
        if prompt and self._has_time(port):
            self._post(port, state or self._take_state(), prompt, now_ns)

    def _post(
        self, port: RendererConnection, state: bytes, cameras: set[int], now_ns: int
    ) -> None:
        if self._send(port, state, self._capture(now_ns), cameras):
            self._still_state = state
            self._newcomers -= cameras
            for camera in cameras:
                self._schedules[camera].take(now_ns)

    def _deliver(self, port: RendererConnection, now_ns: int) -> None:
        """Render what was captured a camera's latency ago."""
        if self._delayed and self._has_time(port):
            for capture, items in self._delayed.due(now_ns).items():
                self._send(port, items[0].state, capture, {item.camera for item in items})

    def _send(
        self, port: RendererConnection, state: bytes, capture: link.Capture, cameras: set[int]
    ) -> bool:
        return port.post(state, capture, sorted(cameras), sorted(cameras & self._requested.keys()))

    def _has_time(self, port: RendererConnection) -> bool:
        """Return whether the renderer should get the present state."""
        engine = self.engine
        if engine.run.mode != 'live' or engine.run.paused:
            # The time of the next tick is unknown, so one job may wait.
            return not port.busy
        period = engine.world.model.opt.timestep / engine.run.speed
        return port.has_time(time.monotonic(), period)

    def _plan(self, wanted: set[int]) -> None:
        """Work out until when nothing can be due."""
        times = [self._schedules[camera].next_ns() for camera in wanted]
        times += self._delayed.times()
        self._next_ns = min(times, default=_NEVER)
