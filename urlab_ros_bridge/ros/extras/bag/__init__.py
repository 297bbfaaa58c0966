# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Bags: published and received messages, recorded in step with the simulation.

A bag is a folder of MCAP files with the metadata of rosbag2.  Messages do not pass through DDS:
the recorder gets all bytes that are published, each with the time of the simulation.
"""

from urlab_ros_bridge.ros.extras.bag.errors import BagError
from urlab_ros_bridge.ros.extras.bag.recorder import BagRecorder
from urlab_ros_bridge.ros.extras.bag.recorder import BagSummary

__all__ = ['BagError', 'BagRecorder', 'BagSummary']
