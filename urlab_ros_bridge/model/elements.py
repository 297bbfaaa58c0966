# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The elements of a compiled model as plain data.

`name` is the name inside the articulation `prefix`; an element with an empty prefix belongs to
the scenery, and its name is the compiled one.  `id` is MuJoCo's.  Units are m, rad, kg, N, N m;
poses have quaternions x y z w and are those of the reference configuration.  Kinds are MuJoCo's
constants without their beginning, in lower case: ``hinge`` for ``mjJNT_HINGE``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import math

from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.geometry import Vector
from urlab_ros_bridge.wire.names import compiled_name

FREE, BALL, SLIDE, HINGE = 'free', 'ball', 'slide', 'hinge'
QPOS_WIDTHS = {FREE: 7, BALL: 4, SLIDE: 1, HINGE: 1}
DOF_WIDTHS = {FREE: 6, BALL: 3, SLIDE: 1, HINGE: 1}

# MuJoCo's viewer hides groups of geoms, sites and skins from here on.
FIRST_HIDDEN_GROUP = 3

# Lower and upper bound; without a limit they are infinite.
Range = tuple[float, float]
UNLIMITED: Range = (-math.inf, math.inf)


@dataclass(frozen=True, slots=True)
class Element:
    """The fields of every element."""

    id: int
    name: str
    prefix: str

    @property
    def compiled(self) -> str:
        """The name in the compiled model."""
        return compiled_name(self.prefix, self.name)


@dataclass(frozen=True, slots=True)
class Body(Element):
    """
    A body.

    :ivar parent: id of the parent; the world, id 0, is its own.
    :ivar root: id of the ancestor whose parent is the world.
    :ivar weld: id of the highest ancestor that it is fixed to, its own when it moves.
    :ivar pose: in the parent, without the body's joints.
    :ivar joints: ids of the joints that move it in its parent, in order.
    :ivar dofs: number of degrees of freedom of these.
    :ivar mocap_id: its row in mocap_pos and mocap_quat, -1 unless clients move it.
    :ivar mass: kg; 0 for a body that has none.
    :ivar inertial: pose of the inertial frame; `inertia` are the moments about its axes, kg m^2.
    """

    parent: int
    root: int
    weld: int
    pose: Pose
    joints: tuple[int, ...]
    dofs: int
    mocap_id: int
    mass: float
    inertial: Pose
    inertia: Vector

    @property
    def mocap(self) -> bool:
        """Whether clients move it."""
        return self.mocap_id >= 0

    @property
    def moves(self) -> bool:
        """Whether its pose in the parent can change."""
        return self.dofs > 0 or self.mocap


@dataclass(frozen=True, slots=True)
class Joint(Element):
    """
    A joint.

    :ivar kind: ``free``, ``ball``, ``slide`` or ``hinge``.
    :ivar body: id of the body that it moves.
    :ivar slot: its first place in the articulation's qpos; `dof` in the articulation's qvel.
    :ivar qpos_address: its first place in the qpos of the whole model; `dof_address` in its qvel.
    :ivar anchor: where it is in the body; `axis` its direction there, of length one.
    :ivar zero: position in the reference configuration, of a hinge or slide.
    :ivar range: limits of the position, of a hinge or slide.
    :ivar effort_range: limits of the total actuator force on it (actuatorfrcrange).
    :ivar damping: N m s/rad or N s/m; `friction` N m or N.
    """

    kind: str
    body: int
    slot: int
    dof: int
    qpos_address: int
    dof_address: int
    anchor: Vector
    axis: Vector
    zero: float
    range: Range
    effort_range: Range
    damping: float
    friction: float

    @property
    def width(self) -> int:
        """Number of its values in qpos."""
        return QPOS_WIDTHS[self.kind]

    @property
    def qpos_slots(self) -> slice:
        """Its slots in the qpos of the whole model."""
        return slice(self.qpos_address, self.qpos_address + QPOS_WIDTHS[self.kind])

    @property
    def dof_slots(self) -> slice:
        """Its slots in the qvel of the whole model."""
        return slice(self.dof_address, self.dof_address + DOF_WIDTHS[self.kind])

    @property
    def is_scalar(self) -> bool:
        """Whether it is a hinge or slide, whose position is one number."""
        return self.kind in (HINGE, SLIDE)

    @property
    def limited(self) -> bool:
        """Whether its position has limits."""
        return self.range != UNLIMITED


@dataclass(frozen=True, slots=True)
class Site(Element):
    """A site and its pose in its body."""

    body: int
    pose: Pose


@dataclass(frozen=True, slots=True)
class Geom(Element):
    """
    A geom.

    :ivar kind: ``box``, ``sphere``, ``capsule``, ``cylinder``, ``ellipsoid``, ``plane``, ``mesh``,
        ``hfield``, ``sdf``.
    :ivar pose: in its body.
    :ivar size: as in MJCF: radius, half lengths; of a mesh those of its bounding box.
    :ivar group: viewers show groups 0 to 2.
    :ivar collides: whether it touches anything.
    :ivar rgba: its own colour; `material` is the id of its material, -1 for none.
    :ivar data: id of its mesh or height field, -1 for none.
    """

    body: int
    kind: str
    pose: Pose
    size: Vector
    group: int
    collides: bool
    rgba: tuple[float, float, float, float]
    material: int
    data: int


@dataclass(frozen=True, slots=True)
class Camera(Element):
    """
    A camera of the model; its optical axis is -z, y is up.

    :ivar mode: ``fixed``, or how it follows something: then `pose` is not constant.
    :ivar pose: in its body.
    :ivar fovy: vertical field of view in degrees.
    """

    body: int
    mode: str
    pose: Pose
    fovy: float

    @property
    def is_fixed(self) -> bool:
        """Whether it keeps its pose in its body."""
        return self.mode == 'fixed'


@dataclass(frozen=True, slots=True)
class Actuator(Element):
    """
    An actuator.

    :ivar index: its place in the articulation's ctrl.
    :ivar kind: ``position``, ``velocity``, ``motor``, ... of the handshake, '' when not reported.
    :ivar transmission: ``joint``, ``tendon``, ``site``, ...
    :ivar joint: local name of the joint of the same articulation that it drives, else empty.
    :ivar joint_id: id of the joint that it drives, -1 for another transmission.
    :ivar tendon_id: id of the tendon that it drives, -1 for another transmission.
    :ivar gear: of the transmission, its first component.
    :ivar control_range: limits of the control.
    :ivar force_range: limits of its force, before the gear.
    :ivar activation_range: limits of its activation; `activation_slots` its slots in the act of
        the whole model, empty without an activation.
    :ivar dynamics, gain, bias: kinds of its activation dynamics, gain and bias; ``none``,
        ``fixed``, ``affine``, ...
    :ivar dynamics_params, gain_params, bias_params: the beginnings of their parameters.
    """

    index: int
    kind: str
    transmission: str
    joint: str
    joint_id: int
    tendon_id: int
    gear: float
    control_range: Range
    force_range: Range
    activation_range: Range
    activation_slots: slice
    dynamics: str
    gain: str
    bias: str
    dynamics_params: Vector
    gain_params: Vector
    bias_params: Vector

    @property
    def low(self) -> float:
        """Smallest control, -inf without a limit."""
        return self.control_range[0]

    @property
    def high(self) -> float:
        """Largest control, inf without a limit."""
        return self.control_range[1]

    @property
    def authored_kind(self) -> str:
        """
        The MJCF element that it was probably written as, from its gain, bias and dynamics.

        Every one compiles to <general>; one that fits none of the shortcuts is a ``motor``, as for
        stock servers.
        """
        gain, (_, bias1, bias2) = self.gain_params[0], self.bias_params
        if self.transmission == 'body':
            return 'adhesion'
        if self.gain == 'muscle':
            return 'muscle'
        if self.gain == 'affine' and self.dynamics == 'none':
            return 'damper'
        if self.bias != 'affine':
            return 'motor'
        if gain != 0 and math.isclose(bias1, -gain):
            return 'intvelocity' if self.dynamics == 'integrator' else 'position'
        if gain != 0 and bias1 == 0 and math.isclose(bias2, -gain):
            return 'velocity'
        return 'cylinder' if self.dynamics == 'filter' else 'motor'


@dataclass(frozen=True, slots=True)
class Tendon(Element):
    """
    A tendon.

    :ivar joints: of a fixed tendon: ids of joints -> coefficients, its length is their weighted
        sum; empty for a spatial tendon, whose length is a way in space.
    :ivar force_range: limits of the total actuator force on it.
    """

    joints: Mapping[int, float]
    force_range: Range

    @property
    def is_fixed(self) -> bool:
        """Whether it is a weighted sum of joints."""
        return bool(self.joints)


@dataclass(frozen=True, slots=True)
class Sensor(Element):
    """
    A sensor.

    :ivar kind: ``gyro``, ``framepos``, ...
    :ivar dim: how many values it has, from `address` on in the model's sensordata.
    :ivar object_kind: ``site``, ``xbody``, ``joint``, ... that it is attached to, '' for none;
        `object_id` its id.
    :ivar reference_kind, reference_id: likewise of its reference frame.
    :ivar cutoff: limit of the reading, 0 without one.
    """

    kind: str
    dim: int
    address: int
    object_kind: str
    object_id: int
    reference_kind: str
    reference_id: int
    cutoff: float

    @property
    def slots(self) -> slice:
        """Its slots in the model's sensordata."""
        return slice(self.address, self.address + self.dim)


@dataclass(frozen=True, slots=True)
class Coupling:
    """
    An equality constraint that makes a joint follow another one.

    With x the leader's distance from its `zero`, the follower is at its own `zero` plus
    c[0] + c[1] x + c[2] x^2 + ...

    :ivar follower, leader: ids of joints.
    :ivar active: whether it holds from the beginning.
    """

    follower: int
    leader: int
    coefficients: tuple[float, ...]
    active: bool
