# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Typed replies of the ops other than step, reset and forward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from urlab_ros_bridge.client.replies.reader import read_reply
from urlab_ros_bridge.client.replies.reader import read_time
from urlab_ros_bridge.schema import key
from urlab_ros_bridge.wire.divergence import Divergence
from urlab_ros_bridge.wire.ops import Op

BRIDGE = 'urlab_bridge'  # client of the sessions of the ROS bridge


@dataclass(frozen=True, slots=True)
class ModeChange:
    """Reply to set_mode."""

    previous: str = key(wire='previous_mode')
    current: str = key(wire='current_mode')


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
    qpos: np.ndarray
    qvel: np.ndarray
    ctrl: np.ndarray
    mocap_pos: np.ndarray
    mocap_quat: np.ndarray
    time: float = 0.0


@dataclass(frozen=True, slots=True)
class RecordingStopped:
    """Reply to recording_stop; `duration` in seconds of simulated time."""

    name: str
    frame_count: int = 0
    duration: float = key(0.0, wire='sim_duration_s')


@dataclass(frozen=True, slots=True)
class SavedRecording:
    """
    A recording on the server's disk.

    :ivar path: for `replay_load`.
    :ivar modified: Unix time, s.
    :ivar seconds: simulated time from the first to the last frame; None where it is not known.
    """

    path: str
    bytes: int = 0
    modified: float = 0.0
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class ReplayLoaded:
    """Reply to replay_load; `total_frames` is 0 when not reported."""

    name: str
    total_frames: int = 0


@dataclass(frozen=True, slots=True)
class ReplayStarted:
    """Reply to replay_start."""

    active_session: str
    total_frames: int = 0


@dataclass(frozen=True, slots=True)
class NavigationTarget:
    """
    Where a robot is to go (`kind` goal), or where it is (`initial_pose`), as a client announced.

    :ivar id: grows from one to the next, as long as the `run` of the handshake is the same.
    :ivar x, y: m, and `yaw` rad, in the world frame.
    """

    id: int
    articulation: str
    kind: str
    x: float
    y: float
    yaw: float


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """
    Reply to status (extension).

    :ivar speed: percent of real time asked for.
    :ivar real_time_factor: measured, 1.0 is real time.
    :ivar tick_rate: measured physics ticks per wall second.
    :ivar world_revision: grows whenever another or a changed world begins; 0 when not reported.
    :ivar fault: why the server has paused the world itself, empty when all is well.
    :ivar divergence: as in `StepResult`.
    :ivar e_stop: whether the e-stop is engaged.
    :ivar navigation_targets: those of the last seconds, the oldest first.
    :ivar sessions: maps with ``id``, ``shared``, ``client``, ``age`` (s).
    """

    mode: str
    pinned: bool
    paused: bool
    speed: float = 0.0
    real_time_factor: float = 0.0
    tick_rate: float = 0.0
    sim_time_ns: int = key(0, wire='sim_time', parse=read_time)
    step: int = 0
    sessions: tuple[dict[str, Any], ...] = ()
    cameras: int = 0
    world: str = ''
    world_revision: int = 0
    fault: str = ''
    divergence: Divergence | None = None
    e_stop: bool = False
    navigation_targets: tuple[NavigationTarget, ...] = ()
    raw: dict[str, Any] = key(factory=dict, takes='whole', repr=False)

    @property
    def has_bridge(self) -> bool:
        """Return whether a ROS bridge is connected."""
        return any(session.get('client') == BRIDGE for session in self.sessions)


@dataclass(frozen=True, slots=True)
class _OpEntry:
    """One op of a meta reply."""

    name: str
    category: str
    namespace: str
    required_fields: tuple[str, ...]
    reply_fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Catalogue:
    ops: tuple[_OpEntry, ...]


def read_catalogue(reply: dict[str, Any]) -> dict[str, Op]:
    """Return a meta reply as op name -> `Op`; entries without a name are left out."""
    return {
        entry.name: Op(
            entry.name,
            entry.category,
            entry.namespace,
            entry.required_fields,
            reply=tuple(item for item in entry.reply_fields if not item.startswith('op:')),
        )
        for entry in read_reply(_Catalogue, reply).ops
        if entry.name
    }
