# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The cameras of a stock server, which are off at first since July 2026."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from urlab_ros_bridge.client.client import Client
from urlab_ros_bridge.client.errors import RemoteError
from urlab_ros_bridge.client.replies.handshake import Handshake


def switch_on_cameras(
    client: Client, handshake: Handshake, log: Callable[[str, str], None]
) -> None:
    """Switch on all cameras, and enter into the handshake where their images are sent."""
    places = [handshake.global_cameras, *(r.cameras for r in handshake.articulations.values())]
    names = [name for cameras in places for name in cameras]
    if not names or 'set_camera_streaming' not in client.meta():
        return
    try:
        streams = client.set_camera_streaming(dict.fromkeys(names, True))
    except RemoteError as error:
        log('warning', f'the cameras of the server stay off: {error}')
        return
    for cameras in places:
        for name, camera in cameras.items():
            found = streams.get(name, {})
            endpoint, topic = found.get('zmq_endpoint'), found.get('zmq_topic')
            if isinstance(endpoint, str) and isinstance(topic, str):
                cameras[name] = replace(camera, endpoint=endpoint, topic=topic)
