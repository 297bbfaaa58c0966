# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Markers for RViz and Foxglove: scene, entities, contacts and debug drawings.

All are visualization_msgs/MarkerArray below ``markers/``, in one frame with the world's origin.
"""

from urlab_ros_bridge.ros.topics.markers.contacts import contact_markers
from urlab_ros_bridge.ros.topics.markers.drawings import drawing_markers
from urlab_ros_bridge.ros.topics.markers.messages import MarkersTemplate
from urlab_ros_bridge.ros.topics.markers.scene import SceneTopic

__all__ = [
    'MarkersTemplate',
    'SceneTopic',
    'contact_markers',
    'drawing_markers',
]
