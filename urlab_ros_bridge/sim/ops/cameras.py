# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""set_camera_streaming and set_camera_delay."""

from __future__ import annotations

from typing import Any

from urlab_ros_bridge.sim.cameras.catalog.catalog import CameraItem
from urlab_ros_bridge.sim.cameras.rig import CameraRig
from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.errors import unknown
from urlab_ros_bridge.sim.requests.fields import bad_value
from urlab_ros_bridge.sim.requests.fields import Fields
from urlab_ros_bridge.sim.requests.registry import Registry
from urlab_ros_bridge.sim.requests.sessions import ServerSession
from urlab_ros_bridge.sim.stage import Context

TRANSPORTS = ('zmq', 'shm')
MAX_DELAY = 60.0  # s
_CLOCK = 'sim'


def set_camera_streaming(
    context: Context, session: ServerSession, fields: Fields
) -> dict[str, Any]:
    """
    Switch the streams of cameras on or off; both are on at first and cost nothing without readers.

    A value is true, false, or {"zmq": bool, "shm": bool}, of which absent ones stay as they are.
    """
    rig = context.cameras
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


def set_camera_delay(context: Context, session: ServerSession, fields: Fields) -> dict[str, Any]:
    """
    Set how much later than captured a camera delivers, in simulated time.

    A value is a number of seconds, or a map with `delay_s`, `jitter_s` (half the range of a
    uniform distribution around it) and `seed`; what is absent becomes 0.  This server measures
    delays by the clock "sim" only, captures only when the state has changed, and takes the rate
    from the world.
    """
    rig, wanted = context.cameras, {}
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
    registry.register('set_camera_streaming', set_camera_streaming)
    registry.register('set_camera_delay', set_camera_delay)
