# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
set_camera_streaming, set_camera_delay, and `include_cameras`: frames in the replies of step.

`include_cameras` (Protocol Reference, "Camera observations"): `latest` returns the newest finished
frame and keeps the camera rendering for a while; only the first such request has to wait for a
frame.  `sync` returns a frame of exactly the state that the reply reports.  A number N, the
`frame_id` of an earlier reply, returns a frame of that state or a later one, and never waits: what
is not rendered yet is left out.  All work in every mode.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
import time
from typing import Any

from urlab_ros_bridge.sim.cameras.catalog import CameraItem
from urlab_ros_bridge.sim.cameras.demand import Reason
from urlab_ros_bridge.sim.cameras.jobs import Capture
from urlab_ros_bridge.sim.cameras.jobs import Frame
from urlab_ros_bridge.sim.cameras.rig import CameraRig
from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.errors import unknown
from urlab_ros_bridge.sim.requests.fields import bad_value
from urlab_ros_bridge.sim.requests.fields import Fields
from urlab_ros_bridge.sim.requests.registry import Registry
from urlab_ros_bridge.sim.requests.registry import ReplyFields
from urlab_ros_bridge.sim.requests.sessions import ServerSession
from urlab_ros_bridge.sim.simulation import Simulation
from urlab_ros_bridge.wire.stamp import NANOSECONDS

TRANSPORTS = ('zmq', 'shm')
MAX_DELAY = 60.0  # s
_CLOCK = 'sim'


def set_camera_streaming(
    simulation: Simulation, session: ServerSession, fields: Fields
) -> ReplyFields:
    """
    Switch the streams of cameras on or off; both are on at first and cost nothing without readers.

    A value is true, false, or {"zmq": bool, "shm": bool}, of which absent ones stay as they are.
    """
    rig = simulation.cameras
    wanted = {}
    for name, given in fields.mapping('cameras').items():
        item = find_camera(rig, name)
        if isinstance(given, bool):
            given = dict.fromkeys(TRANSPORTS, given)
        if not isinstance(given, dict) or not given.keys() <= {*TRANSPORTS}:
            raise bad_value(f'cameras.{name}', given, 'true, false or {"zmq": bool, "shm": bool}')
        part = Fields(given, f'cameras.{name}.')
        wanted[name] = item, {key: part.boolean(key) for key in given}
    if rig.off and any(any(switches.values()) for _, switches in wanted.values()):
        raise OpError('not_ready', rig.off)
    reply = {}
    for name, (item, switches) in wanted.items():
        on = rig.switch_streams(item.index, **switches)
        reply[name] = {
            'streaming': on['zmq'] or on['shm'],
            **on,
            'zmq_endpoint': rig.endpoints[item.index] if on['zmq'] else '',
            'zmq_topic': item.topics[False].decode().rstrip(' ') if on['zmq'] else '',
        }
    return {'cameras': reply}


def set_camera_delay(
    simulation: Simulation, session: ServerSession, fields: Fields
) -> ReplyFields:
    """
    Set how much later than captured a camera delivers, in simulated time.

    A value is a number of seconds, or a map with `delay_s`, `jitter_s` (half the range of a
    uniform distribution around it) and `seed`; what is absent becomes 0.  This server measures
    delays by the clock "sim" only, captures only when the state has changed, and takes the rate
    from the world.
    """
    rig, wanted = simulation.cameras, {}
    for name, given in fields.mapping('cameras').items():
        item = find_camera(rig, name)
        block = given if isinstance(given, dict) else {'delay_s': given}
        part = Fields(block, f'cameras.{name}.')
        delay = part.number('delay_s', 0.0, low=0.0, high=MAX_DELAY)
        jitter = part.number('jitter_s', 0.0, low=0.0, high=MAX_DELAY)
        seed = part.integer('seed', 0)
        part.choice('clock', (_CLOCK,), _CLOCK)
        if not part.boolean('on_state_change', True):
            raise bad_value(f'cameras.{name}.on_state_change', False, 'true')
        if part.number('max_fps', 0.0):
            raise bad_value(f'cameras.{name}.max_fps', block['max_fps'], '0')
        wanted[name] = item, delay, jitter, seed
    for item, delay, jitter, seed in wanted.values():
        rig.set_delay(item.index, delay, jitter, seed)
    return {
        'cameras': {
            name: {
                'delay_s': delay,
                'jitter_s': jitter,
                'clock': _CLOCK,
                'on_state_change': True,
                'max_fps': 0.0,
            }
            for name, (_, delay, jitter, _) in wanted.items()
        }
    }


def find_camera(rig: CameraRig, key: Any) -> CameraItem:
    """
    Return a camera by its key of the handshake, or by prefix/name.

    :raises OpError: bad_value, which lists the cameras.
    """
    for item in rig.items:
        if key in (item.key, f'{item.prefix}/{item.name}'):
            return item
    raise unknown('bad_value', 'camera', key, (item.key for item in rig.items))


def register(registry: Registry) -> None:
    """Add the ops of this module."""
    registry.register(set_camera_streaming, set_camera_delay)


# Below the 5 s that stock clients wait for any reply; the first frame waits for the renderer.
FRAME_SECONDS = 4.0
_RETRY = 0.002
LATEST, SYNC = 'latest', 'sync'
MAX_FRAME_ID = 2**53  # of which all are floats too


class CameraRequest:
    """
    The checked `include_cameras` of one request.

    :ivar modes: key in the reply -> (camera, ``latest``, ``sync``, or the lowest frame_id).
    """

    def __init__(self, rig: CameraRig, modes: Mapping[str, tuple[CameraItem, str | int]]) -> None:
        self._rig = rig
        self.modes = modes

    def complete(self, reply: dict[str, Any]) -> Callable[[], dict[str, Any]]:
        """
        Capture the state that `reply` reports.  Needs the lock.

        :return: what waits for the images and returns the reply with them, without the lock.
        """
        rig = self._rig
        latest = {item.index for item, mode in self.modes.values() if mode == LATEST}
        exact = {item.index for item, mode in self.modes.values() if mode == SYNC}
        numbered = {item.index for item, mode in self.modes.values() if type(mode) is int}
        rig.demand(Reason.REQUEST, latest | numbered, at_once=numbered - exact)
        ready = rig.ready(latest | numbered)
        # A delayed camera has nothing to show before its latency has passed.
        first = {index for index in latest - ready if not rig.delays(index)}
        state, capture = rig.capture()
        return lambda: self._finish(reply, state, capture, exact | first, ready)

    def _finish(
        self,
        reply: dict[str, Any],
        state: bytes,
        capture: Capture,
        asked: set[int],
        ready: set[int],
    ) -> dict[str, Any]:
        frames = self._render(state, capture, sorted(asked))
        renderer = self._rig.renderer
        if renderer is not None:
            latest = renderer.latest
            frames.update((index, latest[index]) for index in ready - asked if index in latest)
        # The reply counts the steps of a session, captures those of the world.
        before = capture.step - int(reply['step'])
        blocks = {
            key: frame_block(item, frame, before)
            for key, (item, mode) in self.modes.items()
            if (frame := frames.get(item.index)) is not None
            and (type(mode) is not int or frame.capture.state_id >= mode)
        }
        return {**reply, 'cameras': blocks} if blocks else reply

    def _render(self, state: bytes, capture: Capture, cameras: list[int]) -> dict[int, Frame]:
        deadline = time.monotonic() + FRAME_SECONDS
        renderer = self._rig.wait_for_renderer(FRAME_SECONDS) if cameras else None
        if renderer is None:
            return {}
        future = renderer.post(state, capture, cameras, cameras, streamed=False)
        while future is None and self._rig.renderer is renderer and time.monotonic() < deadline:
            time.sleep(_RETRY)
            future = renderer.post(state, capture, cameras, cameras, streamed=False)
        if future is None:
            return {}
        try:
            return dict(future.result(max(deadline - time.monotonic(), 0.0)))
        except TimeoutError:
            return {}


def frame_block(item: CameraItem, frame: Frame, before: int) -> dict[str, Any]:
    """
    Return one entry of `cameras`; `step` is an extension.

    :param before: steps of the world that the reply's `step` does not count.
    """
    return {
        'width': item.width,
        'height': item.height,
        'dtype': item.dtype,
        'data': frame.pixels,
        'frame_id': frame.capture.state_id,
        'sim_time': frame.capture.stamp_ns / NANOSECONDS,
        'step': frame.capture.step - before,
    }


def requested_cameras(simulation: Simulation, fields: Fields) -> CameraRequest | None:
    """
    Read `include_cameras`: true, "latest", "sync", or {camera: how}.

    How is "latest", "sync", a `frame_id`, {"frame_id": number}, true or false.

    :return: None when no frames are wanted, or none can be had.
    :raises OpError: bad_value for any other value or an unknown camera; not_ready when a
        `sync` frame is asked for and cameras are off.
    """
    wanted = fields.given('include_cameras')
    if not wanted:
        return None
    rig = simulation.cameras
    modes = _modes(rig, wanted)
    if rig.off:
        if any(mode == SYNC for _, mode in modes.values()):
            raise OpError('not_ready', rig.off)
        return None
    return CameraRequest(rig, modes) if modes else None


def _modes(rig: CameraRig, wanted: Any) -> dict[str, tuple[CameraItem, str | int]]:
    if wanted is True or wanted in (LATEST, SYNC):
        mode = SYNC if wanted == SYNC else LATEST
        # Stock servers have no free camera: it is sent only if it is requested by name.
        return {item.key: (item, mode) for item in rig.items if not item.free}
    if not isinstance(wanted, dict):
        raise bad_value(
            'include_cameras', wanted, 'true, false, "latest", "sync" or {camera: mode}'
        )
    found: dict[str, tuple[CameraItem, str | int]] = {}
    for key, given in wanted.items():
        how = _mode(key, given)
        if how is not None:
            found[key] = (find_camera(rig, key), how)
    return found


def _mode(key: Any, given: Any) -> str | int | None:
    """Return how one camera is asked for, None when it is not."""
    if given is None or given is False:
        return None
    if given is True or given in (LATEST, SYNC):
        return SYNC if given == SYNC else LATEST
    number = given['frame_id'] if type(given) is dict and given.keys() == {'frame_id'} else given
    if type(number) not in (int, float) or not 0 <= number <= MAX_FRAME_ID or number % 1:
        raise bad_value(
            f'include_cameras.{key}',
            given,
            '"latest", "sync", a frame_id (0 or more), {"frame_id": number}, true or false',
        )
    return int(number)
