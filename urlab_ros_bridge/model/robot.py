# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""One articulation of the compiled model: its elements by local name, its base, its chains."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from functools import cached_property
from typing import TypeVar

import numpy as np

from urlab_ros_bridge.model.elements import Actuator
from urlab_ros_bridge.model.elements import Body
from urlab_ros_bridge.model.elements import Camera
from urlab_ros_bridge.model.elements import Element
from urlab_ros_bridge.model.elements import FREE
from urlab_ros_bridge.model.elements import Geom
from urlab_ros_bridge.model.elements import Joint
from urlab_ros_bridge.model.elements import Sensor
from urlab_ros_bridge.model.elements import Site
from urlab_ros_bridge.model.world import WorldModel
from urlab_ros_bridge.wire.errors import UnknownName
from urlab_ros_bridge.wire.errors import UrlabError
from urlab_ros_bridge.wire.names import compiled_name

E = TypeVar('E', bound=Element)
# Slots of one of the model's vectors: a slice gives a view, an array a copy.
Index = slice | np.ndarray


class NotBelow(UrlabError, ValueError):
    """A body is not a descendant of another one, so there is no chain between them."""

    def __init__(self, tip: str, base: str) -> None:
        super().__init__(f'{tip!r} is not a descendant of {base!r}: there is no chain of joints')


@dataclass(frozen=True, slots=True)
class Chain:
    """
    A serial chain.

    :ivar bodies: from the base to the tip, both included.
    :ivar joints: that lie between, the base's own joints excluded, in the same order.
    """

    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]

    @property
    def base(self) -> Body:
        """The body where it begins."""
        return self.bodies[0]

    @property
    def tip(self) -> Body:
        """The body where it ends."""
        return self.bodies[-1]


@dataclass(frozen=True)
class RobotModel:
    """
    One articulation.  All tables are in order of the ids.

    :ivar prefix: empty for a model without prefixes: then everything is the robot's.
    :ivar world: the tables of the whole model, which the ids refer to.
    :ivar actor_id: name of the actor in Unreal, empty when unknown.
    """

    prefix: str
    world: WorldModel
    actor_id: str = field(default='', kw_only=True)

    @cached_property
    def all_joints(self) -> tuple[Joint, ...]:
        """Its joints: their slots, one after the other, are the articulation's qpos."""
        return tuple(joint for joint in self.world.joints if joint.prefix == self.prefix)

    @cached_property
    def joints(self) -> Mapping[str, Joint]:
        """Local name -> hinge or slide joint."""
        return {joint.name: joint for joint in self.all_joints if joint.is_scalar}

    @cached_property
    def actuators(self) -> Mapping[str, Actuator]:
        """Local name -> actuator."""
        return self._own(self.world.actuators)

    @cached_property
    def sensors(self) -> Mapping[str, Sensor]:
        """Local name -> sensor."""
        return self._own(self.world.sensors)

    @cached_property
    def bodies(self) -> Mapping[str, Body]:
        """Local name -> body."""
        return self._own(self.world.bodies[1:])

    @property
    def first_body(self) -> Body | None:
        """The body with the lowest id, None without bodies."""
        return next(iter(self.bodies.values()), None)

    @cached_property
    def sites(self) -> Mapping[str, Site]:
        """Local name -> site."""
        return self._own(self.world.sites)

    @cached_property
    def geoms(self) -> tuple[Geom, ...]:
        """All geoms of its bodies, with and without names."""
        own = {body.id for body in self.bodies.values()}
        return tuple(geom for geom in self.world.geoms if geom.body in own)

    @cached_property
    def cameras(self) -> Mapping[str, Camera]:
        """Local name -> camera of the model, streamed or not."""
        return self._own(self.world.cameras)

    @cached_property
    def keyframes(self) -> Mapping[str, int]:
        """Local name -> id of a keyframe."""
        return {name: key.id for name, key in self._own(self.world.keyframes).items()}

    @cached_property
    def qpos(self) -> Index:
        """Slots of its joints in the model's qpos, concatenated in order of joint id."""
        return _joined(joint.qpos_slots for joint in self.all_joints)

    @cached_property
    def qvel(self) -> Index:
        """Slots of its joints in the model's qvel, likewise."""
        return _joined(joint.dof_slots for joint in self.all_joints)

    @cached_property
    def scalar_dofs(self) -> Index:
        """Slots of its hinges and slides in the model's qvel."""
        return as_index([joint.dof_address for joint in self.joints.values()])

    @cached_property
    def ctrl(self) -> Index:
        """Slots of its actuators in the model's ctrl and actuator_force."""
        return as_index([actuator.id for actuator in self.actuators.values()])

    @cached_property
    def nq(self) -> int:
        """Length of its qpos."""
        return sum(joint.width for joint in self.all_joints)

    @property
    def nu(self) -> int:
        """Number of its actuators."""
        return len(self.actuators)

    @property
    def starts_free(self) -> bool:
        """Whether its first joint is a free one."""
        return bool(self.all_joints) and self.all_joints[0].kind == FREE

    @cached_property
    def root(self) -> Body | None:
        """
        The body directly in the world that carries most of the joints; None without bodies.

        A free joint alone does not count: objects that a robot handles have one too.
        """
        counts: dict[int, int] = {}
        for body in self.bodies.values():
            joints = self.world.joints_of(body.id)
            few = len(joints) == 1 and joints[0].kind == FREE
            counts[body.root] = counts.get(body.root, 0) + (0 if few else len(joints))
        return self.world.bodies[max(counts, key=counts.__getitem__)] if counts else None

    @cached_property
    def base_joint(self) -> Joint | None:
        """The free joint that carries the robot; None for a robot that is fixed to the world."""
        root = -1 if self.root is None else self.root.id
        for joint in self.all_joints:
            if joint.kind == FREE and self.world.bodies[joint.body].root == root:
                return joint
        return None

    @property
    def free(self) -> int | None:
        """Slot of the free base in the articulation's qpos, None for a fixed base."""
        return None if self.base_joint is None else self.base_joint.slot

    @cached_property
    def base(self) -> Body:
        """The body that carries all others; the world for a robot without bodies."""
        if self.base_joint is not None:
            return self.world.bodies[self.base_joint.body]
        if self.root is None:
            return self.world.bodies[0]
        return next(body for body in self.bodies.values() if body.root == self.root.id)

    @cached_property
    def chains(self) -> tuple[Chain, ...]:
        """The chains from the base to each body with a joint that carries no further joint."""
        bodies = [body for body in self.world.subtree(self.base.id)[1:] if body.dofs]
        inner = {above.id for body in bodies for above in self.world.lineage(body.parent)}
        return tuple(self._chain(self.base, body) for body in bodies if body.id not in inner)

    def chain(self, tip: str, base: str = '') -> Chain:
        """
        Return the chain of joints from one body or site to another one.

        :param tip, base: local names; the base may be left out.
        :raises UnknownName: for a name that is neither a body nor a site.
        :raises NotBelow: when the tip does not hang from the base.
        """
        begin = self.body_of(base) if base else self.base
        return self._chain(begin, self.body_of(tip))

    def body_of(self, name: str) -> Body:
        """
        Return a body, or the body that carries a site, by local name.

        :raises UnknownName: when there is neither.
        """
        if name in self.bodies:
            return self.bodies[name]
        if name in self.sites:
            return self.world.bodies[self.sites[name].body]
        raise UnknownName('body or site', name, [*self.bodies, *self.sites])

    def need_joints(self, names: Iterable[str] | None = None) -> list[Joint]:
        """
        Return joints by name; None means all.

        :raises UnknownName: for a name that is not a hinge or slide joint.
        """
        return _need('joint', self.joints, names)

    def need_actuators(self, names: Iterable[str] | None = None) -> list[Actuator]:
        """
        Return actuators by name; None means all.

        :raises UnknownName: for a name that is not an actuator.
        """
        return _need('actuator', self.actuators, names)

    def compiled(self, name: str) -> str:
        """Return the compiled name of a local one."""
        return compiled_name(self.prefix, name)

    def name_of(self, element: Element) -> str:
        """Return the local name of an element of this articulation, else the compiled one."""
        return element.name if element.prefix == self.prefix else element.compiled

    def local(self, compiled: str) -> str:
        """Return the local name for a compiled one of this articulation, else the same name."""
        name = self.world.prefixes.local(self.prefix, compiled)
        return compiled if name is None else name

    def _own(self, elements: Iterable[E]) -> dict[str, E]:
        return {e.name: e for e in elements if e.prefix == self.prefix and e.name}

    def _chain(self, base: Body, tip: Body) -> Chain:
        bodies = [tip]
        while bodies[-1].id != base.id:
            if not bodies[-1].id:
                raise NotBelow(self.name_of(tip), self.name_of(base))
            bodies.append(self.world.bodies[bodies[-1].parent])
        bodies.reverse()
        joints = [joint for body in bodies[1:] for joint in self.world.joints_of(body.id)]
        return Chain(tuple(bodies), tuple(joints))


def as_index(slots: Sequence[int]) -> Index:
    """Return a slice when the slots are contiguous, else an index array."""
    if slots and list(slots) == list(range(slots[0], slots[0] + len(slots))):
        return slice(slots[0], slots[0] + len(slots))
    return np.array(slots, dtype=np.intp)


def _joined(parts: Iterable[slice]) -> Index:
    return as_index([slot for part in parts for slot in range(part.start, part.stop)])


def _need(kind: str, table: Mapping[str, E], names: Iterable[str] | None) -> list[E]:
    chosen = list(table) if names is None else list(names)
    for name in chosen:
        if name not in table:
            raise UnknownName(kind, name, table)
    return [table[name] for name in chosen]
