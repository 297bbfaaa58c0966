# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Bodies of the compiled model as binary glTF: y up, metres, with colours and textures."""

from urlab_ros_bridge.gateways.virtual_field.gltf.binary import MIME_TYPE
from urlab_ros_bridge.gateways.virtual_field.gltf.bodies import body_glb
from urlab_ros_bridge.gateways.virtual_field.gltf.bodies import BodyModels
from urlab_ros_bridge.gateways.virtual_field.gltf.bodies import Geoms

__all__ = ['MIME_TYPE', 'BodyModels', 'Geoms', 'body_glb']
