# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Reading of publications: stricter than the original server."""

import base64
import json
import struct

import pytest

from urlab_ros_bridge.gateways.virtual_field.errors import BadMessage
from urlab_ros_bridge.gateways.virtual_field.protocol.envelope import Envelope
from urlab_ros_bridge.gateways.virtual_field.protocol.foreign_gltf import GLB
from urlab_ros_bridge.gateways.virtual_field.protocol.foreign_gltf import rewrite_gltf
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


def test_the_defaults_of_a_mesh():
    mesh = read('add_mesh', mesh_id=3, mesh_data_b64=b64(glb()))
    assert mesh.mesh_id == '3'
    head, _, data = mesh.asset_uri.partition(',')
    assert head == 'data:model/gltf-binary;base64'
    assert base64.b64decode(data) == rewrite_gltf(glb(), GLB)
    assert mesh.scale == (1.0, 1.0, 1.0) and mesh.visible
    plain = b64(json.dumps({'asset': {'version': '2.0'}}).encode())
    read('add_mesh', mesh_id='m', mesh_data_b64=plain, mime_type='model/gltf+json')


def test_moves_keep_what_they_do_not_name_and_points_have_a_size():
    move = read('update_mesh_transform', mesh_id='m', translation=[1, 2, 3])
    assert move.changes == {'translation': (1, 2, 3)}
    points = read('update_overlay_points', overlay_id='p', points=[[1, 2, 3]])
    assert (points.points, points.point_size, points.visible) == (((1, 2, 3),), 0.008, True)
    assert read('update_overlay_points', overlay_id='p').points == ()


GLTF1 = b64(glb({'asset': {'version': '1.0'}}))
SPY = b64(glb({'asset': {'version': '2.0'}, 'images': [{'uri': 'http://x/y.png'}]}))
REASONS = [
    ('add_mesh', {'mesh_data_b64': None}, 'add_mesh requires mesh_id and mesh_data_b64'),
    ('add_mesh', {'mesh_data_b64': '!'}, 'mesh_data_b64: '),
    ('add_mesh', {'mesh_data_b64': 5}, 'mesh_data_b64 must be a string'),
    ('add_mesh', {'mesh_data_b64': b64(b'abc')}, 'mesh_data_b64 is not'),
    ('add_mesh', {'mesh_id': ''}, 'mesh_id must not be empty'),
    ('add_mesh', {'mesh_data_b64': b64(glb(magic=b'glTX'))}, 'mesh_data_b64 is not binary glTF'),
    ('add_mesh', {'mesh_data_b64': b64(glb(size=9999))}, 'mesh_data_b64 is not binary glTF'),
    ('add_mesh', {'mesh_data_b64': GLTF1}, 'mesh_data_b64 is not glTF 2.0'),
    ('add_mesh', {'mesh_data_b64': SPY}, "images[0].uri is external ('http://x/y.png')"),
    ('add_mesh', {'mime_type': 'text/html'}, "mime_type 'text/html' is unknown"),
    ('update_mesh_transform', {'mesh_id': None}, 'update_mesh_transform requires mesh_id'),
    ('update_mesh_transform', {'translation': 'abc'}, 'translation must be a list of 3 numbers'),
    ('update_mesh_transform', {'visible': 'false'}, 'visible must be true or false'),
    ('update_overlay_points', {'points': 'x'}, 'points must be a list of [x, y, z]'),
    ('update_overlay_points', {'points': [[1, 2]]}, 'points[0] must have size 3, got 2'),
    ('update_overlay_points', {'points': [[0] * 3] * (MAX_POINTS + 1)}, 'points has '),
    ('update_overlay_points', {'point_size': 0}, 'point_size must be > 0'),
    ('remove_overlay_points', {'overlay_id': None}, 'remove_overlay_points requires overlay_id'),
]


@pytest.mark.parametrize(('kind', 'changes', 'reason'), REASONS)
def test_reasons(kind, changes, reason):
    whole = {'mesh_id': 'm', 'overlay_id': 'p', 'mesh_data_b64': b64(glb()), **changes}
    with pytest.raises(BadMessage) as caught:
        read(kind, **{name: value for name, value in whole.items() if value is not None})
    assert str(caught.value).startswith(reason)
