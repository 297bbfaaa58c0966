# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Typed replies of the ops other than step, reset and forward."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field
from typing import Any

import numpy as np

from urlab_ros_bridge.client import fields as f
from urlab_ros_bridge.client.errors import ProtocolError
from urlab_ros_bridge.wire.ops import Op
from urlab_ros_bridge.wire.stamp import BadTime
from urlab_ros_bridge.wire.stamp import block_to_ns


@dataclass(frozen=True, slots=True)
class ModeChange:
    """Reply to set_mode."""

    previous: str
    current: str


@dataclass(frozen=True, slots=True)
class QposWritten:
    """Reply to set_qpos: what was written, shape (7,) for the free-base shortcut or (nq,)."""

    target: str
    actor_id: str
    actor_name: str
    qpos: np.ndarray
    free_base_shortcut: bool


@dataclass(frozen=True, slots=True)
class MocapPose:
    """World pose of a mocap body: metres, shape (3,), and quaternion wxyz, shape (4,)."""

    body: str
    pos: np.ndarray
    quat: np.ndarray


@dataclass(frozen=True, slots=True)
class Contact:
    """
    One contact.

    :ivar pos: world position, m, shape (3,).
    :ivar normal: first axis of the contact frame in the world, shape (3,).
    :ivar dist: m, negative when penetrating.
    :ivar force: force and torque in the contact frame, N and N m, shape (6,).
    """

    geom1: str
    geom2: str
    body1: str
    body2: str
    pos: np.ndarray
    normal: np.ndarray
    dist: float
    force: np.ndarray


@dataclass(frozen=True, slots=True)
class Contacts:
    """Reply to get_contacts; `truncated` when more matched than were asked for."""

    contacts: tuple[Contact, ...]
    truncated: bool


@dataclass(frozen=True, slots=True)
class Keyframe:
    """A keyframe of the model, vectors in compiled order; the name may be empty."""

    name: str
    time: float
    qpos: np.ndarray
    qvel: np.ndarray
    ctrl: np.ndarray
    mocap_pos: np.ndarray
    mocap_quat: np.ndarray


@dataclass(frozen=True, slots=True)
class Recording:
    """Reply to recording_stop; `duration` in seconds of simulated time."""

    name: str
    frame_count: int
    duration: float


@dataclass(frozen=True, slots=True)
class ReplayLoaded:
    """Reply to replay_load; `total_frames` is 0 when the server does not say."""

    name: str
    total_frames: int


@dataclass(frozen=True, slots=True)
class ReplayStarted:
    """Reply to replay_start."""

    active_session: str
    total_frames: int


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """
    Reply to status (extension).

    :ivar speed: percent of real time asked for.
    :ivar real_time_factor: measured, 1.0 is real time.
    :ivar tick_rate: measured physics ticks per wall second.
    :ivar world_revision: grows whenever another or a changed world begins; 0 when not told.
    :ivar sessions: maps with ``id``, ``shared``, ``client``, ``age`` (s).
    """

    mode: str
    pinned: bool
    paused: bool
    speed: float
    real_time_factor: float
    tick_rate: float
    sim_time_ns: int
    step: int
    sessions: tuple[dict[str, Any], ...]
    cameras: int
    world: str
    world_revision: int
    raw: dict[str, Any] = field(repr=False)


def parse_contacts(reply: dict[str, Any]) -> Contacts:
    """Read a get_contacts reply."""
    where = 'get_contacts_ok'
    contacts = tuple(
        Contact(
            *(f.text(value, key, where) for key in ('geom1', 'geom2', 'body1', 'body2')),
            f.vector(value, 'pos', where),
            f.vector(value, 'normal', where),
            f.number(value, 'dist', where),
            f.vector(value, 'force', where),
        )
        for value in f.maps(reply, 'contacts', where)
    )
    return Contacts(contacts, f.flag(reply, 'truncated', where))


def parse_keyframes(reply: dict[str, Any]) -> tuple[Keyframe, ...]:
    """Read a list_keyframes reply."""
    where = 'list_keyframes_ok'
    vectors = ('qpos', 'qvel', 'ctrl', 'mocap_pos', 'mocap_quat')
    return tuple(
        Keyframe(
            f.text(value, 'name', where),
            f.number(value, 'time', where, 0.0),
            *(f.vector(value, key, where) for key in vectors),
        )
        for value in f.maps(reply, 'keyframes', where)
    )


def parse_qpos_written(reply: dict[str, Any]) -> QposWritten:
    """Read a set_qpos reply."""
    where = 'set_qpos_ok'
    names = (f.text(reply, key, where) for key in ('target', 'actor_id', 'actor_name'))
    return QposWritten(
        *names, f.vector(reply, 'qpos', where), f.flag(reply, 'free_base_shortcut', where)
    )


def parse_mocap_pose(reply: dict[str, Any]) -> MocapPose:
    """Read a set_mocap_pose or read_mocap_pose reply."""
    where = 'mocap_pose'
    return MocapPose(
        f.text(reply, 'body', where), f.vector(reply, 'pos', where), f.vector(reply, 'quat', where)
    )


def parse_status(reply: dict[str, Any]) -> ServerStatus:
    """Read a status reply."""
    where = 'status_ok'
    told = reply.get('sim_time')
    try:
        sim_time_ns = block_to_ns(told) if told is not None else 0  # none without a world
    except BadTime as error:
        raise ProtocolError(f'{where}.sim_time: {error}') from error
    return ServerStatus(
        f.text(reply, 'mode', where),
        f.flag(reply, 'pinned', where),
        f.flag(reply, 'paused', where),
        *(f.number(reply, key, where, 0.0) for key in ('speed', 'real_time_factor', 'tick_rate')),
        sim_time_ns,
        f.integer(reply, 'step', where, 0),
        tuple(f.maps(reply, 'sessions', where)),
        f.integer(reply, 'cameras', where, 0),
        f.text(reply, 'world', where),
        f.integer(reply, 'world_revision', where, 0),
        reply,
    )


def parse_meta(reply: dict[str, Any]) -> dict[str, Op]:
    """Read a meta reply into op name -> `Op`; entries without a name are left out."""
    where = 'meta_ok.ops[]'
    ops = {}
    for entry in f.maps(reply, 'ops', where):
        name = f.text(entry, 'name', where)
        lists = [entry.get(key) for key in ('required_fields', 'reply_fields')]
        required, fields = (
            tuple(str(item) for item in value) if isinstance(value, list) else ()
            for value in lists
        )
        if name:
            ops[name] = Op(
                name,
                f.text(entry, 'category', where),
                f.text(entry, 'namespace', where),
                required,
                reply=tuple(item for item in fields if not item.startswith('op:')),
            )
    return ops
