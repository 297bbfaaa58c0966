# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The ``<ros2_control>`` block of a robot, for the hardware plugin that works by topics."""

from __future__ import annotations

from collections.abc import Container
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
import xml.etree.ElementTree as ElementTree

PLUGIN = 'joint_state_topic_hardware_interface/JointStateTopicSystem'
INTERFACES = ('position', 'velocity', 'effort')
# Relative names: the plugin has the namespace of the controller manager, which reads the
# robot_description of its own namespace.
COMMANDS_TOPIC = 'joint_commands'
STATES_TOPIC = 'ros2_control/joint_states'
# The plugin sends nothing while all joints are within this of their commands.  No joint is within
# less than 0: commands come in every cycle, and their absence means that the controllers are gone.
THRESHOLD = -1.0

_add = ElementTree.SubElement


@dataclass(frozen=True)
class ControlBlock:
    """
    What a block declares.

    :ivar name: of the hardware component.
    :ivar joints: command interfaces of each joint; without any it only has a state.
    :ivar states: state interfaces of all joints.
    """

    name: str
    joints: Mapping[str, Sequence[str]]
    states: Sequence[str]

    def element(self, mimics: Container[str]) -> ElementTree.Element:
        """Return the block of a robot; `mimics`: its joints that follow another in the URDF."""
        block = ElementTree.Element('ros2_control', name=self.name, type='system')
        hardware = _add(block, 'hardware')
        _add(hardware, 'plugin').text = PLUGIN
        _add(hardware, 'param', name='joint_commands_topic').text = COMMANDS_TOPIC
        _add(hardware, 'param', name='joint_states_topic').text = STATES_TOPIC
        _add(hardware, 'param', name='trigger_joint_command_threshold').text = str(THRESHOLD)
        for joint, commands in self.joints.items():
            element = _add(block, 'joint', name=joint)
            if joint in mimics:
                # Otherwise ros2_control computes its state, and refuses command interfaces.
                element.set('mimic', 'false')
            for interface in commands:
                _add(element, 'command_interface', name=interface)
            for interface in self.states:
                _add(element, 'state_interface', name=interface)
        return block
