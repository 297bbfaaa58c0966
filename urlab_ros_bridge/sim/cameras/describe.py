# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Cameras in the handshake (Protocol Reference, "Articulations block")."""

from __future__ import annotations

from typing import Any

from urlab_ros_bridge.sim.cameras.catalog.catalog import CameraItem
from urlab_ros_bridge.sim.cameras.catalog.catalog import INSTANCE
from urlab_ros_bridge.sim.cameras.catalog.catalog import SEMANTIC
from urlab_ros_bridge.sim.cameras.renderer.labels import label_map
from urlab_ros_bridge.sim.cameras.rig import CameraRig

HEADER = 'ucm1'  # value of the hello option `camera_header`


def camera_topics(rig: CameraRig, prefix: str, header: str = '') -> dict[str, dict[str, Any]]:
    """
    Return the cameras of an articulation, or of the world with the prefix ``scene``.

    :param header: ``ucm1`` names the topic whose frames have headers.
    """
    return {
        item.name: _block(rig, item, header == HEADER)
        for item in rig.items
        if item.prefix == prefix
    }


def _block(rig: CameraRig, item: CameraItem, framed: bool) -> dict[str, Any]:
    block: dict[str, Any] = {
        'mode': item.mode,
        'resolution': [item.width, item.height],
        'fovy': float(rig.engine.world.model.cam_fovy[item.id]),
        'zmq_endpoint': rig.endpoints[item.index],
        'zmq_topic': item.topics[framed].decode().rstrip(' '),
        'rate': item.rate,
        'body': item.body.removeprefix(f'{item.prefix}_'),
        'encoding': item.dtype,
    }
    if item.depth_pair:
        block['depth_pair'] = item.depth_pair
    if item.latency or item.jitter:
        block['latency'], block['jitter'] = item.latency, item.jitter
    if item.mode in (SEMANTIC, INSTANCE):
        labels = label_map(rig.engine.world.model, rig.prefixes, item.mode)
        block['labels'] = {name: list(color) for name, color in labels.colors.items()}
    return block


__all__ = ['HEADER', 'camera_topics']
