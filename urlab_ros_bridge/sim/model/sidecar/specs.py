# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The sections of a sidecar, which `sidecar` reads from YAML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
import math
from pathlib import Path
import re
from typing import Any

from urlab_ros_bridge.schema import key
from urlab_ros_bridge.schema import KeyProblem
from urlab_ros_bridge.schema import keys_of
from urlab_ros_bridge.schema import Place
from urlab_ros_bridge.schema import read
from urlab_ros_bridge.schema import shown
from urlab_ros_bridge.sim.model.sidecar.readers import choice
from urlab_ros_bridge.sim.model.sidecar.readers import color
from urlab_ros_bridge.sim.model.sidecar.readers import file
from urlab_ros_bridge.sim.model.sidecar.readers import names
from urlab_ros_bridge.sim.model.sidecar.readers import resolution
from urlab_ros_bridge.sim.model.sidecar.readers import text
from urlab_ros_bridge.sim.model.sidecar.twists import HeldSection
from urlab_ros_bridge.sim.model.sidecar.twists import read_twist
from urlab_ros_bridge.sim.model.sidecar.twists import TwistSection
from urlab_ros_bridge.wire.names import prefix_problem
from urlab_ros_bridge.wire.ops import CAMERA_MODES

SHAPES = ('box', 'sphere', 'cylinder', 'plane', 'mesh')
PHYSICS = ('none', 'static', 'dynamic', 'mocap')
LIGHT_KINDS = ('directional', 'point', 'spot')
MESH_ENDINGS = ('.obj', '.stl')
MAX_LATENCY = 10.0  # s; every state on its way is held in memory
MAX_SAMPLES = 16
MAX_SEED = 2**31 - 1
MAX_SCAN = 10_000  # rays
MAX_RINGS = 256

_TOPIC = re.compile(r'[A-Za-z_]\w*(/[A-Za-z_]\w*)*', re.ASCII)
_NAME = re.compile(r'[A-Za-z0-9_][A-Za-z0-9_.-]*')
_FULL_TURN = 2 * math.pi * (1 + 1e-9)
_UPRIGHT = math.pi / 2 * (1 + 1e-9)
_UNIT = 1e-12  # a quaternion this near to length 1 is left as it is


def _name_problem(name: str) -> str:
    if _NAME.fullmatch(name):
        return ''
    return f'{shown(name)} must contain only letters, digits, _ . and -'


def _topic_problem(topic: str) -> str:
    if not topic or _TOPIC.fullmatch(topic):
        return ''
    return f'{shown(topic)} is not a topic name: letters, digits, _ and /, without a leading slash'


def _checked_prefix(prefix: str) -> str:
    return prefix_problem(prefix) or ''


def _frames(place: Place) -> dict[str, str]:
    found = {name: text(item) for name, item in place.mapping().items()}
    for name, item in place.mapping().items():
        if found[name].startswith('/') or not (found[name] and found[name].isprintable()):
            raise item.fail(
                f'{found[name]!r} is not a ROS frame name: it must not be empty, begin with / or '
                'have control characters'
            )
    return found


def _grippers(place: Place) -> dict[str, tuple[str, ...]]:
    return {name: tuple(names(joints)) for name, joints in place.mapping().items()}


@dataclass(frozen=True, slots=True)
class CameraSpec:
    """A camera of the model."""

    mode: str = key('real', 'What it renders.', choices=CAMERA_MODES)
    resolution: tuple[int, int] | None = key(
        None, 'Width and height in pixels; as in the MJCF, else 640 x 480.', parse=resolution
    )
    rate: float = key(30.0, 'Frames per simulated second.', above=0.0, high=1000.0)
    fovy: float | None = key(None, 'Vertical, in degrees; as in the MJCF.', above=0.0, high=179.0)
    latency: float = key(
        0.0, 'Simulated seconds from capture to delivery.', low=0.0, high=MAX_LATENCY
    )
    jitter: float = key(
        0.0, 'Standard deviation of a random delay on top (s).', low=0.0, high=MAX_LATENCY
    )
    seed: int = key(
        0, "Seed of the jitter, together with the camera's name.", low=0, high=MAX_SEED
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class RenderSpec:
    """Rendering quality; None = chosen for the graphics hardware."""

    shadows: bool | None = key(None, 'Whether lights cast shadows.')
    reflections: bool | None = key(None, 'Whether materials reflect.')
    samples: int | None = key(None, 'Multisampling, 0 = off.', low=0, high=MAX_SAMPLES)
    sites: bool = key(False, 'Whether sites are drawn.')


@dataclass(frozen=True, slots=True)
class PoseSpec:
    """A pose."""

    pos: tuple[float, float, float] = key((0.0, 0.0, 0.0), 'x, y, z (m).')
    quat: tuple[float, float, float, float] = key((1.0, 0.0, 0.0, 0.0), 'w, x, y, z.')

    def __post_init__(self) -> None:
        norm = math.hypot(*self.quat)
        if not 1e-6 < norm < 1e6:
            raise KeyProblem('quat', f'{self.quat} is not a rotation: its norm is {norm:g}')
        if abs(norm - 1.0) > _UNIT:
            object.__setattr__(self, 'quat', tuple(part / norm for part in self.quat))


@dataclass(frozen=True, slots=True)
class LidarSpec:
    """
    A scanner: angles in rad (first and last ray), ranges in m, scans per sim second.

    It is planar, or with `rings` a 3-D lidar, whose `rays` are those of each ring.
    """

    angle_min: float = key(text='Of the first ray.', low=-_FULL_TURN, high=_FULL_TURN)
    angle_max: float = key(text='Of the last ray.')
    range_max: float = key(text='The greatest range.')
    range_min: float = key(0.0, 'The smallest range that counts.', low=0.0)
    rate: float = key(10.0, 'Scans per simulated second.', above=0.0, high=10_000.0)
    rays: int | None = key(
        None, 'Of a scanner that the model does not have.', low=1, high=MAX_SCAN
    )
    body: str = key('', 'That carries a scanner with `rays`; default: the first one.')
    pose: PoseSpec = key(factory=PoseSpec, text='Of a scanner with `rays`, in its body.')
    rings: int | None = key(None, 'Of a 3-D lidar.', low=1, high=MAX_RINGS)
    elevation_min: float = key(0.0, 'Of the lowest ring.', low=-_UPRIGHT, high=_UPRIGHT)
    elevation_max: float = key(0.0, 'Of the highest ring.', low=-_UPRIGHT, high=_UPRIGHT)

    def __post_init__(self) -> None:
        if self.rays is None and (self.body or self.pose != PoseSpec()):
            problem = 'rays must be given with body and pose: the model places its own scanners'
            raise KeyProblem('', problem)
        if self.rings is None and (self.elevation_min or self.elevation_max):
            problem = 'rings must be given with elevation_min and elevation_max'
            raise KeyProblem('', problem)
        if self.rings is not None and self.rays is None:
            raise KeyProblem('', 'rays must be given with rings: the rays of each ring')
        if self.elevation_max < self.elevation_min:
            problem = f'must be at least elevation_min, {self.elevation_min:g}'
            raise KeyProblem('elevation_max', problem)
        for name, value, above in (
            ('angle_max', self.angle_max, self.angle_min),
            ('range_max', self.range_max, self.range_min),
        ):
            is_one_ray = name == 'angle_max' and self.rays == 1 and value == above
            if not (value > above or is_one_ray):
                raise KeyProblem(name, f'must be a finite number > {above:g}, not {value:g}')
        if self.angle_max - self.angle_min > _FULL_TURN:
            problem = f'{self.angle_max:g} is more than a full turn after angle_min'
            raise KeyProblem('angle_max', problem)


@dataclass(frozen=True, slots=True)
class NoiseSpec:
    """Noise of one sensor, in the sensor's unit (rad for quaternions)."""

    stddev: float = key(0.0, 'White noise of every sample.', low=0.0)
    relative: float = key(0.0, 'Further white noise, as a share of the value.', low=0.0)
    bias: float = key(
        0.0, 'Standard deviation of a constant offset, drawn at each reset.', low=0.0
    )
    walk: float = key(0.0, 'Random walk of the offset, per square root of a sim second.', low=0.0)
    resolution: float = key(0.0, 'Values are rounded to multiples of it.', low=0.0)
    dropout: float = key(
        0.0, "Share of lost samples: a scanner's ray sees nothing, others repeat.",
        low=0.0, high=1.0,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class SensorTopicSpec:
    """How the ROS bridge publishes a sensor, in place of its own choice."""

    topic: str = key('', 'Below the namespace of the robot.', check=_topic_problem)
    rate: float | None = key(None, 'At most.', unit='Hz', above=0.0, high=10_000.0)


@dataclass(frozen=True, slots=True)
class JointLimitSpec:
    """Limits of a joint that MJCF has no place for, as robot_description reports them."""

    velocity: float | None = key(None, 'rad/s or m/s.', above=0.0)
    effort: float | None = key(None, 'N m or N.', above=0.0)


class Placed:
    """An element with a pose."""

    __slots__ = ()
    pose: PoseSpec

    @property
    def pos(self) -> tuple[float, float, float]:
        """Return the position (m)."""
        return self.pose.pos

    @property
    def quat(self) -> tuple[float, float, float, float]:
        """Return the rotation as wxyz."""
        return self.pose.quat


@dataclass(frozen=True, slots=True)
class PdSection:
    """Parameters of the controller `pd`."""

    kp: dict[str, float] = key(factory=dict, text='By actuator.', low=0.0)
    kv: dict[str, float] = key(factory=dict, text='By actuator.', low=0.0)
    torque_limit: dict[str, float] = key(factory=dict, text='By actuator.', low=0.0)
    default_kp: float = key(100.0, 'Of the other actuators.', low=0.0)
    default_kv: float = key(5.0, 'Of the other actuators.', low=0.0)
    default_torque_limit: float = key(200.0, 'Of the other actuators.', low=0.0)
    actuators: list[str] = key(factory=list, text='Bind these only.', parse=names)
    kind: str = key('pd')


@dataclass(frozen=True, slots=True)
class PassthroughSection:
    """The controller `base` has no parameters."""

    kind: str = key('base')


CONTROLLERS: dict[str, type] = {'pd': PdSection, 'base': PassthroughSection}


def _given(section: type, place: Place) -> dict[str, Any]:
    """Return those values of a section that are given."""
    made: Any = read(section, place)
    given = place.mapping()
    return {
        name: getattr(made, name)
        for name in keys_of(section)
        if name in given and given[name].value is not None
    }


def _controller(place: Place) -> dict[str, Any]:
    return _given(CONTROLLERS[choice(place.child('kind'), CONTROLLERS)], place)


@dataclass(frozen=True, slots=True)
class CovarianceSection:
    """Standard deviations that the ROS messages report."""

    orientation_stddev: float = key(0.0, unit='rad', low=0.0)
    angular_velocity_stddev: float = key(0.0, unit='rad/s', low=0.0)
    linear_acceleration_stddev: float = key(0.0, unit='m/s^2', low=0.0)
    magnetic_field_stddev: float = key(0.0, unit='T', low=0.0)
    pose_stddev: tuple[float, ...] = key(
        (), 'x, y, z (m), about x, y, z (rad).', length=6, low=0.0
    )
    twist_stddev: tuple[float, ...] = key((), 'In the same order, per second.', length=6, low=0.0)


def _covariances(place: Place) -> dict[str, float | tuple[float, ...]]:
    return _given(CovarianceSection, place)


@dataclass(frozen=True, slots=True)
class ArticulationSpec(Placed):
    """One robot: attached to the scene at its pose as "{prefix}_..."."""

    prefix: str = key(text='Prefix of every compiled name of the robot.', check=_checked_prefix)
    model: Path = key(text='MJCF file.', parse=file)
    actor_id: str = key('', 'Name for set_qpos; default: the prefix.', parse=text)
    pose: PoseSpec = key(factory=PoseSpec, text='In the world.')
    controller: dict[str, Any] | None = key(
        None, 'Turns setpoints into controls.', parse=_controller
    )
    twist: TwistSection = key(
        factory=HeldSection, text='How a commanded twist is carried out.', parse=read_twist
    )
    cameras: dict[str, CameraSpec] = key(factory=dict, text='MJCF cameras by name.')
    lidars: dict[str, LidarSpec] = key(factory=dict, text='User sensors by name.')
    frames: dict[str, str] = key(factory=dict, text='ROS frame names.', parse=_frames)
    covariances: dict[str, float | tuple[float, ...]] = key(
        factory=dict, text='Reported by ROS messages.', parse=_covariances
    )
    noise: dict[str, NoiseSpec] = key(factory=dict, text='Of sensors by name.')
    sensor_topics: dict[str, SensorTopicSpec] = key(
        factory=dict, text='Of sensors by the name of their site, or by their own.'
    )
    joint_limits: dict[str, JointLimitSpec] = key(
        factory=dict, text='That robot_description reports, of joints by name.'
    )
    gripper: dict[str, tuple[str, ...]] = key(
        factory=dict, text='Joints of grippers by name.', parse=_grippers
    )

    def __post_init__(self) -> None:
        if not self.actor_id:
            object.__setattr__(self, 'actor_id', self.prefix)


@dataclass(frozen=True, slots=True)
class ObjectSpec(Placed):
    """An object that is not a robot: one body named `name`."""

    name: str = key(text='Of its body.', check=_name_problem)
    shape: str = key(
        text='Of 1 m times `scale`, or a mesh in m times `scale`.', choices=SHAPES
    )  # fmt: skip
    actor_id: str = key('', 'Name for clients; default: the name.', parse=text)
    file: Path | None = key(None, 'Of a mesh: .obj or .stl.', parse=file)
    pose: PoseSpec = key(factory=PoseSpec, text='In the world.')
    scale: tuple[float, float, float] = key((1.0, 1.0, 1.0), 'Along x, y, z.', above=0.0)
    color: tuple[float, ...] = key((0.6, 0.6, 0.6, 1.0), 'RGB or RGBA.', parse=color(3, 4))
    physics: str = key(
        'none', 'Only seen, collides, moves, or is moved (mocap).', choices=PHYSICS
    )  # fmt: skip
    friction: tuple[float, float, float] = key(
        (1.0, 0.005, 0.0001), 'Sliding, torsional, rolling.', low=0.0
    )
    density: float = key(1000.0, 'Used when no mass is given.', unit='kg/m^3', above=0.0)
    mass: float | None = key(None, unit='kg', above=0.0)
    complex_mesh: bool = key(
        False, 'Every connected part of the mesh collides by its own convex hull.'
    )
    coacd_threshold: float | None = key(
        None, 'Kept for editors; parts are the connected ones.', low=0.0
    )

    def __post_init__(self) -> None:
        if not self.actor_id:
            object.__setattr__(self, 'actor_id', self.name)
        if self.shape != 'mesh':
            object.__setattr__(self, 'file', None)
        elif self.file is None:
            raise KeyProblem('', "the key 'file' is missing")
        elif self.file.suffix.lower() not in MESH_ENDINGS:
            raise KeyProblem('file', f'must end in {" or ".join(MESH_ENDINGS)}')


@dataclass(frozen=True, slots=True)
class LightSpec(Placed):
    """A light that shines along the x axis of its pose."""

    name: str = key(text='Of the light.', check=_name_problem)
    actor_id: str = key('', 'Name for clients; default: the name.', parse=text)
    kind: str = key('directional', choices=LIGHT_KINDS)
    pose: PoseSpec = key(factory=PoseSpec, text='In the world.')
    intensity: float = key(5000.0, 'As in the stock editor.', low=0.0)
    color: tuple[float, ...] = key((1.0, 1.0, 1.0), 'RGB.', parse=color(3))

    def __post_init__(self) -> None:
        if not self.actor_id:
            object.__setattr__(self, 'actor_id', self.name)


@dataclass(frozen=True, slots=True)
class WorldSpec:
    """
    A world: the scene file (None = an empty one), the robots in it, the scene's cameras.

    Objects and lights are added to what the scene file has, and a camera named `free_camera`,
    unless that is '', which is moved while the world runs (`CameraRig.free_view`).  What has a
    keyframe named `start_keyframe` starts in it, see `World.restore_start`; a spawned robot in
    that of its own sidecar, `start_keyframes` by prefix.
    """

    scene: Path | None
    articulations: tuple[ArticulationSpec, ...]
    global_cameras: dict[str, CameraSpec]
    source: Path | None
    rendering: RenderSpec = field(default_factory=RenderSpec)
    noise_seed: int = 0
    objects: tuple[ObjectSpec, ...] = ()
    lights: tuple[LightSpec, ...] = ()
    free_camera: str = ''
    start_keyframe: str = ''
    start_keyframes: Mapping[str, str] = field(default_factory=dict)

    @property
    def has_start(self) -> bool:
        """Return whether anything starts in a keyframe."""
        return bool(self.start_keyframe or self.start_keyframes)
