# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The options of `urlab server`."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field
from pathlib import Path

from urlab_ros_bridge.robot_import import ImportOptions
from urlab_ros_bridge.wire import ops
from urlab_ros_bridge.wire.addresses import is_loopback
from urlab_ros_bridge.wire.dialect import PAGE
from urlab_ros_bridge.wire.errors import UrlabError


class OpenWithoutKeys(UrlabError):
    """A server would let the whole network in."""

    def __init__(self, bind: str) -> None:
        super().__init__(
            f'--bind {bind} lets any machine on the network drive the simulation: give --keys DIR '
            '(`urlab keys DIR` creates them), or --insecure to accept any client'
        )


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """
    Settings of one step server.

    :ivar world: name of a bundled world; ignored when `model` is set.  It may be '' with an
        extension that opens worlds, such as the editor.
    :ivar model: an MJCF file, a sidecar YAML, or a robot description (URDF or xacro).
    :ivar prefix: articulation prefix for a model without sidecar (default: from the model's name).
    :ivar actor_id: actor id of the first articulation (default: the sidecar's, else its prefix).
    :ivar bind: address that all sockets bind.
    :ivar keys: folder of keys: connections over ZeroMQ are encrypted, and only clients whose keys
        are there are let in.
    :ivar insecure: whether any client may connect when `bind` is wider than loopback.
    :ivar step_mode: ``auto``, or a mode that is then pinned.
    :ivar paused: start paused.
    :ivar speed: pace of live mode as a fraction of real time, 0.05 to 1.
    :ivar cameras: ``auto`` renders on demand, ``on`` starts the renderer at once,
        ``off`` never renders.
    :ivar gl: which OpenGL renders: ``auto``, ``egl`` or ``osmesa``.
    :ivar shm: whether clients on this machine can use shared memory.
    :ivar data_dir: folder that file ops are confined to (default: XDG data home, `urlab`).
    :ivar data_limit_gb: gigabytes in that folder from which on nothing more is written; 0 is no
        limit.
    :ivar dialect: of requests, replies and snapshots: ``page``, or ``0.6`` of plugin v0.6.
    :ivar robot: name of a robot of MuJoCo Menagerie, in place of `model`.
    :ivar scene: file of a world that the robots of `model` or `robot` are put into.
    :ivar pose: where in the scene the first of them stands: x, y, z (m) and yaw (rad).
    :ivar importing: how a robot description is imported.
    :raises OpenWithoutKeys: when `bind` is wider than loopback, without keys or `insecure`.
    """

    world: str = 'rover'
    model: Path | None = None
    prefix: str | None = None
    actor_id: str | None = None
    bind: str = '127.0.0.1'
    keys: Path | None = None
    insecure: bool = False
    rpc_port: int = ops.RPC_PORT
    state_port: int = ops.STATE_PORT
    camera_port: int = ops.CAMERA_PORT
    control_port: int = ops.CONTROL_PORT
    info_port: int = ops.INFO_PORT
    step_mode: str = 'auto'
    paused: bool = False
    speed: float = 1.0
    data_dir: Path | None = None
    data_limit_gb: float = 20.0
    allow_absolute_paths: bool = False
    shm: bool = True
    cameras: str = 'auto'
    gl: str = 'auto'
    dialect: str = PAGE
    robot: str | None = None
    scene: Path | None = None
    pose: tuple[float, float, float, float] | None = None
    importing: ImportOptions = field(default_factory=ImportOptions)

    def __post_init__(self) -> None:
        if not (self.keys or self.insecure or is_loopback(self.bind)):
            raise OpenWithoutKeys(self.bind)
