# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The transforms that the bridge publishes, as a table for docs/interfaces.md."""

from __future__ import annotations

from urlab_ros_bridge.ros.interface_rows import FrameRule

FRAMES: tuple[FrameRule, ...] = (
    FrameRule('`odom_frame`', '`base_frame`', 'tf', 'floating base', 'publish_tf'),
    FrameRule('`base_frame`', '`footprint_frame`', 'tf', 'floating base', 'publish_footprint'),
    FrameRule(
        'a link', 'the link that a joint moves', 'tf', 'robots with joints', 'publish_link_tf'
    ),
    FrameRule('a link', 'a link that is fixed to it', 'tf_static', '', 'publish_link_tf'),
    FrameRule(
        'a link',
        'sites of sensors, `CAMERA` (x forward)',
        'tf_static',
        '',
        'publish_sensor_frames',
    ),
    FrameRule(
        '`CAMERA`',
        '`CAMERA_optical_frame` (z forward, y down)',
        'tf_static',
        'cameras of robots',
        'publish_sensor_frames',
    ),
    FrameRule(
        '`SITE`',
        '`SITE_range` (x along the beam)',
        'tf_static',
        'rangefinders',
        'publish_sensor_frames',
    ),
    FrameRule('`map_frame`', '`base_frame`', 'tf_static', 'a base that is fixed to the world'),
    FrameRule(
        '`map_frame`',
        '`CAMERA_optical_frame`',
        'tf_static',
        'cameras of the scene',
        'publish_cameras',
    ),
    FrameRule('`map_frame`', '`odom_frame`', 'tf_static', 'floating base', 'publish_map_to_odom'),
)
