# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The reply to `hello`, typed (Protocol Reference, "hello", "Articulations block", "Entities block").

Fields that only our own server sends (depth unit, world, lidars, frames, ...) have the defaults of
a stock server when they are absent.
"""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field
from typing import Any

from urlab_ros_bridge.client.errors import ModelUnavailable

MODEL_FILE = 'model.mjb'


@dataclass(frozen=True, slots=True)
class Camera:
    """
    A camera that the server can stream.

    :ivar mode: ``real``, ``depth``, ``semantic`` or ``instance``.
    :ivar resolution: width, height in pixels.
    :ivar fovy: vertical field of view in degrees.
    :ivar endpoint: as the server wrote it; only its port means something, see `port`.
    :ivar topic: PUB topic without the trailing blank of the wire.

    What only our own server says:

    :ivar rate: frames per second of simulated time, 0 when unknown.
    :ivar body: body that carries the camera, '' when unknown.
    :ivar encoding: ``bgra8`` or ``float32``.
    :ivar depth_pair: depth camera with the same place, lens and size, '' when there is none.
    :ivar latency: simulated seconds from capture to delivery.
    :ivar labels: of semantic and instance cameras: (b, g, r) -> name.
    """

    name: str
    mode: str
    resolution: tuple[int, int]
    fovy: float
    endpoint: str
    topic: str
    rate: float = 0.0
    body: str = ''
    encoding: str = 'bgra8'
    depth_pair: str = ''
    latency: float = 0.0
    labels: dict[tuple[int, int, int], str] = field(default_factory=dict, compare=False)

    @property
    def port(self) -> int | None:
        """TCP port of the stream, on the host that the client talks to; None: no stream."""
        digits = self.endpoint.rpartition(':')[2]
        valid = digits.isascii() and digits.isdigit() and len(digits) <= 5
        return int(digits) if valid else None


@dataclass(frozen=True, slots=True)
class Lidar:
    """
    A planar scanner, published as a sensor row of metres (-1: nothing within range_max).

    Angles in rad about the z axis of `site`, ranges in m, rate in Hz of simulated time.
    """

    name: str
    angle_min: float
    angle_max: float
    range_min: float
    range_max: float
    rate: float
    rays: int
    site: str


@dataclass(frozen=True, slots=True)
class Entity:
    """A dynamic body that belongs to no articulation; offsets only when `has_free_base`."""

    name: str
    id: int
    has_free_base: bool
    free_joint: str
    free_joint_id: int
    qpos_offset: int
    qvel_offset: int


@dataclass(frozen=True, slots=True)
class TwistController:
    """
    How an articulation drives.

    :ivar limits: m/s, rad/s, m/s^2, rad/s^2 by name (``linear``, ``lateral``, ``angular``, ...).
    :ivar timeout: seconds of simulated time after which the server stops by itself; 0 = never.
    """

    kind: str
    limits: dict[str, float]
    timeout: float


@dataclass(frozen=True, slots=True)
class Articulation:
    """
    One robot of the world.

    All names inside are local, that is without the ``{prefix}_`` of the compiled model.

    :ivar controller: ``{kind, params, schema}``, empty when none is attached.
    :ivar actuator_types: actuator -> ``motor``, ``position``, ...
    :ivar original_names: category -> {live name: name in the source XML}, only where they differ.
    :ivar frames: ``base`` and local names of sites, bodies, cameras -> ROS frame.
    :ivar covariances: as in the world description.
    """

    prefix: str
    actor_id: str
    default_control_mode: str
    controller: dict[str, Any]
    actuator_types: dict[str, str]
    original_names: dict[str, dict[str, str]]
    cameras: dict[str, Camera]
    twist_controller: TwistController | None
    lidars: dict[str, Lidar]
    frames: dict[str, str]
    covariances: dict[str, Any]


@dataclass(slots=True)
class Handshake:
    """
    What `hello` told about the server and its world.

    :ivar depth_unit: unit of depth images; ``cm`` on stock servers.
    :ivar timestep: seconds, None when the server does not say (then `model` knows).
    :ivar mjb: the compiled model, empty without a running world.
    :ivar mjcf_compiled: the model as XML, only after ``connect(include_assets=True)``.
    :ivar vfs_assets: the files that this XML names, by bare name.
    :ivar raw: the whole reply without the base64 copy of the model.
    """

    session_id: str
    urlab_version: str
    mujoco_version: str
    manager_present: bool
    shm_session_dir: str
    articulations: dict[str, Articulation]
    entities: dict[str, Entity]
    global_cameras: dict[str, Camera]
    depth_unit: str
    extensions: frozenset[str]
    timestep: float | None
    world: str
    mjb: bytes = field(repr=False)
    raw: dict[str, Any] = field(repr=False)
    mjcf_compiled: str = field(default='', repr=False)
    vfs_assets: dict[str, bytes] = field(default_factory=dict, repr=False)
    _model: Any = field(default=None, init=False, repr=False, compare=False)

    @property
    def model(self) -> Any:
        """
        The world as a `mujoco.MjModel`, loaded at the first access.

        :raises ModelUnavailable: without mujoco, with another mujoco than the server's, or when
            the handshake carried no model.
        """
        if self._model is None:
            self._model = load_model(self.mjb, self.mujoco_version)
        return self._model


def load_model(mjb: bytes, version: str) -> Any:
    """
    Load a compiled model.

    :param version: MuJoCo version of the server; the binary format changes with every release.
    :raises ModelUnavailable: see `Handshake.model`.
    """
    if not mjb:
        raise ModelUnavailable('the handshake carried no compiled model (no world is running)')
    try:
        import mujoco
    except ImportError as error:
        raise ModelUnavailable(f'the package mujoco is not installed: {error}') from error
    if version and version != mujoco.__version__:
        raise ModelUnavailable(
            f'the server runs MuJoCo {version}, this process has '
            f'{mujoco.__version__}; install mujoco=={version}'
        )
    try:
        return mujoco.MjModel.from_binary_path(MODEL_FILE, {MODEL_FILE: mjb})
    except (ValueError, mujoco.FatalError) as error:
        raise ModelUnavailable(f'MuJoCo cannot load the compiled model: {error}') from error
