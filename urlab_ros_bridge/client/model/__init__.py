# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The compiled model that came with the handshake, as the tables of `urlab_ros_bridge.model`.

Users of the tables need no MuJoCo; `kinematics.LocalModel`, which poses the model, does.
"""

from urlab_ros_bridge.client.replies.handshake import Handshake
from urlab_ros_bridge.model import Actuator
from urlab_ros_bridge.model import Body
from urlab_ros_bridge.model import Camera
from urlab_ros_bridge.model import Chain
from urlab_ros_bridge.model import Coupling
from urlab_ros_bridge.model import Element
from urlab_ros_bridge.model import FIRST_HIDDEN_GROUP
from urlab_ros_bridge.model import Geom
from urlab_ros_bridge.model import Joint
from urlab_ros_bridge.model import RobotModel
from urlab_ros_bridge.model import Sensor
from urlab_ros_bridge.model import Site
from urlab_ros_bridge.model import Tendon
from urlab_ros_bridge.model import WorldModel
from urlab_ros_bridge.wire.errors import UnknownName


def read_world(handshake: Handshake) -> WorldModel:
    """
    Read the model of a handshake, once.

    :raises ModelUnavailable: when it cannot be loaded here, see `Handshake.model`.
    """
    if handshake.tables is None:
        robots = handshake.articulations
        kinds = {prefix: robot.actuator_types for prefix, robot in robots.items()}
        handshake.tables = WorldModel(handshake.model, robots, kinds)
    world: WorldModel = handshake.tables
    return world


def read_robot(handshake: Handshake, prefix: str) -> RobotModel:
    """
    Read one articulation of a handshake.

    :raises UnknownName: when there is no such articulation.
    :raises ModelUnavailable: when the model cannot be loaded here, see `Handshake.model`.
    """
    if prefix not in handshake.articulations:
        raise UnknownName('articulation', prefix, handshake.articulations)
    actor_id = handshake.articulations[prefix].actor_id
    return RobotModel(prefix, read_world(handshake), actor_id=actor_id)


__all__ = [
    'FIRST_HIDDEN_GROUP',
    'Actuator',
    'Body',
    'Camera',
    'Chain',
    'Coupling',
    'Element',
    'Geom',
    'Joint',
    'RobotModel',
    'Sensor',
    'Site',
    'Tendon',
    'WorldModel',
    'read_robot',
    'read_world',
]
