# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Serialised messages with a fixed layout, rewritten in place.

`Template` serialises a filled message once and then gives writers and numpy views on its fields;
a tick changes the few bytes that differ and publishes them with ``publisher.publish(bytes)``.
"""
