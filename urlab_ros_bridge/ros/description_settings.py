# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The parameters of robot descriptions, transforms of links, and markers."""

from __future__ import annotations

from dataclasses import dataclass

from urlab_ros_bridge.ros.setting_row import parameter

GROUP = 'Robot description and markers'


@dataclass(frozen=True)
class DescriptionSettings:
    """A part of `settings.Settings`."""

    publish_robot_description: bool = parameter(
        True,
        'Publish robot_description: URDF made from the compiled model.',
        group=GROUP,
    )
    publish_link_tf: bool = parameter(
        True,
        'Publish the transforms of all links of the robots. Switch it off where '
        'robot_state_publisher does that.',
        group=GROUP,
    )
    link_tf_rate: float = parameter(
        50.0,
        'Limit for the transforms of moving links (Hz of simulation time), 0: every tick.',
        group=GROUP,
        low=0.0,
        high=10000.0,
        live=True,
    )
    mesh_directory: str = parameter(
        '',
        'Folder that meshes of the compiled model are written to, for RViz to load. Empty: '
        'urlab_ros_bridge/meshes in the cache folder of the user.',
        group=GROUP,
    )
    mesh_uri: str = parameter(
        '',
        'Stands before the names of mesh files, for viewers that cannot read mesh_directory: '
        '"package://my_meshes/meshes", "http://robot:8000". Empty: file:// and mesh_directory.',
        group=GROUP,
    )
    publish_markers: bool = parameter(
        True,
        'Publish markers/scene, markers/entities, markers/contacts and markers/drawings.',
        group=GROUP,
    )
    marker_frame: str = parameter(
        '',
        'Frame of all markers. Empty: map_frame when it is tied to the robots, else the odom '
        'frame of the first robot that floats; both have the origin of the world.',
        group=GROUP,
        frame='optional',
    )
    marker_rate: float = parameter(
        10.0,
        'Limit for markers/entities (Hz of simulation time), 0: every tick.',
        group=GROUP,
        low=0.0,
        high=10000.0,
        live=True,
    )
    contact_marker_rate: float = parameter(
        10.0,
        'How often contacts and debug drawings are asked for while somebody listens (Hz of wall '
        'time).',
        group=GROUP,
        low=0.1,
        high=200.0,
        live=True,
    )
    contact_force_scale: float = parameter(
        0.005,
        'Length of the arrow of a contact force (m/N).',
        group=GROUP,
        low=0.0,
        high=1000.0,
        live=True,
    )
