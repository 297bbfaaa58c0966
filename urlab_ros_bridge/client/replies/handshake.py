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
from dataclasses import replace
import math
from typing import Any

from urlab_ros_bridge.client.errors import ModelUnavailable
from urlab_ros_bridge.client.replies.reader import listed
from urlab_ros_bridge.client.replies.reader import read_reply
from urlab_ros_bridge.schema import key
from urlab_ros_bridge.schema import Place
from urlab_ros_bridge.schema import shown
from urlab_ros_bridge.schema.lenient import read_lenient
from urlab_ros_bridge.wire.camera_frame import MAX_SIDE
from urlab_ros_bridge.wire.divergence import Divergence

MODEL_FILE = 'model.mjb'
# Kinds of the stock plugin that only store the command.
_HOLDING = ('command', 'none')
# Stock servers send the model a second time, as text.
_COPIES_OF_THE_MODEL = ('mjb_base64', 'mjb__b64__')


def _topic(place: Place) -> str:
    """Return a topic without the trailing blank of the wire."""
    if not isinstance(place.value, str):
        raise place.fail(f'must be a string, not {shown(place.value)}')
    return place.value.rstrip(' ')


def _labels(place: Place) -> dict[tuple[int, int, int], str]:
    """Invert a mapping of names to [b, g, r]."""
    found = {}
    for name, item in place.mapping().items():
        color = item.value
        is_valid = isinstance(color, list) and all(
            isinstance(part, (int, float)) and 0 <= part <= 255 for part in color
        )
        if not is_valid or len(color) != 3:
            raise item.fail(f'must be [b, g, r], 0 to 255 each, not {shown(color)}')
        blue, green, red = map(int, color)
        found[blue, green, red] = name
    return found


@dataclass(frozen=True, slots=True)
class CameraInfo:
    """
    A camera that the server can stream.

    :ivar mode: ``real``, ``depth``, ``semantic`` or ``instance``.
    :ivar resolution: width, height in pixels.
    :ivar fovy: vertical field of view in degrees.
    :ivar endpoint: as sent by the server; only its port is used, see `port`.
    :ivar topic: PUB topic without the trailing blank of the wire.

    From the bundled server only:

    :ivar rate: frames per second of simulated time, 0 when unknown.
    :ivar body: body that carries the camera, '' when unknown.
    :ivar depth_pair: depth camera with the same pose, lens and resolution, '' if there is none.
    :ivar latency: simulated seconds from capture to delivery.
    :ivar labels: of semantic and instance cameras: (b, g, r) -> name.
    """

    name: str = key('', takes='name')
    mode: str = 'real'
    resolution: tuple[int, int] = key((640, 480), low=1, high=MAX_SIDE)
    fovy: float = 45.0
    endpoint: str = key('', wire='zmq_endpoint')
    topic: str = key('', wire='zmq_topic', parse=_topic)
    rate: float = 0.0
    body: str = ''
    depth_pair: str = ''
    latency: float = 0.0
    labels: dict[tuple[int, int, int], str] = key(factory=dict, parse=_labels, compare=False)

    @property
    def encoding(self) -> str:
        """Of its pixels: ``float32`` of a depth camera, else ``bgra8``."""
        return 'float32' if self.mode == 'depth' else 'bgra8'

    @property
    def port(self) -> int | None:
        """TCP port of the stream, on the host that the client talks to; None: no stream."""
        digits = self.endpoint.rpartition(':')[2]
        valid = digits.isascii() and digits.isdigit() and len(digits) <= 5
        port = int(digits) if valid else 0
        return port if 0 < port < 1 << 16 else None


@dataclass(frozen=True, slots=True)
class Lidar:
    """
    A planar scanner, published as a sensor row of metres (-1: nothing within range_max).

    Angles in rad about the z axis of `site`, ranges in m, rate in Hz of simulated time.
    """

    name: str = key(takes='name')
    angle_min: float = key(unit='rad')
    angle_max: float = key(unit='rad')
    range_min: float = key(unit='m')
    range_max: float = key(unit='m')
    rate: float = key(unit='Hz')
    rays: int = key()
    site: str = key()


@dataclass(frozen=True, slots=True)
class PointLidar:
    """
    A 3-D lidar, published as a points row of shape (rings, columns), the lowest ring first.

    Angles in rad in the frame of `site`, ranges in m, rate in Hz of simulated time.
    """

    name: str = key(takes='name')
    angle_min: float = key(unit='rad')
    angle_max: float = key(unit='rad')
    elevation_min: float = key(unit='rad')
    elevation_max: float = key(unit='rad')
    range_min: float = key(unit='m')
    range_max: float = key(unit='m')
    rate: float = key(unit='Hz')
    rings: int = key(low=1, high=MAX_SIDE)
    columns: int = key(low=1, high=MAX_SIDE)
    site: str = key()


@dataclass(frozen=True, slots=True)
class JointLimit:
    """Limits of a joint that the model does not have; 0 for one that is not reported."""

    velocity: float = key(0.0, unit='rad/s or m/s', low=0.0)
    effort: float = key(0.0, unit='N m or N', low=0.0)


@dataclass(frozen=True, slots=True)
class SensorTopic:
    """How a bridge should publish a sensor; empty or 0 leaves it to the bridge."""

    topic: str = ''
    rate: float = key(0.0, unit='Hz', low=0.0)


@dataclass(frozen=True, slots=True)
class Entity:
    """A dynamic body that belongs to no articulation; offsets only when `has_free_base`."""

    name: str = key(takes='name')
    id: int = -1
    has_free_base: bool = False
    free_joint: str = ''
    free_joint_id: int = -1
    qpos_offset: int = -1
    qvel_offset: int = -1


@dataclass(frozen=True, slots=True)
class TwistControllerInfo:
    """
    How an articulation drives.

    :ivar kind: for display; the other fields define its behaviour.
    :ivar limits: m/s, rad/s, m/s^2, rad/s^2 by name (``linear``, ``lateral``, ``angular``, ...).
    :ivar timeout: seconds of simulated time after which the server stops the robot; 0: never.
    :ivar actuators: local names of the actuators that it controls while it drives, which suspends
        other setpoints for them; empty: it only stores the command for another program.  None:
        not reported, as by the stock plugin.
    :ivar wheel_matrix: a row for each of `actuators`: velocity of its joint (rad/s) for 1 m/s
        forward, 1 m/s to the left and 1 rad/s of yaw of the base, zeros for a joint that is no
        wheel; empty for a drive without wheels, or when it is not reported.
    :ivar axle: x (m) of an axle in the base frame whose wheels do not slip sideways; None for
        drives that move in every direction, or when it is not reported.
    """

    kind: str
    limits: dict[str, float]
    timeout: float = 0.0
    actuators: tuple[str, ...] | None = None
    wheel_matrix: tuple[tuple[float, float, float], ...] = ()
    axle: float | None = None

    @property
    def drives(self) -> bool:
        """Return whether the robot moves by its twist, without a policy."""
        return self.kind not in _HOLDING if self.actuators is None else bool(self.actuators)

    @property
    def is_lateral(self) -> bool:
        """Return whether the robot can move sideways."""
        return self.limits.get('lateral', math.inf) > 0.0


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
    :ivar sensor_topics: by the name of a site, sensor or scanner.
    :ivar joint_limits: by joint.
    """

    prefix: str = key(check=lambda prefix: '' if prefix else 'must not be empty')
    actor_id: str = ''
    default_control_mode: str = 'raw'
    controller: dict[str, Any] = key(factory=dict)
    actuator_types: dict[str, str] = key(factory=dict)
    original_names: dict[str, dict[str, str]] = key(factory=dict)
    cameras: dict[str, CameraInfo] = key(factory=dict, wire='camera_topics')
    twist_controller: TwistControllerInfo | None = None
    lidars: dict[str, Lidar] = key(factory=dict)
    point_lidars: dict[str, PointLidar] = key(factory=dict)
    frames: dict[str, str] = key(factory=dict)
    covariances: dict[str, Any] = key(factory=dict)
    sensor_topics: dict[str, SensorTopic] = key(factory=dict)
    joint_limits: dict[str, JointLimit] = key(factory=dict)


def _articulations(place: Place) -> dict[str, Articulation]:
    found = [read_lenient(Articulation, item) for item in place.items()]
    for robot in found:
        _name_topics(robot.cameras, f'{robot.prefix}/camera')
    return {robot.prefix: robot for robot in found}


def _global_cameras(place: Place) -> dict[str, CameraInfo]:
    found = {name: read_lenient(CameraInfo, item, name) for name, item in place.mapping().items()}
    _name_topics(found, 'camera')
    return found


def _name_topics(cameras: dict[str, CameraInfo], stem: str) -> None:
    """Fill in the default topics of cameras without one."""
    for name, camera in cameras.items():
        if not camera.topic:
            cameras[name] = replace(camera, topic=f'{stem}/{name}')


def _without_copies(place: Place) -> dict[str, Any]:
    return {name: item for name, item in place.value.items() if name not in _COPIES_OF_THE_MODEL}


@dataclass(slots=True, repr=False)
class Handshake:
    """
    What `hello` returned about the server and its world.

    :ivar ports: TCP ports of ``rpc``, ``state``, ``control``, ``info``; stock servers report none.
    :ivar depth_unit: unit of depth images; ``cm`` on stock servers.
    :ivar timestep: seconds, None when not reported (`model` has it too).
    :ivar qpos_joints: compiled names of all joints in the order of qpos, that of pushed vectors;
        empty on stock servers (`model` has it too).
    :ivar start_qpos: positions after a reset; empty when they are the model's qpos0, or not
        reported.
    :ivar divergence: as in `StepResult`, at the time of the handshake.
    :ivar mjb: the compiled model, empty without a running world.
    :ivar mjcf_compiled: the model as XML, only after ``connect(include_assets=True)``.
    :ivar vfs_assets: the files that this XML names, by bare name.
    :ivar tables: result of `client.model.read_world`, None before its first call.
    :ivar raw: the whole reply without the base64 copy of the model.
    """

    session_id: str = key(check=lambda session: '' if session else 'must not be empty')
    urlab_version: str = ''
    mujoco_version: str = ''
    manager_present: bool = True
    shm_session_dir: str = ''
    articulations: dict[str, Articulation] = key(factory=dict, parse=_articulations)
    entities: dict[str, Entity] = key(factory=dict)
    global_cameras: dict[str, CameraInfo] = key(factory=dict, parse=_global_cameras)
    depth_unit: str = 'cm'
    extensions: frozenset[str] = frozenset()
    ports: dict[str, int] = key(factory=dict)
    timestep: float | None = None
    world: str = ''
    divergence: Divergence | None = None
    mjb: bytes = key(b'', repr=False)
    mjcf_compiled: str = key('', repr=False)
    vfs_assets: dict[str, bytes] = key(factory=dict, repr=False)
    raw: dict[str, Any] = key(factory=dict, takes='whole', parse=_without_copies, repr=False)
    qpos_joints: tuple[str, ...] = key((), repr=False)
    start_qpos: tuple[float, ...] = key((), repr=False)
    tables: Any = field(default=None, init=False, repr=False, compare=False)
    _model: Any = field(default=None, init=False, repr=False, compare=False)

    def __repr__(self) -> str:
        """Return the versions, the world and its contents."""
        parts = [f'{self.urlab_version} with MuJoCo {self.mujoco_version}']
        if not self.manager_present:
            parts.append('no world is running')
        elif self.world:
            parts.append(f'world {self.world}')
        cameras = [name for robot in self.articulations.values() for name in robot.cameras]
        for word, names in (
            ('articulations', list(self.articulations)),
            ('entities', list(self.entities)),
            ('cameras', [*cameras, *self.global_cameras]),
        ):
            if names:
                parts.append(f'{word}: {listed(names)}')
        return f'<Handshake of {"; ".join(parts)}>'

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


def parse_handshake(reply: dict[str, Any]) -> Handshake:
    """
    Read a `hello_ok` reply (also the `handshake_payload` of `begin_pie`).

    :raises MalformedReply: for a reply without session id, or with a field of the wrong kind.
    """
    return read_reply(Handshake, reply, 'hello_ok')


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
        raise ModelUnavailable(
            f'the package mujoco is not installed ({error}): run "urlab setup"'
        ) from error
    if version and version != mujoco.__version__:
        raise ModelUnavailable(
            f'the server runs MuJoCo {version}, this process has '
            f'{mujoco.__version__}; install mujoco=={version}'
        )
    try:
        return mujoco.MjModel.from_binary_path(MODEL_FILE, {MODEL_FILE: mjb})
    except (ValueError, mujoco.FatalError) as error:
        raise ModelUnavailable(f'MuJoCo cannot load the compiled model: {error}') from error
