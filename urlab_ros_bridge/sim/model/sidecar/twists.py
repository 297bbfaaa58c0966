# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The `twist` of a robot in a sidecar: one section for each kind."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import replace
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


@dataclass(frozen=True, slots=True, kw_only=True)
class DriveLimits(TwistLimits):
    """Limits of a drive."""

    linear: float = key(text='Forward.', unit='m/s', low=0.0)
    lateral: float = key(math.inf, 'Sideways; as linear, 0 for tracks.', unit='m/s', low=0.0)
    angular: float = key(text='Yaw rate.', unit='rad/s', low=0.0)


class TwistSection:
    """One way to execute a commanded twist; names are local."""

    __slots__ = ()
    kind: str
    limits: TwistLimits
    timeout: float | None


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
class DifferentialSection(TwistSection):
    """Wheels on a left and a right track."""

    left: list[str] = key(parse=names)
    right: list[str] = key(parse=names)
    wheel_radius: float = key(unit='m', above=0.0)
    track_width: float = key(unit='m', above=0.0)
    limits: DriveLimits = key()
    axle: float = key(0.0, 'x of the driven axle in the base frame, for odometry.', unit='m')
    timeout: float | None = key(None, unit='s', above=0.0)
    kind: str = key('differential')


@dataclass(frozen=True, slots=True)
class AckermannSection(TwistSection):
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
    axle: float = key(0.0, 'x of the driven axle in the base frame, for odometry.', unit='m')
    timeout: float | None = key(None, unit='s', above=0.0)
    kind: str = key('ackermann')


@dataclass(frozen=True, slots=True)
class OmniSection(TwistSection):
    """Omni or mecanum wheels."""

    wheels: tuple[WheelSection, ...] = key()
    limits: DriveLimits = key()
    timeout: float | None = key(None, unit='s', above=0.0)
    kind: str = key('omni')


@dataclass(frozen=True, slots=True)
class PlanarSection(TwistSection):
    """Two slides and a hinge."""

    x: str = key(parse=text)
    y: str = key(parse=text)
    yaw: str = key(parse=text)
    limits: DriveLimits = key()
    timeout: float | None = key(None, unit='s', above=0.0)
    kind: str = key('planar')


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

    def in_order(self) -> list[LegSection]:
        """Return the legs in the order of the gait."""
        return [self.front_left, self.front_right, self.rear_left, self.rear_right]


@dataclass(frozen=True, slots=True)
class TrotSection(TwistSection):
    """A quadruped that trots."""

    legs: LegsSection = key()
    height: float = key(text='Of the trunk above the centres of the feet.', unit='m', above=0.0)
    limits: DriveLimits = key()
    cycle_time: float = key(0.34, 'Two steps of each foot.', unit='s', low=0.1, high=2.0)
    duty: float = key(0.5, 'Share of it on the ground.', low=0.5, high=0.9)
    step_height: float = key(0.06, unit='m', above=0.0)
    timeout: float | None = key(None, unit='s', above=0.0)
    kind: str = key('trot')


@dataclass(frozen=True, slots=True)
class HeldSection(TwistSection):
    """The command is held for a policy."""

    limits: TwistLimits = key(factory=TwistLimits)
    timeout: float | None = key(None, unit='s', above=0.0)
    kind: str = key(HELD_TWIST)


@dataclass(frozen=True, slots=True)
class RefusedSection(TwistSection):
    """The robot takes no twist."""

    kind: str = key(NO_TWIST)


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


def read_twist(place: Place) -> TwistSection:
    """Read the section of its kind; a drive without a lateral limit gets that of its kind."""
    kind = choice(place.child('kind'), TWIST_KINDS)
    section: Any = read(_SECTIONS[kind], place)
    if isinstance(section, HeldSection | RefusedSection):
        return section
    limits, tracked = section.limits, isinstance(section, DifferentialSection | AckermannSection)
    if limits.lateral == math.inf:
        usual = 0.0 if tracked else limits.linear
        limited: TwistSection = replace(section, limits=replace(limits, lateral=usual))
        return limited
    if tracked and limits.lateral:
        lateral = place.child('limits').child('lateral')
        raise lateral.fail(
            f'must be 0, not {limits.lateral:g}: a drive of kind {kind} cannot move sideways'
        )
    found: TwistSection = section
    return found
