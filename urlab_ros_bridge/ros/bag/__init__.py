# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Bags: what the bridge publishes and receives, recorded in step with the simulation.

A bag is a folder of MCAP files with the index of rosbag2.  Messages do not go over DDS first: the
recorder gets the bytes that are published, all of them, each with the time of the simulation.
"""

from urlab_ros_bridge.ros.bag.errors import BagError
from urlab_ros_bridge.ros.bag.recorder import BagRecorder
from urlab_ros_bridge.ros.bag.recorder import BagSummary
from urlab_ros_bridge.ros.bag.topics import RecordableNode
from urlab_ros_bridge.ros.bag.topics import RecordableTopics

__all__ = ['BagError', 'BagRecorder', 'BagSummary', 'RecordableNode', 'RecordableTopics']
