# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What a sidecar says, as plain frozen values; `sidecar` reads them from YAML."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field
import math
from pathlib import Path


@dataclass(frozen=True, slots=True)
class CameraSpec:
    """
    A camera: what it renders, size [width, height] in pixels, frames per sim second.

    latency: sim seconds from capture to delivery; jitter: standard deviation of what comes on top,
        drawn from a generator that `seed` and the camera's name start.
    """

    mode: str = 'real'
    resolution: tuple[int, int] | None = None  # None = as in the MJCF, else 640 x 480
    rate: float = 30.0
    fovy: float | None = None  # degrees, vertical; None = as in the MJCF
    latency: float = 0.0
    jitter: float = 0.0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class RenderSpec:
    """How much work goes into pictures; None = as fits the graphics hardware."""

    shadows: bool | None = None
    reflections: bool | None = None
    samples: int | None = None  # multisampling, 0 = off
    sites: bool = False


@dataclass(frozen=True, slots=True)
class LidarSpec:
    """A planar scanner: angles in rad (first and last ray), ranges in m, scans per sim second."""

    angle_min: float
    angle_max: float
    range_min: float
    range_max: float
    rate: float


@dataclass(frozen=True, slots=True)
class NoiseSpec:
    """
    Noise of one sensor, in the sensor's unit (rad for quaternions).

    stddev: white noise of every sample; relative: further white noise, as a share of the value;
    bias: standard deviation of a constant offset, drawn at each reset; walk: random walk of that
    offset, per square root of a sim second; resolution: values are rounded to multiples of it;
    dropout: share of samples that are lost: a scanner's ray sees nothing, others repeat.
    """

    stddev: float = 0.0
    relative: float = 0.0
    bias: float = 0.0
    walk: float = 0.0
    resolution: float = 0.0
    dropout: float = 0.0


@dataclass(frozen=True, slots=True)
class TwistLimits:
    """Limits of a twist in the base frame; inf = no limit.  m/s, rad/s, m/s^2, rad/s^2."""

    linear: float
    lateral: float
    angular: float
    linear_acceleration: float = math.inf
    angular_acceleration: float = math.inf


@dataclass(frozen=True, slots=True)
class TwistSpec:
    """
    How a commanded twist becomes actuator setpoints; actuator names are local.

    actuators: differential {left: [..], right: [..]}, omni {wheels: [..]},
        planar {x: .., y: .., yaw: ..}.
    geometry: differential {wheel_radius, track_width} in m, omni {wheels: [{position: (x, y) in
        m, axis: rad, roller: rad, radius: m}]} in the order of the actuators, planar {}.
    timeout: sim seconds after which a twist ends unless a new one came; None = never.
    """

    kind: str
    actuators: dict
    geometry: dict
    limits: TwistLimits
    timeout: float | None = None


@dataclass(frozen=True, slots=True)
class ArticulationSpec:
    """One robot: attached to the scene at `pos` (m) and `quat` (wxyz) as "{prefix}_..."."""

    prefix: str
    actor_id: str
    model: Path
    pos: tuple[float, float, float]
    quat: tuple[float, float, float, float]
    controller: dict | None
    twist: TwistSpec | None
    cameras: dict[str, CameraSpec]
    lidars: dict[str, LidarSpec]
    frames: dict[str, str]
    covariances: dict[str, float | tuple[float, ...]]
    noise: dict[str, NoiseSpec] = field(default_factory=dict)
    grippers: dict[str, tuple[str, ...]] = field(default_factory=dict)  # joints by local name


@dataclass(frozen=True, slots=True)
class ObjectSpec:
    """
    A thing in the world that is no robot: one body named `name`.

    :ivar shape: box, sphere, cylinder or plane of 1 m times `scale`, or mesh (`file`, .obj or
        .stl, in m times `scale`).
    :ivar physics: none (only seen), static (collides), dynamic (moves) or mocap (is moved).
    :ivar complex_mesh: every connected part of the mesh collides by its own convex hull, instead
        of all by one.
    :ivar density: kg/m^3, unless `mass` is given in kg.
    """

    name: str
    actor_id: str
    shape: str
    file: Path | None = None
    pos: tuple[float, float, float] = (0.0, 0.0, 0.0)
    quat: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    color: tuple[float, float, float, float] = (0.6, 0.6, 0.6, 1.0)
    physics: str = 'none'
    friction: tuple[float, float, float] = (1.0, 0.005, 0.0001)
    density: float = 1000.0
    mass: float | None = None
    complex_mesh: bool = False


@dataclass(frozen=True, slots=True)
class LightSpec:
    """A light that shines along the x axis of its pose: directional, point or spot."""

    name: str
    actor_id: str
    kind: str = 'directional'
    pos: tuple[float, float, float] = (0.0, 0.0, 0.0)
    quat: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    intensity: float = 5000.0
    color: tuple[float, float, float] = (1.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True)
class WorldSpec:
    """
    A world: the scene file (None = an empty one), the robots in it, the scene's cameras.

    Objects and lights are added to what the scene file has, and with `viewport` a free camera, see
    `cameras.free`.
    """

    scene: Path | None
    articulations: tuple[ArticulationSpec, ...]
    global_cameras: dict[str, CameraSpec]
    source: Path | None
    rendering: RenderSpec = RenderSpec()
    noise_seed: int = 0
    objects: tuple[ObjectSpec, ...] = ()
    lights: tuple[LightSpec, ...] = ()
    viewport: bool = False
