# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The only reader of the compiled model, for the bridge, the gateways and users of the client.

`read_world` makes plain data of the model that came with the handshake; users of the data
needs no MuJoCo.  `kinematics.LocalModel`, which poses the model, does need it.
"""

from urlab_ros_bridge.client.model.elements import Actuator
from urlab_ros_bridge.client.model.elements import Body
from urlab_ros_bridge.client.model.elements import Camera
from urlab_ros_bridge.client.model.elements import Coupling
from urlab_ros_bridge.client.model.elements import Element
from urlab_ros_bridge.client.model.elements import FIRST_HIDDEN_GROUP
from urlab_ros_bridge.client.model.elements import Geom
from urlab_ros_bridge.client.model.elements import Joint
from urlab_ros_bridge.client.model.elements import Sensor
from urlab_ros_bridge.client.model.elements import Site
from urlab_ros_bridge.client.model.elements import Tendon
from urlab_ros_bridge.client.model.reader import read_elements
from urlab_ros_bridge.client.model.reader import read_world
from urlab_ros_bridge.client.model.robot import Chain
from urlab_ros_bridge.client.model.robot import read_robot
from urlab_ros_bridge.client.model.robot import RobotModel
from urlab_ros_bridge.client.model.world import WorldModel

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
    'read_elements',
    'read_robot',
    'read_world',
]
