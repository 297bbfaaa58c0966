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

from urlab_ros_bridge.client import fields as f
from urlab_ros_bridge.client.errors import ModelUnavailable
from urlab_ros_bridge.client.errors import ProtocolError
from urlab_ros_bridge.wire.camera_frame import MAX_SIDE

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
    """

    name: str
    mode: str
    resolution: tuple[int, int]
    fovy: float
    endpoint: str
    topic: str

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


def parse_handshake(reply: dict[str, Any]) -> Handshake:
    """
    Read a `hello_ok` reply (also the `handshake_payload` of `begin_pie`).

    :raises ProtocolError: for a reply without session id, or with a field of the wrong kind.
    """
    where = 'hello_ok'
    session_id = f.text(reply, 'session_id', where)
    if not session_id:
        raise ProtocolError('hello_ok carries no session_id')
    mjb = reply.get('mjb') or b''
    if not isinstance(mjb, bytes):
        raise f.wrong(f'{where}.mjb', mjb, 'binary')
    robots = [_articulation(value) for value in _list(reply, 'articulations', where)]
    return Handshake(
        session_id=session_id,
        urlab_version=f.text(reply, 'urlab_version', where),
        mujoco_version=f.text(reply, 'mujoco_version', where),
        manager_present=f.flag(reply, 'manager_present', where, True),
        shm_session_dir=f.text(reply, 'shm_session_dir', where),
        articulations={robot.prefix: robot for robot in robots},
        entities={
            name: _entity(name, value)
            for name, value in f.map_of_maps(reply, 'entities', where).items()
        },
        global_cameras=_cameras(reply, 'global_cameras', '', where),
        depth_unit=f.text(reply, 'depth_unit', where, 'cm'),
        extensions=frozenset(str(name) for name in _list(reply, 'extensions', where)),
        timestep=f.number(reply, 'timestep', where, 0.0) or None,
        world=f.text(reply, 'world', where),
        mjb=mjb,
        raw={
            key: value for key, value in reply.items() if key not in ('mjb_base64', 'mjb__b64__')
        },
    )


def _list(fields: dict[str, Any], key: str, where: str) -> list[Any]:
    value = fields.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise f.wrong(f'{where}.{key}', value, 'a list')
    return value


def _articulation(value: Any) -> Articulation:
    where = 'hello_ok.articulations[]'
    if not isinstance(value, dict):
        raise f.wrong(where, value, 'a map')
    prefix = f.text(value, 'prefix', where)
    if not prefix:
        raise ProtocolError(f'{where} has no prefix')
    where = f'articulation {prefix}'
    names = f.map_of_maps(value, 'original_names', where)
    return Articulation(
        prefix=prefix,
        actor_id=f.text(value, 'actor_id', where),
        default_control_mode=f.text(value, 'default_control_mode', where, 'raw'),
        controller=f.mapping(value, 'controller', where),
        actuator_types=f.texts(value, 'actuator_types', where),
        original_names={kind: f.texts(names, kind, where) for kind in names},
        cameras=_cameras(value, 'camera_topics', prefix, where),
        twist_controller=_twist_controller(value, where),
        lidars={
            name: _lidar(name, lidar)
            for name, lidar in f.map_of_maps(value, 'lidars', where).items()
        },
        frames=f.texts(value, 'frames', where),
        covariances=f.mapping(value, 'covariances', where),
    )


def _cameras(fields: dict[str, Any], key: str, prefix: str, where: str) -> dict[str, Camera]:
    cameras = {}
    for name, value in f.map_of_maps(fields, key, where).items():
        place = f'{where}.{key}.{name}'
        size = value.get('resolution')
        resolution = f.vector(value, 'resolution', place) if size is not None else (640, 480)
        if len(resolution) != 2 or not all(0 < side <= MAX_SIDE for side in resolution):
            raise f.wrong(f'{place}.resolution', size, f'[width, height] up to {MAX_SIDE}')
        path = f'{prefix}/camera/{name}' if prefix else f'camera/{name}'
        cameras[name] = Camera(
            name,
            f.text(value, 'mode', place, 'real'),
            (int(resolution[0]), int(resolution[1])),
            f.number(value, 'fovy', place, 45.0),
            f.text(value, 'zmq_endpoint', place),
            f.text(value, 'zmq_topic', place, path).rstrip(' '),
        )
    return cameras


def _twist_controller(fields: dict[str, Any], where: str) -> TwistController | None:
    value = f.mapping(fields, 'twist_controller', where)
    if not value:
        return None
    where += '.twist_controller'
    return TwistController(
        f.text(value, 'kind', where),
        f.numbers(value, 'limits', where),
        f.number(value, 'timeout', where, 0.0),
    )


def _lidar(name: str, value: dict[str, Any]) -> Lidar:
    where = f'lidar {name}'
    angles = [
        f.number(value, key, where)
        for key in ('angle_min', 'angle_max', 'range_min', 'range_max', 'rate')
    ]
    return Lidar(name, *angles, f.integer(value, 'rays', where), f.text(value, 'site', where))


def _entity(name: str, value: dict[str, Any]) -> Entity:
    where = f'entity {name}'
    return Entity(
        name,
        f.integer(value, 'id', where, -1),
        f.flag(value, 'has_free_base', where),
        f.text(value, 'free_joint', where),
        *(
            f.integer(value, key, where, -1)
            for key in ('free_joint_id', 'qpos_offset', 'qvel_offset')
        ),
    )
