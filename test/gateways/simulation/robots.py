# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Two robots with a common start of their prefixes, as other servers may have them."""

from dataclasses import fields

import mujoco

from urlab_ros_bridge.client.replies.handshake import Articulation
from urlab_ros_bridge.gateways.simulation.robot import ActuatedRobot
from urlab_ros_bridge.model import WorldModel

# Prefixes `arm` and `arm_left`: `arm_left_j1` begins with both.
MODEL = """
<mujoco>
  <worldbody>
    <site name="mark"/>
    <body name="arm_base">
      <body name="arm_link"><joint name="arm_j1"/><joint name="arm_idle"/><geom size=".1"/>
        <body name="arm_hand"><joint name="arm_j2"/><geom size=".1"/><site name="arm_tcp"/></body>
        <body name="arm_aside"><joint name="arm_j3"/><geom size=".1"/></body>
      </body>
    </body>
    <body name="arm_left_base">
      <body name="arm_left_link"><joint name="arm_left_j1"/><geom size=".1"/>
        <site name="arm_left_tcp"/></body>
    </body>
  </worldbody>
  <actuator>
    <position name="arm_a1" joint="arm_j1"/><position name="arm_a2" joint="arm_j2"/>
    <motor name="arm_a3" joint="arm_j3" gear="5"/><motor name="arm_left_a1" joint="arm_left_j1"/>
  </actuator>
</mujoco>
"""


def robot(prefix, **more):
    model = mujoco.MjModel.from_xml_string(MODEL)
    empty = dict.fromkeys(field.name for field in fields(Articulation))
    tables = ('controller', 'actuator_types', 'original_names', 'cameras', 'lidars', 'frames')
    description = Articulation(**(empty | {name: {} for name in tables} | more))
    world = WorldModel(model, ['arm', 'arm_left'], {'arm': {'a1': 'position', 'a2': 'position'}})
    return ActuatedRobot(prefix, world, description)
