# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Reading of publications: stricter than the original server."""

import base64
import json
import struct

import pytest

from urlab_ros_bridge.gateways.virtual_field.errors import BadMessage
from urlab_ros_bridge.gateways.virtual_field.protocol.envelope import Envelope
from urlab_ros_bridge.gateways.virtual_field.protocol.publishing import MAX_POINTS
from urlab_ros_bridge.gateways.virtual_field.protocol.publishing import read_publication


def glb(document=None, magic=b'glTF', size=None):
    text = json.dumps(document or {'asset': {'version': '2.0'}}).encode()
    text += b' ' * (-len(text) % 4)
    head = (magic, 2, 20 + len(text), size or len(text), 0x4E4F534A)
    return struct.pack('<4sIIII', *head) + text


def b64(data):
    return base64.b64encode(data).decode()


def read(kind, **payload):
    return read_publication(Envelope(kind, payload))


GLTF1 = b64(glb({'asset': {'version': '1.0'}}))
WRONG = [
    ('add_mesh', 'mesh_data_b64', None),
    ('add_mesh', 'mesh_data_b64', '!'),
    ('add_mesh', 'mesh_data_b64', 5),
    ('add_mesh', 'mesh_data_b64', b64(glb(magic=b'glTX'))),
    ('add_mesh', 'mesh_data_b64', b64(glb(size=9999))),
    ('add_mesh', 'mesh_data_b64', GLTF1),
    ('add_mesh', 'mesh_id', ''),
    ('add_mesh', 'mime_type', 'text/html'),
    ('update_mesh_transform', 'mesh_id', None),
    ('update_mesh_transform', 'translation', 'abc'),
    ('update_mesh_transform', 'visible', 'false'),
    ('update_overlay_points', 'points', 'x'),
    ('update_overlay_points', 'points', [[1, 2]]),
    ('update_overlay_points', 'points', [[0] * 3] * (MAX_POINTS + 1)),
    ('update_overlay_points', 'point_size', 0),
    ('remove_overlay_points', 'overlay_id', None),
]


@pytest.mark.parametrize(('kind', 'name', 'value'), WRONG)
def test_an_invalid_field_is_named(kind, name, value):
    whole = {'mesh_id': 'm', 'overlay_id': 'p', 'mesh_data_b64': b64(glb()), name: value}
    with pytest.raises(BadMessage, match=name):
        read(kind, **{name: value for name, value in whole.items() if value is not None})
