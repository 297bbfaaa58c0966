# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""One robot as gateways command it: its model and its description by the server."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from urlab_ros_bridge.client.model import read_robot
from urlab_ros_bridge.client.replies.handshake import Articulation
from urlab_ros_bridge.client.replies.handshake import Handshake
from urlab_ros_bridge.gateways.errors import RobotError
from urlab_ros_bridge.model import Actuator
from urlab_ros_bridge.model import Joint
from urlab_ros_bridge.model import RobotModel
from urlab_ros_bridge.wire.errors import UnknownName

WORLD = 'world'


class FrameName(NamedTuple):
    """A body or site: ``body`` or ``site``, and its compiled name."""

    kind: str
    name: str


@dataclass(frozen=True)
class ActuatedRobot(RobotModel):
    """
    One articulation that can be commanded.

    :ivar description: of the handshake.
    """

    description: Articulation

    @cached_property
    def actuators(self) -> Mapping[str, Actuator]:
        """Local name -> actuator; one without a kind from the server is a motor."""
        return {
            name: actuator if actuator.kind else replace(actuator, kind='motor')
            for name, actuator in super().actuators.items()
        }

    @property
    def has_controller(self) -> bool:
        """Return whether setpoints are joint positions that a controller follows."""
        return self.description.controller.get('kind') == 'pd'

    @property
    def base_name(self) -> str:
        """Return the compiled name of the base, ``world`` when the robot has no body."""
        named = self.description.frames.get('base', '')
        return self.compiled(named) if named in self.bodies else self.base.compiled

    def frame(self, name: str) -> FrameName:
        """
        Return a site or body by its local or compiled name, or ``world``.

        :raises UnknownName: when there is neither.
        """
        for kind, own in (('site', self.sites), ('body', self.bodies)):
            if name in own:
                return FrameName(kind, self.compiled(name))
        for kind, elements in (('site', self.world.sites), ('body', self.world.bodies)):
            if name and any(element.compiled == name for element in elements):
                return FrameName(kind, name)
        raise UnknownName('body or site', name, [*self.sites, *self.bodies])

    def actuators_of(self, joints: Iterable[Joint]) -> list[Actuator]:
        """
        Return the actuator of each joint.

        :raises RobotError: when a joint has none.
        """
        by_joint = {a.joint: a for a in self.actuators.values() if a.joint}
        found = []
        for joint in joints:
            if joint.name not in by_joint:
                raise RobotError(
                    f'joint {joint.name!r} of {self.prefix} has no actuator; driven are: '
                    + (', '.join(by_joint) or 'none')
                )
            found.append(by_joint[joint.name])
        return found

    def setpoints_of(self, actuators: Iterable[Actuator]) -> list[Actuator]:
        """Return actuators with the gear of their setpoint; a controller takes bare angles."""
        return [replace(a, gear=1.0) if self.has_controller else a for a in actuators]

    def moving_joints(self, frame: FrameName) -> list[Joint]:
        """Return the driven joints between the world and a frame, from the base on."""
        if frame.kind == 'site':
            body = next(site.body for site in self.world.sites if site.compiled == frame.name)
        else:
            body = next(body.id for body in self.world.bodies if body.compiled == frame.name)
        above = {ancestor.id for ancestor in self.world.lineage(body)}
        driven = {actuator.joint for actuator in self.actuators.values()}
        return [j for j in self.joints.values() if j.body in above and j.name in driven]


def read_actuated_robot(handshake: Handshake, prefix: str) -> ActuatedRobot:
    """
    Read one articulation of a handshake.

    :raises UnknownName: when there is no such articulation.
    :raises ModelUnavailable: without a model.
    """
    model = read_robot(handshake, prefix)
    return ActuatedRobot(model.prefix, model.world, handshake.articulations[prefix])


__all__ = ['WORLD', 'ActuatedRobot', 'FrameName', 'read_actuated_robot']
