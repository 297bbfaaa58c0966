# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The compiled model as tables, for server, client, bridge and gateways alike.

`WorldModel` has the elements of the whole model, `RobotModel` those of one articulation by local
name, with their slots in the vectors of MuJoCo.  Users of the tables need no MuJoCo.
"""

from urlab_ros_bridge.model.elements import Actuator
from urlab_ros_bridge.model.elements import Body
from urlab_ros_bridge.model.elements import Camera
from urlab_ros_bridge.model.elements import Coupling
from urlab_ros_bridge.model.elements import Element
from urlab_ros_bridge.model.elements import FIRST_HIDDEN_GROUP
from urlab_ros_bridge.model.elements import Geom
from urlab_ros_bridge.model.elements import Joint
from urlab_ros_bridge.model.elements import Sensor
from urlab_ros_bridge.model.elements import Site
from urlab_ros_bridge.model.elements import Tendon
from urlab_ros_bridge.model.robot import as_index
from urlab_ros_bridge.model.robot import Chain
from urlab_ros_bridge.model.robot import Index
from urlab_ros_bridge.model.robot import RobotModel
from urlab_ros_bridge.model.world import WorldModel

__all__ = [
    'FIRST_HIDDEN_GROUP',
    'Actuator',
    'Body',
    'Camera',
    'Chain',
    'Coupling',
    'Element',
    'Geom',
    'Index',
    'Joint',
    'RobotModel',
    'Sensor',
    'Site',
    'Tendon',
    'WorldModel',
    'as_index',
]
