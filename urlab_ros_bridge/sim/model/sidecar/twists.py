# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The `twist` of a robot in a sidecar: one section for each kind."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field
import math
from typing import Any

from urlab_ros_bridge.schema import key
from urlab_ros_bridge.schema import Place
from urlab_ros_bridge.schema import read
from urlab_ros_bridge.sim.model.sidecar.readers import choice
from urlab_ros_bridge.sim.model.sidecar.readers import names
from urlab_ros_bridge.sim.model.sidecar.readers import text

HELD_TWIST = 'command'
NO_TWIST = 'none'


@dataclass(frozen=True, slots=True)
class TwistLimits:
    """Limits of a twist in the base frame; inf = no limit.  m/s, rad/s, m/s^2, rad/s^2."""

    linear: float = key(math.inf, 'Forward.', unit='m/s', low=0.0)
    lateral: float = key(math.inf, 'Sideways.', unit='m/s', low=0.0)
    angular: float = key(math.inf, 'Yaw rate.', unit='rad/s', low=0.0)
    linear_acceleration: float = key(math.inf, unit='m/s^2', above=0.0)
    angular_acceleration: float = key(math.inf, unit='rad/s^2', above=0.0)


@dataclass(frozen=True, slots=True)
class TwistSpec:
    """
    How a commanded twist is executed; actuator names are local.

    kind: a drive, `command` (it is held for a policy to act on), or `none` (it is refused).
    actuators: differential {left: [..], right: [..]}, ackermann the same and {left_steering: ..,
        right_steering: ..}, omni {wheels: [..]}, planar {x: .., y: .., yaw: ..}, trot {legs: hip,
        thigh and calf of each leg, feet: geoms}.
    geometry: differential {wheel_radius, track_width} in m, ackermann the same and {wheelbase: m,
        steering_limit: rad}, omni {wheels: [{position: (x, y) in m, axis: rad, roller: rad,
        radius: m}]} in the order of the actuators, planar {}, trot the fields of GaitSettings.
    timeout: sim seconds after which a twist ends unless a new one came; None = never.
    """

    kind: str = HELD_TWIST
    actuators: dict[str, Any] = field(default_factory=dict)
    geometry: dict[str, Any] = field(default_factory=dict)
    limits: TwistLimits = field(default_factory=TwistLimits)
    timeout: float | None = None


@dataclass(frozen=True, slots=True)
class DriveLimits:
    """Limits of a drive."""

    linear: float = key(text='Forward.', unit='m/s', low=0.0)
    angular: float = key(text='Yaw rate.', unit='rad/s', low=0.0)
    lateral: float | None = key(None, 'Sideways; as linear.', unit='m/s', low=0.0)
    linear_acceleration: float = key(math.inf, unit='m/s^2', above=0.0)
    angular_acceleration: float = key(math.inf, unit='rad/s^2', above=0.0)

    def twist_limits(self, lateral: float) -> TwistLimits:
        """Return the limits with `lateral` where none is given."""
        return TwistLimits(
            self.linear,
            lateral if self.lateral is None else self.lateral,
            self.angular,
            self.linear_acceleration,
            self.angular_acceleration,
        )


@dataclass(frozen=True, slots=True)
class WheelSection:
    """A wheel of an omnidirectional drive."""

    actuator: str = key(parse=text)
    position: tuple[float, float] = key(text='x, y in the base frame.', unit='m')
    axis: float = key(text='Angle of the hinge axis.', unit='rad')
    radius: float = key(unit='m', above=0.0)
    # At 90 degrees the rollers would turn with the wheel, and it could not push at all.
    roller: float = key(0.0, 'Angle of the rollers.', unit='rad', low=-1.4, high=1.4)


@dataclass(frozen=True, slots=True)
class DifferentialSection:
    """Wheels on a left and a right track."""

    left: list[str] = key(parse=names)
    right: list[str] = key(parse=names)
    wheel_radius: float = key(unit='m', above=0.0)
    track_width: float = key(unit='m', above=0.0)
    limits: DriveLimits = key()
    timeout: float | None = key(None, unit='s', above=0.0)
    kind: str = key('differential')

    def spec(self) -> TwistSpec:
        """Return the description of this drive."""
        geometry = {'wheel_radius': self.wheel_radius, 'track_width': self.track_width}
        limits = self.limits.twist_limits(0.0)
        actuators = {'left': self.left, 'right': self.right}
        return TwistSpec(self.kind, actuators, geometry, limits, self.timeout)


@dataclass(frozen=True, slots=True)
class AckermannSection:
    """Driven wheels on one axle, steered wheels on another one."""

    left: list[str] = key(parse=names)
    right: list[str] = key(parse=names)
    left_steering: str = key(parse=text)
    right_steering: str = key(parse=text)
    wheel_radius: float = key(unit='m', above=0.0)
    track_width: float = key(unit='m', above=0.0)
    wheelbase: float = key(text='From the driven to the steered axle.', unit='m', above=0.0)
    limits: DriveLimits = key()
    steering_limit: float = key(
        0.6, 'Of the mean steering angle.', unit='rad', above=0.0, high=1.4
    )
    timeout: float | None = key(None, unit='s', above=0.0)
    kind: str = key('ackermann')

    def spec(self) -> TwistSpec:
        """Return the description of this drive."""
        geometry = {
            'wheel_radius': self.wheel_radius,
            'track_width': self.track_width,
            'wheelbase': self.wheelbase,
            'steering_limit': self.steering_limit,
        }
        actuators = {
            'left': self.left,
            'right': self.right,
            'left_steering': self.left_steering,
            'right_steering': self.right_steering,
        }
        limits = self.limits.twist_limits(0.0)
        return TwistSpec(self.kind, actuators, geometry, limits, self.timeout)


@dataclass(frozen=True, slots=True)
class OmniSection:
    """Omni or mecanum wheels."""

    wheels: tuple[WheelSection, ...] = key()
    limits: DriveLimits = key()
    timeout: float | None = key(None, unit='s', above=0.0)
    kind: str = key('omni')

    def spec(self) -> TwistSpec:
        """Return the description of this drive."""
        wheels = [
            {
                'position': wheel.position,
                'axis': wheel.axis,
                'roller': wheel.roller,
                'radius': wheel.radius,
            }
            for wheel in self.wheels
        ]
        actuators = {'wheels': [wheel.actuator for wheel in self.wheels]}
        limits = self.limits.twist_limits(self.limits.linear)
        return TwistSpec(self.kind, actuators, {'wheels': wheels}, limits, self.timeout)


@dataclass(frozen=True, slots=True)
class PlanarSection:
    """Two slides and a hinge."""

    x: str = key(parse=text)
    y: str = key(parse=text)
    yaw: str = key(parse=text)
    limits: DriveLimits = key()
    timeout: float | None = key(None, unit='s', above=0.0)
    kind: str = key('planar')

    def spec(self) -> TwistSpec:
        """Return the description of this drive."""
        actuators = {'x': self.x, 'y': self.y, 'yaw': self.yaw}
        limits = self.limits.twist_limits(self.limits.linear)
        return TwistSpec(self.kind, actuators, {}, limits, self.timeout)


@dataclass(frozen=True, slots=True)
class LegSection:
    """A leg of a quadruped: actuators of its three joints, and the geom of its foot."""

    hip: str = key(parse=text)
    thigh: str = key(parse=text)
    calf: str = key(parse=text)
    foot: str = key(parse=text)


@dataclass(frozen=True, slots=True)
class LegsSection:
    """The four legs."""

    front_left: LegSection = key()
    front_right: LegSection = key()
    rear_left: LegSection = key()
    rear_right: LegSection = key()


@dataclass(frozen=True, slots=True)
class TrotSection:
    """A quadruped that trots."""

    legs: LegsSection = key()
    height: float = key(text='Of the trunk above the centres of the feet.', unit='m', above=0.0)
    limits: DriveLimits = key()
    cycle_time: float = key(0.34, 'Two steps of each foot.', unit='s', low=0.1, high=2.0)
    duty: float = key(0.5, 'Share of it on the ground.', low=0.5, high=0.9)
    step_height: float = key(0.06, unit='m', above=0.0)
    timeout: float | None = key(None, unit='s', above=0.0)
    kind: str = key('trot')

    def spec(self) -> TwistSpec:
        """Return the description of this drive."""
        legs = self.legs
        legs_in_order = [legs.front_left, legs.front_right, legs.rear_left, legs.rear_right]
        actuators = {
            'legs': [name for leg in legs_in_order for name in (leg.hip, leg.thigh, leg.calf)],
            'feet': [leg.foot for leg in legs_in_order],
        }
        geometry = {
            'height': self.height,
            'cycle_time': self.cycle_time,
            'duty': self.duty,
            'step_height': self.step_height,
        }
        limits = self.limits.twist_limits(self.limits.linear)
        return TwistSpec(self.kind, actuators, geometry, limits, self.timeout)


@dataclass(frozen=True, slots=True)
class HeldSection:
    """The command is held for a policy."""

    limits: TwistLimits = key(factory=TwistLimits)
    timeout: float | None = key(None, unit='s', above=0.0)
    kind: str = key(HELD_TWIST)

    def spec(self) -> TwistSpec:
        """Return the description of this drive."""
        return TwistSpec(self.kind, limits=self.limits, timeout=self.timeout)


@dataclass(frozen=True, slots=True)
class RefusedSection:
    """The robot takes no twist."""

    kind: str = key(NO_TWIST)

    def spec(self) -> TwistSpec:
        """Return that there is none."""
        return TwistSpec(self.kind)


_SECTIONS: dict[str, type[Any]] = {
    'differential': DifferentialSection,
    'ackermann': AckermannSection,
    'omni': OmniSection,
    'planar': PlanarSection,
    'trot': TrotSection,
    HELD_TWIST: HeldSection,
    NO_TWIST: RefusedSection,
}
TWIST_KINDS = tuple(_SECTIONS)


def read_twist(place: Place) -> TwistSpec:
    """Read the section of its kind."""
    kind = choice(place.child('kind'), TWIST_KINDS)
    spec: TwistSpec = read(_SECTIONS[kind], place).spec()
    if kind in ('differential', 'ackermann') and spec.limits.lateral:
        lateral = place.child('limits').child('lateral')
        raise lateral.fail(
            f'must be 0, not {spec.limits.lateral:g}: a drive of kind {kind} cannot move sideways'
        )
    return spec
