# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Methods of `Client` for the ops outside the main loop, one class per topic.

Commands that last, entities, domain randomisation, recording and replay.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from typing import NamedTuple

import numpy as np

from urlab_ros_bridge.client.replies.ops import RecordingStopped
from urlab_ros_bridge.client.replies.ops import ReplayLoaded
from urlab_ros_bridge.client.replies.ops import ReplayStarted
from urlab_ros_bridge.client.replies.ops import SavedRecording
from urlab_ros_bridge.client.replies.reader import read_field
from urlab_ros_bridge.client.replies.reader import read_reply
from urlab_ros_bridge.client.replies.reader import read_time
from urlab_ros_bridge.client.session import floats
from urlab_ros_bridge.client.session import Session
from urlab_ros_bridge.client.session import Vector
from urlab_ros_bridge.schema import key
from urlab_ros_bridge.schema import Place
from urlab_ros_bridge.schema.lenient import read_lenient

COMPILE_TIMEOUT = 30.0  # s; compiling meshes and constants of a large model takes a while
FILE_TIMEOUT = 600.0  # s; an hour at 500 Hz takes about a minute to write
WALL_TIMEOUT = 'wall_timeout'  # the extension
MIN_WALL_AGE = 0.3  # s; a shorter age would refuse commands because a machine is busy
_ZERO = (0.0, 0.0, 0.0)


class WallAge(NamedTuple):
    """
    Maximum age of a command by the wall clock: for motions that need a live sender.

    :ivar timeout: s of wall time.  The server drops the command if simulated time is frozen for
        longer than this after the command arrived.
    :ivar seen: `wall_ns` of the last tick received.  The server refuses the command
        (`StaleCommand`) if that is older than `timeout`, because the request waited in a queue;
        None: no check.
    """

    timeout: float
    seen: int | None = None


def wall_fields(wall: WallAge | None) -> dict[str, float | int | None]:
    """Return the fields of a request."""
    if wall is None:
        return {}
    seen = None if wall.seen is None else int(wall.seen)
    return {'wall_timeout': float(wall.timeout), 'wall_seen': seen}


class CommandingOps(Session):
    """Commands that act for a while, claims, and the streams and delays of cameras."""

    def apply_wrench(
        self,
        body: str,
        force: Vector = _ZERO,
        torque: Vector = _ZERO,
        duration: float = 0.0,
        *,
        articulation: str | None = None,
        frame: str = 'world',
        name: str = '',
        wall: WallAge | None = None,
    ) -> tuple[str, float]:
        """
        Push a body at its centre of mass; return its compiled name and the end time (s).

        :param body: local name in `articulation`, or the compiled name.
        :param force: N, shape (3,); `torque` N m.
        :param duration: simulated seconds, at least one step.
        :param frame: ``world`` or ``body``.
        :param name: replaces the wrench of this name on the body; unnamed wrenches add up.
        :param wall: maximum age by the wall clock (extension ``wall_timeout``); None: any age.
        """
        self.require('apply_wrench', wall_timeout=wall is not None)
        reply = self.request(
            'apply_wrench',
            body=body,
            force=floats(force),
            torque=floats(torque),
            duration=float(duration),
            articulation=articulation,
            frame=frame,
            name=name or None,
            **wall_fields(wall),
        )
        return read_field(reply, 'body', str), read_field(reply, 'until', float)

    def pull_body(
        self,
        body: str,
        point: Vector,
        target: Vector,
        duration: float,
        *,
        name: str = '',
        wall: WallAge | None = None,
    ) -> None:
        """
        Pull a point of a body to a place by a damped spring, computed by the server in each step.

        :param body: compiled name.
        :param point: in the frame of the body, m, shape (3,); `target` in the world.
        :param duration: simulated seconds; repeat it with the same `name` to continue.
        :param wall: maximum age by the wall clock (extension ``wall_timeout``); None: any age.
        """
        self.require('pull_body', wall_timeout=wall is not None)
        self.request(
            'pull_body',
            body=body,
            point=floats(point),
            target=floats(target),
            duration=float(duration),
            name=name or None,
            **wall_fields(wall),
        )

    def set_setpoints(
        self,
        articulation: str,
        values: Mapping[str, float],
        timeout: float | None = None,
        wall: WallAge | None = None,
        resets: int | None = None,
    ) -> int:
        """
        Set setpoints by actuator name without advancing time; return their number.

        :param timeout: simulated seconds after which all but positions become zero.
        :param wall: maximum age by the wall clock of all but positions (extension
            ``wall_timeout``); None: any age.
        :param resets: `ArticulationState.resets` of the state that they were chosen for (extension
            ``robot_resets``): refused if the robot was reset since then; None: always accepted.
        """
        self.require(
            'set_setpoints', wall_timeout=wall is not None, robot_resets=resets is not None
        )
        fields = {
            'articulation': articulation,
            'values': dict(values),
            'resets': resets,
            'timeout': None if timeout is None else float(timeout),
            **wall_fields(wall),
        }
        return read_field(self.request_fields('set_setpoints', fields), 'count', int)

    def claim_control(
        self, articulation: str, ttl: float | None = None, *, force: bool = False
    ) -> str:
        """
        Claim an articulation for this session (since July 2026); return the owner's name.

        Commands of others are refused with `NotControlOwner` until the claim ends.

        :param ttl: s without a claim or command of this session after which it ends.
        :param force: take it from another owner.
        :raises ControlClaimed: when another owner has it.
        """
        reply = self.request(
            'claim_control', articulation=articulation, ttl_s=ttl, force=force or None
        )
        return read_field(reply, 'owner', str)

    def release_control(self, articulation: str) -> None:
        """
        End the own claim of an articulation (since July 2026).

        :raises NotControlOwner: when another owner has it.
        """
        self.request('release_control', articulation=articulation)

    def set_camera_streaming(
        self, cameras: Mapping[str, bool | Mapping[str, bool]]
    ) -> dict[str, dict[str, Any]]:
        """
        Switch the streams of cameras on or off (since July 2026).

        :param cameras: name -> both, or a map with ``zmq`` and ``shm``.
        :return: name -> ``streaming``, ``zmq``, ``shm``, ``zmq_endpoint``, ``zmq_topic``.
        """
        given = {
            name: dict(each) if isinstance(each, Mapping) else each
            for name, each in cameras.items()
        }
        return self._ask_for(
            'cameras', dict[str, dict[str, Any]], 'set_camera_streaming', cameras=given
        )

    def set_camera_delay(
        self, cameras: Mapping[str, float | Mapping[str, Any]]
    ) -> dict[str, dict[str, Any]]:
        """
        Set how much later than captured cameras deliver (since July 2026).

        :param cameras: name -> s of simulated time, or a map with ``delay_s``, ``jitter_s`` and
            ``seed``.
        :return: name -> what is in force.
        """
        given = {
            name: dict(each) if isinstance(each, Mapping) else float(each)
            for name, each in cameras.items()
        }
        return self._ask_for(
            'cameras', dict[str, dict[str, Any]], 'set_camera_delay', cameras=given
        )


@dataclass(frozen=True, slots=True)
class _BoundsBox:
    low: np.ndarray = key(wire='min', length=3)
    high: np.ndarray = key(wire='max', length=3)


def _corners(place: Place) -> np.ndarray | None:
    box = read_lenient(_BoundsBox, place)
    return np.array([box.low, box.high]) if place.value else None


@dataclass(frozen=True, slots=True)
class EntityState:
    """
    Pose and velocity of an entity in the world frame.

    :ivar kind: ``articulation``, ``entity`` (a body with joints), ``mocap`` or ``static``.
    :ivar movable: whether `set_entity_state` can move it: a free body, or a mocap body.
    :ivar pos: origin of its body (of an articulation: its base) in m, shape (3,).
    :ivar quat: wxyz, shape (4,).
    :ivar linear: velocity of that origin in m/s, shape (3,).
    :ivar angular: rad/s, shape (3,).
    :ivar sim_time_ns: time of this state.
    :ivar spawned: whether it was added while the world was running.
    :ivar bounds: lowest and highest corner of its axis-aligned bounding box in m, shape (2, 3);
        None when not requested, or when it has no finite geometry.
    :ivar body_bounds: the same in the frame of its body.
    """

    name: str
    kind: str
    movable: bool
    pos: np.ndarray
    quat: np.ndarray
    linear: np.ndarray
    angular: np.ndarray
    sim_time_ns: int = key(wire='sim_time', parse=read_time)
    spawned: bool = False
    bounds: np.ndarray | None = key(None, parse=_corners)
    body_bounds: np.ndarray | None = key(None, parse=_corners)


class EntityOps(Session):
    """The ops on entities: get_entities, set_entity_state, spawn_entity, delete_entity."""

    def get_entities(
        self, names: Iterable[str] | None = None, bounds: bool = False
    ) -> dict[str, EntityState]:
        """
        Return the states of all entities by name, or of some.

        :param names: articulations by prefix, others by the name of their body; None: all.
        :param bounds: also return their bounding boxes.
        :raises UnknownBody: for an unknown name; the message lists the valid ones.
        """
        wanted = None if names is None else list(names)
        if wanted == []:
            return {}
        reply = self.request('get_entities', entities=wanted, bounds=bounds or None)
        time = reply.get('sim_time')
        states = [
            read_reply(EntityState, {'sim_time': time, **item}, 'get_entities_ok')
            for item in read_field(reply, 'entities', tuple[dict[str, Any], ...])
        ]
        return {state.name: state for state in states}

    def set_entity_state(
        self,
        entity: str,
        *,
        pos: Vector | None = None,
        quat: Vector | None = None,
        linear: Vector | None = None,
        angular: Vector | None = None,
    ) -> EntityState:
        """
        Move a free body or a mocap body, and return its new state; None keeps a value.

        :param pos: m, shape (3,), `quat` wxyz, `linear` m/s, `angular` rad/s: all in the world
            frame.
        :raises UnknownBody: for an unknown name.
        :raises BadValue: when it cannot be moved, or a value is not finite or a quaternion 0.
        """
        return self._ask(
            EntityState,
            'set_entity_state',
            entity=entity,
            pos=floats(pos),
            quat=floats(quat),
            linear=floats(linear),
            angular=floats(angular),
        )

    def spawn_entity(
        self,
        name: str = '',
        *,
        xml: str | None = None,
        file: str | None = None,
        pos: Vector | None = None,
        quat: Vector | None = None,
        kind: str | None = None,
        allow_renaming: bool = False,
        timeout: float = COMPILE_TIMEOUT,
    ) -> EntityState:
        """
        Add a model to the running world; the client then has the handshake of the new world.

        Other sessions expire; shared ones reconnect automatically.

        :param name: a letter, then letters, digits and ``_``; '' only with `allow_renaming`.
        :param xml: MJCF or URDF.
        :param file: instead of `xml`, a file of the server: in its data folder (MJCF, URDF, or a
            sidecar with one robot), or a bundled model (``rover.yaml``).
        :param pos: position of the origin of the model's file, m in the world; `quat` wxyz.
        :param kind: ``entity`` or ``articulation``; None: an entity, unless the model has
            actuators, joints other than a free root joint, or several roots.
        :param allow_renaming: use a similar name if this one is taken or invalid.
        :return: its state, with the name that was used.
        :raises NameTaken: the message suggests another one; `NameInvalid` gives the reason.
        :raises ImportFailed: with the first line of the compiler's message.
        :raises MissingAssets: when a mesh, height field or texture is missing.
        :raises PathNotReadable: when `file` is missing.
        """
        reply = self._change(
            'spawn_entity',
            timeout,
            name=name or None,
            xml=xml,
            file=file,
            kind=kind,
            allow_renaming=allow_renaming or None,
            pos=floats(pos),
            quat=floats(quat),
        )
        return read_reply(EntityState, reply)

    def delete_entity(self, entity: str, timeout: float = COMPILE_TIMEOUT) -> None:
        """
        Remove an entity from the running world; sessions as with `spawn_entity`.

        :param entity: an articulation by prefix, or a body whose parent is the world.
        :raises UnknownBody: for an unknown name.
        :raises DestroyFailed: when it is a part of something, or something depends on it.
        """
        self._change('delete_entity', timeout, entity=entity)

    def _change(self, op: str, timeout: float, **fields: Any) -> dict[str, Any]:
        """Send a request whose reply contains a new handshake."""
        with self.exclusive():
            reply = self.request(op, timeout, **fields)
            self.absorb(read_field(reply, 'handshake_payload', dict[str, Any]))
        return reply


@dataclass(frozen=True, slots=True)
class Randomized:
    """
    Reply to randomize.

    :ivar seed: reproduces the values.
    :ivar restored: whether the compiled values were restored first.
    :ivar items: kind -> {element: its new value, a number or a list}.
    """

    seed: int
    restored: bool
    items: dict[str, dict[str, Any]]


class RandomizeOps(Session):
    """Domain randomisation (extension ``randomize``)."""

    def randomize(
        self,
        items: Mapping[str, Mapping[str, Any]] | None = None,
        seed: int | None = None,
        restore: bool = False,
        timeout: float = COMPILE_TIMEOUT,
    ) -> Randomized:
        """
        Draw new values of the model around the compiled ones.

        :param items: kind -> {``scale`` | ``offset`` | ``value``: [low, high], selection}, for
            example ``{'mass': {'scale': [0.8, 1.2], 'bodies': 'rover_*'}}``.
        :param seed: the same seed gives the same values; None: the server chooses one.
        :param restore: restore the compiled values, before `items` are drawn.
        :raises BadValue: nothing was changed.
        """
        reply = self.request(
            'randomize',
            timeout,
            items=None if items is None else {name: dict(item) for name, item in items.items()},
            seed=seed,
            restore=restore or None,
        )
        return read_reply(Randomized, reply)


class RecordingOps(Session):
    """Ops of the namespaces recording and replay."""

    def recording_start(self, name: str | None = None, max_duration_s: float | None = None) -> str:
        """
        Start a recording; return the name of its session, ``live``.

        :param name: default name of the file that `recording_save` writes.
        """
        return self._ask_for(
            'name', str, 'recording_start', name=name, max_duration_s=max_duration_s
        )

    def recording_stop(self) -> RecordingStopped:
        """Stop recording; the frames stay in the server's buffer."""
        return self._ask(RecordingStopped, 'recording_stop')

    def recording_save(
        self, path: str | None = None, timeout: float = FILE_TIMEOUT, *, overwrite: bool = False
    ) -> str:
        """
        Write the recording on the server's disk; return its absolute path there.

        It returns when the file is complete, and does not delay other clients.

        :param path: None: named after the recording, with a number if that name is taken.
        :param overwrite: replace a file of that name, which otherwise raises `PathNotWritable`
            (extension ``recording_overwrite``; stock servers always replace it).
        :raises ExtensionMissing: without `overwrite`, when the server cannot keep an existing
            file; nothing was sent.
        """
        self.require('recording_save', recording_overwrite=not overwrite)
        return self._ask_for(
            'absolute_path', str, 'recording_save', timeout, path=path, overwrite=overwrite
        )

    def recording_list(self, timeout: float = FILE_TIMEOUT) -> tuple[SavedRecording, ...]:
        """Return the recordings on the server's disk, the newest first (extension)."""
        return self._ask_for('recordings', tuple[SavedRecording, ...], 'recording_list', timeout)

    def recording_read(self, path: str, offset: int = 0) -> tuple[str, int]:
        """
        Return a piece of a saved recording, and the size of the file in bytes (extension).

        :param offset: bytes before the piece; at the end of the file it is empty.
        """
        reply = self.request('recording_read', path=path, offset=offset)
        return read_field(reply, 'text', str), read_field(reply, 'bytes', int)

    def recording_clear(self) -> None:
        """Discard the recorded frames."""
        self.request('recording_clear')

    def replay_load(self, path: str, timeout: float = FILE_TIMEOUT) -> ReplayLoaded:
        """Load a recording from the server's disk as a replay session."""
        return self._ask(ReplayLoaded, 'replay_load', timeout, path=path)

    def replay_list_sessions(self) -> tuple[str, ...]:
        """Return the names of the loaded replay sessions."""
        return self._ask_for('sessions', tuple[str, ...], 'replay_list_sessions')

    def replay_set_active(self, name: str) -> None:
        """Choose the session that replay_start plays."""
        self.request('replay_set_active', name=name)

    def replay_start(self) -> ReplayStarted:
        """Play the active session (direct or puppet)."""
        return self._ask(ReplayStarted, 'replay_start')

    def replay_stop(self) -> None:
        """Stop playing."""
        self.request('replay_stop')
