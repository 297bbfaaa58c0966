# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The whole compiled model as tables, and what follows from its tree of bodies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from urlab_ros_bridge.client.model.elements import Actuator
from urlab_ros_bridge.client.model.elements import Body
from urlab_ros_bridge.client.model.elements import Camera
from urlab_ros_bridge.client.model.elements import Coupling
from urlab_ros_bridge.client.model.elements import Element
from urlab_ros_bridge.client.model.elements import Geom
from urlab_ros_bridge.client.model.elements import Joint
from urlab_ros_bridge.client.model.elements import Sensor
from urlab_ros_bridge.client.model.elements import Site
from urlab_ros_bridge.client.model.elements import Tendon
from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.wire.names import Prefixes


@dataclass(frozen=True, slots=True)
class WorldModel:
    """
    All elements; the place in each table is the id.

    :ivar prefixes: of all articulations.
    :ivar bodies: parents before their children; the first one is the world itself.
    :ivar keyframes: bare elements, for their names.
    """

    prefixes: Prefixes
    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    sites: tuple[Site, ...]
    geoms: tuple[Geom, ...]
    cameras: tuple[Camera, ...]
    actuators: tuple[Actuator, ...]
    tendons: tuple[Tendon, ...]
    sensors: tuple[Sensor, ...]
    keyframes: tuple[Element, ...]
    couplings: tuple[Coupling, ...]

    def lineage(self, body: int) -> Iterator[Body]:
        """Return the ancestor of a body that is a child of the world."""
        while body:
            yield self.bodies[body]
            body = self.bodies[body].parent

    def subtree(self, body: int) -> list[Body]:
        """Return a body and all below it, parents first."""
        inside, found = {body}, [self.bodies[body]]
        for other in self.bodies[body + 1 :]:
            if other.parent in inside:
                inside.add(other.id)
                found.append(other)
        return found

    def is_static(self, body: int) -> bool:
        """Whether a body cannot move in the world."""
        return not any(ancestor.moves for ancestor in self.lineage(body))

    def reference_pose(self, body: int, ancestor: int = 0) -> Pose:
        """Return the pose of a body in an ancestor, with all joints as in the reference."""
        pose = Pose()
        for above in self.lineage(body):
            if above.id == ancestor:
                break
            pose = above.pose.then(pose)
        return pose

    def joints_of(self, body: int) -> list[Joint]:
        """Return the joints that move a body in its parent."""
        return [self.joints[joint] for joint in self.bodies[body].joints]
