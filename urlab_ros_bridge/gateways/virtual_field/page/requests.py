# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The requests of a page to the simulation: a function for each, and their table.

Each takes the world and the fields of the request and returns the fields of the answer.  Errors of
the simulation are sent as the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from dataclasses import dataclass
from typing import Any

from urlab_ros_bridge.gateways.virtual_field.errors import BadMessage
from urlab_ros_bridge.gateways.virtual_field.page.page_world import PageWorld
from urlab_ros_bridge.gateways.virtual_field.page.spawning import spawnable
from urlab_ros_bridge.gateways.virtual_field.protocol.fields import IDENTITY
from urlab_ros_bridge.gateways.virtual_field.protocol.fields import PayloadFields
from urlab_ros_bridge.gateways.virtual_field.scene.axes import z_up
from urlab_ros_bridge.gateways.virtual_field.scene.axes import z_up_quaternion
from urlab_ros_bridge.wire.errors import UnknownName
from urlab_ros_bridge.wire.errors import UrlabError
from urlab_ros_bridge.wire.ops import SPEED_PERCENT

Answer = dict[str, Any]

# Extension of a server that can keep an existing file.
RECORDING_OVERWRITE = 'recording_overwrite'
# Extension of a server that lists and sends its saved recordings.
RECORDING_LIST = 'recording_list'
# A push or a drive that is not repeated ends after this much simulated time (s).
PUSH_SECONDS = 0.6
PUSH_NAME = 'page'
DRIVE_SECONDS = 0.5
MAX_STEPS = 10_000
_DEFAULT_STEPS = 10


@dataclass(frozen=True, slots=True)
class RequestKind:
    """
    One kind of request.

    :ivar long: whether it may take long, so that it runs in another thread.
    :ivar newest: whether a newer request replaces a waiting one, as for continuous input.
    :ivar moves: whether it moves something, and is refused under the e-stop.
    :ivar reads: whether it is read-only, and needs no control.
    """

    run: Callable[[PageWorld, PayloadFields], Answer]
    long: bool = False
    newest: bool = False
    moves: bool = False
    reads: bool = False


def _pause(world: PageWorld, fields: PayloadFields) -> Answer:
    return {'paused': world.link.commands.set_paused(fields.flag('paused', True))}


def _mode(world: PageWorld, fields: PayloadFields) -> Answer:
    return {'mode': world.link.commands.set_mode(fields.text('mode')).current}


def _speed(world: PageWorld, fields: PayloadFields) -> Answer:
    percent = fields.number('percent', None, *SPEED_PERCENT)
    return {'percent': world.link.commands.set_sim_speed(percent)}


def _step(world: PageWorld, fields: PayloadFields) -> Answer:
    """Step the world, in direct mode or in a paused live world."""
    count = int(fields.number('count', _DEFAULT_STEPS, 1, MAX_STEPS))
    seen = world.link.commands.step(
        count, while_paused=fields.flag('while_paused', False), observations='minimal'
    )
    return {'step': seen.step, 'time': seen.time, 'replay': seen.replay or None}


def _reset(world: PageWorld, fields: PayloadFields) -> Answer:
    seen = world.link.commands.reset(fields.text('keyframe', '') or None)
    return {'step': seen.step, 'time': seen.time}


def _record_start(world: PageWorld, fields: PayloadFields) -> Answer:
    return {'name': world.link.commands.recording_start(fields.text('name', '') or None)}


def _record_stop(world: PageWorld, fields: PayloadFields) -> Answer:
    stopped = world.link.commands.recording_stop()
    return {'frames': stopped.frame_count, 'seconds': stopped.duration}


def _record_save(world: PageWorld, fields: PayloadFields) -> Answer:
    link = world.link
    # A stock server overwrites existing files.
    overwrite = RECORDING_OVERWRITE not in link.handshake.extensions
    with link.separate_session() as client:
        path = client.recording_save(fields.text('name', '') or None, overwrite=overwrite)
    return {'path': path}


def _replay_list(world: PageWorld, fields: PayloadFields) -> Answer:
    """Return the loaded recordings, and those on the server's disk where it lists them."""
    link = world.link
    saved = None
    if RECORDING_LIST in link.handshake.extensions:
        saved = [asdict(each) for each in link.queries.recording_list()]
    return {'sessions': list(link.commands.replay_list_sessions()), 'saved': saved}


def _recording_read(world: PageWorld, fields: PayloadFields) -> Answer:
    """Return a piece of a saved recording."""
    offset = int(fields.number('offset', 0, 0, 2**53))
    text, size = world.link.queries.recording_read(fields.text('name'), offset)
    return {'text': text, 'bytes': size}


def _replay_load(world: PageWorld, fields: PayloadFields) -> Answer:
    with world.link.separate_session() as client:
        loaded = client.replay_load(fields.text('name'))
    return {'name': loaded.name, 'frames': loaded.total_frames}


def _replay_start(world: PageWorld, fields: PayloadFields) -> Answer:
    """Start a replay, which switches the world to direct mode."""
    commands = world.link.commands
    if 'session' in fields:
        commands.replay_set_active(fields.text('session'))
    world.link.use_mode('direct')
    started = commands.replay_start()
    return {'session': started.active_session, 'frames': started.total_frames}


def _replay_stop(world: PageWorld, fields: PayloadFields) -> Answer:
    world.link.commands.replay_stop()
    return {'mode': world.link.commands.set_mode(fields.text('mode', 'live')).current}


def _push(world: PageWorld, fields: PayloadFields) -> Answer:
    """
    Pull a point of a body, in its frame, to a target in the world, both y up.

    It ends unless it is repeated; without a target it ends at once.
    """
    number = int(fields.number('body', None, 1, len(world.scene.world.bodies) - 1))
    name = world.scene.world.bodies[number].compiled
    commands = world.link.commands
    if 'target' not in fields:
        commands.apply_wrench(name, name=PUSH_NAME)
        return {}
    point, target = (z_up(fields.vector(part, 3)) for part in ('point', 'target'))
    commands.pull_body(name, point, target, PUSH_SECONDS, name=PUSH_NAME)
    return {}


def _drive(world: PageWorld, fields: PayloadFields) -> Answer:
    """Drive a robot; the command ends unless it is repeated."""
    vx, vy, yaw = fields.vector('twist', 3)
    robots = world.scene.handshake.articulations
    name = fields.text('robot')
    if name not in robots:
        raise UnknownName('articulation', name, robots)
    world.link.set_twist(name, (vx, vy, yaw), DRIVE_SECONDS)
    return {}


def _navigate(world: PageWorld, fields: PayloadFields) -> Answer:
    """
    Announce a goal or an initial pose to the ROS bridge: a position, y up, and a yaw (rad).

    :raises BadMessage: while no bridge would publish it.
    """
    link = world.link
    if not link.queries.status().has_bridge:
        raise BadMessage('no ROS bridge is connected to this server')
    x, y, _ = z_up(fields.vector('position', 3))
    number = link.commands.set_navigation_target(
        fields.text('robot'), fields.text('kind'), x, y, fields.number('yaw')
    )
    return {'target': number}


def _steer(world: PageWorld, fields: PayloadFields) -> Answer:
    """
    Move a tip to a position, y up; `begin` fixes its reference orientation.

    A `turn` (x y z w) rotates it from there, about the world axes; `grip` closes (1) or opens (0)
    the gripper.
    """
    number = int(fields.number('tip', None, 0, 1e4))
    tip, seen = world.tip(number), world.scene.newest
    if seen is None:
        return {}
    if fields.flag('begin', False):
        tip.begin(seen.qpos)
    setpoints: dict[str, float] = {}
    if 'position' in fields:
        turn = z_up_quaternion(fields.quaternion('turn', IDENTITY))
        setpoints = tip.lead(seen.qpos, z_up(fields.vector('position', 3)), turn)
    if 'grip' in fields:
        setpoints |= tip.grip(fields.number('grip', None, 0.0, 1.0))
    if setpoints:
        world.link.commands.set_setpoints(tip.prefix, setpoints)
    return {}


def _setpoint(world: PageWorld, fields: PayloadFields) -> Answer:
    """Command one actuator; a command that `expires` ends unless it is repeated."""
    count = world.link.commands.set_setpoints(
        fields.text('robot'),
        {fields.text('actuator'): fields.number('value')},
        timeout=DRIVE_SECONDS if fields.flag('expires', False) else None,
    )
    return {'count': count}


def _spawn(world: PageWorld, fields: PayloadFields) -> Answer:
    """Spawn a bundled model at a position, y up; pages get a new description."""
    model = spawnable(fields.text('model'))
    x, y, z = z_up(fields.vector('position', 3))
    made = world.link.commands.spawn_entity(
        fields.text('model'),
        xml=model.xml,
        file=model.file,
        pos=(x, y, z + model.lift),
        allow_renaming=True,
    )
    return {'name': made.name}


def _delete(world: PageWorld, fields: PayloadFields) -> Answer:
    """Remove a robot or an object from the world."""
    world.link.commands.delete_entity(fields.text('entity'))
    return {}


REQUESTS: dict[str, RequestKind] = {
    'pause': RequestKind(_pause),
    'mode': RequestKind(_mode),
    'speed': RequestKind(_speed),
    'step': RequestKind(_step, long=True),
    'reset': RequestKind(_reset, long=True),
    'record_start': RequestKind(_record_start),
    'record_stop': RequestKind(_record_stop),
    'record_save': RequestKind(_record_save, long=True),
    'recording_read': RequestKind(_recording_read, long=True, reads=True),
    'replay_list': RequestKind(_replay_list, long=True, reads=True),
    'replay_load': RequestKind(_replay_load, long=True),
    'replay_start': RequestKind(_replay_start, long=True),
    'replay_stop': RequestKind(_replay_stop, long=True),
    'spawn': RequestKind(_spawn, long=True),
    'delete': RequestKind(_delete, long=True),
    'push': RequestKind(_push, newest=True, moves=True),
    'drive': RequestKind(_drive, newest=True, moves=True),
    'navigate': RequestKind(_navigate),
    'steer': RequestKind(_steer, newest=True, moves=True),
    'setpoint': RequestKind(_setpoint, newest=True, moves=True),
}


class UnknownRequest(UnknownName):
    """The op of a request is unknown."""

    def __init__(self, op: str) -> None:
        super().__init__('request', op, REQUESTS)


__all__ = ['REQUESTS', 'Answer', 'RequestKind', 'UnknownRequest', 'UrlabError']
