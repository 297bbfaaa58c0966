# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The cameras of a running world: which are needed and due, and what the renderer is sent."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import json
import threading
import time
from typing import Any

from urlab_ros_bridge.sim.cameras import messages
from urlab_ros_bridge.sim.cameras.catalog import CameraItem
from urlab_ros_bridge.sim.cameras.catalog import read_catalog
from urlab_ros_bridge.sim.cameras.connection import RendererConnection
from urlab_ros_bridge.sim.cameras.demand import Demand
from urlab_ros_bridge.sim.cameras.demand import Reason
from urlab_ros_bridge.sim.cameras.free_camera import FreeCameraView
from urlab_ros_bridge.sim.cameras.jobs import Capture
from urlab_ros_bridge.sim.cameras.jobs import JobMemory
from urlab_ros_bridge.sim.cameras.schedule import Delayed
from urlab_ros_bridge.sim.cameras.schedule import DelayLine
from urlab_ros_bridge.sim.cameras.schedule import Schedule
from urlab_ros_bridge.sim.cameras.visual_state import pack_arrays
from urlab_ros_bridge.sim.cameras.visual_state import VisualState
from urlab_ros_bridge.sim.physics.engine import Engine
from urlab_ros_bridge.transport.shm.region import Region

FROZEN_SECONDS = 0.05  # s of wall time without a step until time counts as frozen
_NEVER, _ALWAYS = 2**62, -(2**62)


class CameraRig:
    """
    Decides at every tick which cameras take an image; cheap while none does.

    Methods need the engine's lock if their docstring says so; others are for any thread.

    :ivar items: the catalog.
    :ivar endpoints: address of each camera's stream, '' while there is none.
    :ivar off: why there are no images, '' when there are.
    :ivar overlays: what `set_overlays` was given last.
    :ivar outdated: kinds of messages that a starting renderer must still be sent, because their
        content has changed since it was started.
    :ivar regions: shared memory that frames of these cameras are also written to; set them before
        the renderer starts.
    :ivar renderer: the running renderer, None while there is none.
    :ivar start_renderer: starts it and does not wait; None while there cannot be one.
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
        self.outdated: set[bytes] = set()
        self.state = VisualState(world.model, world.data, self.items)
        self.free_view: Callable[[], FreeCameraView] | None = None
        self.start_renderer: Callable[[], None] | None = None
        self.renderer: RendererConnection | None = None
        self.regions: dict[int, Region] = {}
        # Guards what a renderer is told; notified when `renderer` or `off` changes.
        self._changed = threading.Condition()
        self._schedules = [Schedule(item) for item in self.items]
        self._demand = Demand()
        self._newcomers: set[int] = set()
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
        return len(self._demand.cameras()) if self.renderer else 0

    @property
    def has_readers(self) -> bool:
        """Return whether regions of shared memory are open: their readers only wait for images."""
        return bool(self._demand.of(Reason.SHM))

    def attach(self, renderer: RendererConnection | None) -> None:
        """Use a renderer that has just started, or none any more."""
        self._demand.put(Reason.ZMQ, ())
        with self._changed:
            if renderer is not None:
                renderer.memory.control[JobMemory.TIMELINE] = self._timeline
                renderer.tell_readers(self._demand.of(Reason.SHM))
                for kind in self.outdated:
                    self._tell(renderer, kind)
            self.renderer = renderer
            self._changed.notify_all()
        self._replan()

    def turn_off(self, reason: str) -> None:
        """Turn cameras off permanently."""
        self.endpoints = [''] * len(self.items)
        with self._changed:
            self.off = reason
            self._changed.notify_all()

    def wait_for_renderer(self, timeout: float) -> RendererConnection | None:
        """Start the renderer if there is none and return it; None if that takes too long (s)."""
        with self._changed:
            if self.renderer is None and self.start_renderer is not None and not self.off:
                self.start_renderer()
                self._changed.wait_for(lambda: self.renderer is not None or self.off, timeout)
            return self.renderer

    def demand(
        self,
        reason: Reason,
        cameras: Iterable[int],
        *,
        new: Iterable[int] = (),
        at_once: Collection[int] = (),
    ) -> None:
        """
        Render these cameras at their rates for this reason; start the renderer if there is none.

        Those that it did not have before are due immediately.  Needs the lock for `REQUEST`, whose
        cameras are added to the ones before and expire (`demand.py`).

        :param new: cameras with a viewer who must get an image even if nothing changes.
        :param at_once: of these, the present state is rendered too, unless the renderer is busy or
            the camera has a latency; does not wait.
        """
        demanded = frozenset(cameras)
        begun, is_request = demanded - self._demand.of(reason), reason is Reason.REQUEST
        if is_request:
            self._note_time(self.engine.clock.stamp_ns)
        for camera in begun - self._demand.cameras() if is_request else begun:
            self._schedules[camera].restart()
        with self._changed:
            self._demand.put(reason, demanded)
            renderer = self.renderer
            if renderer is not None and reason is Reason.SHM:
                renderer.tell_readers(demanded)
        self._newcomers |= begun.union(new)
        self._replan()
        if renderer is None:
            if demanded and self.start_renderer is not None and not self.off:
                self.start_renderer()
        elif is_request:
            for camera in begun:
                renderer.latest.pop(camera, None)  # of an earlier request
            self._capture_at_once(renderer, at_once)

    def ready(self, cameras: Iterable[int]) -> set[int]:
        """Return those of these cameras whose newest returned frame is of this timeline."""
        latest = self.renderer.latest if self.renderer is not None else {}
        return {
            camera
            for camera in cameras
            if (frame := latest.get(camera)) is not None
            and frame.capture.timeline == self._timeline
        }

    def switch_streams(self, camera: int, **switches: bool) -> dict[str, bool]:
        """
        Switch the streams of a camera on or off, and return which are on.  Needs the lock.

        :param switches: ``zmq`` and ``shm``; absent ones stay.
        """
        for transport, on in switches.items():
            self._demand.switch(Reason(transport), camera, on)
        self._schedules[camera].restart()
        self._replan()
        is_on = self._demand.is_on
        return {
            'zmq': bool(self.endpoints[camera]) and is_on(Reason.ZMQ, camera),
            'shm': camera in self.regions and is_on(Reason.SHM, camera),
        }

    def set_delay(self, camera: int, delay: float, jitter: float, seed: int) -> None:
        """Set how much later than captured a camera delivers (s).  Needs the lock."""
        self._delayed.drop({camera})
        self._schedules[camera].set_delay(delay, jitter, seed)
        self._replan()

    def publish(self, rows: bool) -> None:
        """Capture the images that are due; see `EngineHooks.publish`."""
        renderer, engine = self.renderer, self.engine
        if renderer is None or not self._demand:
            if engine.clock.epoch != self._epoch:
                self._note_time(engine.clock.stamp_ns)  # images may still be on their way
            return
        now_ns = engine.clock.stamp_ns
        if self._previous_ns < now_ns < self._next_ns and engine.clock.epoch == self._epoch:
            self._previous_ns, self._moved = now_ns, time.monotonic()
            return
        self._note_time(now_ns)
        self._demand.drop_expired()
        demanded = self._demand.cameras()
        due = {camera for camera in demanded if self._schedules[camera].due(now_ns)}
        if now_ns == self._previous_ns:
            self._capture_still(renderer, demanded, due, now_ns)
        else:
            self._moved = time.monotonic()
            self._capture_due(renderer, due, now_ns)
        self._deliver(renderer, now_ns)
        self._previous_ns = now_ns
        self._plan(demanded)

    def capture(self) -> tuple[bytes, Capture]:
        """Return the present state, for a later `RendererConnection.post`.  Needs the lock."""
        now_ns = self.engine.clock.stamp_ns
        self._note_time(now_ns)
        return self._take_state(), self._capture(now_ns)

    def delays(self, camera: int) -> bool:
        """Return whether a camera delivers later than it captures."""
        return self._schedules[camera].delayed

    def model_changed(self) -> None:
        """
        Show changed colours, lights, sizes or lenses from the next frame on.  Needs the lock.

        For what `visual_state.VISUAL_ARRAYS` lists, not for meshes or textures.
        """
        self._look_changed(messages.ARRAYS)

    def set_overlays(self, overlays: Sequence[Mapping[str, Any]]) -> None:
        """Draw these geoms too in `real` images, see `drawing.add_overlays`; [] = none."""
        self.overlays = list(overlays)
        self._look_changed(messages.OVERLAYS)

    def _look_changed(self, kind: bytes) -> None:
        with self._changed:
            if self.renderer is None:
                self.outdated.add(kind)
                return
            self._tell(self.renderer, kind)
        self._still_state = b''
        self._replan()

    def _tell(self, renderer: RendererConnection, kind: bytes) -> None:
        if kind == messages.ARRAYS:
            renderer.tell(kind, pack_arrays(self.engine.world.model))
        else:
            renderer.tell(kind, json.dumps(self.overlays).encode())

    def _replan(self) -> None:
        """Check at the next state which cameras are due: the requested ones have changed."""
        self._next_ns = _ALWAYS

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
        if self.renderer is not None:
            self.renderer.memory.control[JobMemory.TIMELINE] = self._timeline

    def _capture(self, now_ns: int) -> Capture:
        engine = self.engine
        return Capture(
            now_ns, engine.clock.steps, self._timeline, time.time(), engine.clock.frame_id
        )

    def _take_state(self) -> bytes:
        if self.free_view is not None and self.state.free is not None:
            self.state.free.aim(self.free_view())
        return self.state.take()

    def _capture_still(
        self, renderer: RendererConnection, demanded: set[int], due: set[int], now_ns: int
    ) -> None:
        """
        Capture while time is frozen: for new viewers, and for all if something was moved.

        Not between two steps: the next one captures an image at the camera's rate.
        """
        if renderer.busy or (
            not self.engine.run.paused and time.monotonic() - self._moved < FROZEN_SECONDS
        ):
            return
        state = self._take_state()
        cameras = due | (self._newcomers & demanded) if state == self._still_state else demanded
        if cameras:
            # There is no time for a latency to pass in.
            self._delayed.drop(cameras)
            self._post(renderer, state, cameras, now_ns)

    def _capture_at_once(self, renderer: RendererConnection, cameras: Iterable[int]) -> None:
        """Have the present state rendered, whatever the cameras' rates."""
        prompt = {camera for camera in cameras if not self.delays(camera)}
        if prompt and not renderer.busy:
            self._post(renderer, self._take_state(), prompt, self.engine.clock.stamp_ns)

    def _capture_due(self, renderer: RendererConnection, due: set[int], now_ns: int) -> None:
        late = {camera for camera in due if self._schedules[camera].delayed}
        state = self._take_state() if late else b''
        capture = self._capture(now_ns)
        for camera in late:
            schedule = self._schedules[camera]
            schedule.take(now_ns)
            release = schedule.release_ns(now_ns)
            self._delayed.add(Delayed(release, camera, capture, state))
        prompt = due - late
        if prompt and self._has_time(renderer):
            self._post(renderer, state or self._take_state(), prompt, now_ns)

    def _post(
        self, renderer: RendererConnection, state: bytes, cameras: set[int], now_ns: int
    ) -> None:
        returned = self._demand.of(Reason.REQUEST)
        if renderer.post(state, self._capture(now_ns), cameras, returned) is not None:
            self._still_state = state
            self._newcomers -= cameras
            for camera in cameras:
                self._schedules[camera].take(now_ns)

    def _deliver(self, renderer: RendererConnection, now_ns: int) -> None:
        """Render what was captured a camera's latency ago."""
        if self._delayed and self._has_time(renderer):
            returned = self._demand.of(Reason.REQUEST)
            for capture, items in self._delayed.due(now_ns).items():
                cameras = {item.camera for item in items}
                renderer.post(items[0].state, capture, cameras, returned)

    def _has_time(self, renderer: RendererConnection) -> bool:
        """Return whether the renderer should get the present state."""
        engine = self.engine
        if engine.run.mode != 'live' or engine.run.paused:
            # The time of the next tick is unknown, so one job may wait.
            return not renderer.busy
        period = engine.world.model.opt.timestep / engine.run.speed
        return renderer.has_time(time.monotonic(), period)

    def _plan(self, demanded: set[int]) -> None:
        """Work out until when nothing can be due."""
        times = [self._schedules[camera].next_ns() for camera in demanded]
        times += self._delayed.times()
        self._next_ns = min(times, default=_NEVER)
