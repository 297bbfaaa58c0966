# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What publishers send: strict where the original lets everything through."""

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


def glb(document=None, **head):
    text = json.dumps({'asset': {'version': '2.0'}} if document is None else document).encode()
    text += b' ' * (-len(text) % 4)
    whole = 20 + len(text)
    magic, version = head.get('magic', b'glTF'), head.get('version', 2)
    length, size = head.get('length', whole), head.get('size', len(text))
    return struct.pack('<4sIIII', magic, version, length, size, 0x4E4F534A) + text


def b64(data):
    return base64.b64encode(data).decode()


def read(kind, **payload):
    return read_publication(Envelope(kind, payload))


def test_a_mesh_with_what_is_left_out():
    mesh = read('add_mesh', mesh_id=3, mesh_data_b64=b64(glb()))
    assert mesh.mesh_id == '3'
    head, _, data = mesh.asset_uri.partition(',')
    assert head == 'data:model/gltf-binary;base64'
    assert base64.b64decode(data) == rewrite_gltf(glb(), GLB)
    assert mesh.scale == (1.0, 1.0, 1.0) and mesh.visible
    plain = b64(json.dumps({'asset': {'version': '2.0'}}).encode())
    read('add_mesh', mesh_id='m', mesh_data_b64=plain, mime_type='model/gltf+json')


def test_moves_keep_what_they_do_not_name():
    move = read('update_mesh_transform', mesh_id='m', translation=[1, 2, 3])
    assert move.changes == {'translation': (1, 2, 3)}


def test_points():
    points = read('update_overlay_points', overlay_id='p', points=[[1, 2, 3]])
    assert (points.points, points.point_size, points.visible) == (((1, 2, 3),), 0.008, True)
    assert read('update_overlay_points', overlay_id='p').points == ()


@pytest.mark.parametrize(
    ('kind', 'payload', 'reason'),
    [
        ('add_mesh', {'mesh_id': 'm'}, 'add_mesh requires mesh_id and mesh_data_b64'),
        ('add_mesh', {'mesh_id': 'm', 'mesh_data_b64': '!'}, 'mesh_data_b64: '),
        ('add_mesh', {'mesh_id': 'm', 'mesh_data_b64': 5}, 'mesh_data_b64 must be a string'),
        ('add_mesh', {'mesh_id': '', 'mesh_data_b64': b64(glb())}, 'mesh_id must not be empty'),
        ('add_mesh', {'mesh_id': 'm', 'mesh_data_b64': b64(b'abc')}, 'mesh_data_b64 is not'),
        (
            'add_mesh',
            {'mesh_id': 'm', 'mesh_data_b64': b64(glb(magic=b'glTX'))},
            'mesh_data_b64 is not binary glTF: its header is wrong',
        ),
        (
            'add_mesh',
            {'mesh_id': 'm', 'mesh_data_b64': b64(glb(length=5))},
            'mesh_data_b64 is not binary glTF: its header is wrong',
        ),
        (
            'add_mesh',
            {'mesh_id': 'm', 'mesh_data_b64': b64(glb(size=9999))},
            'mesh_data_b64 is not binary glTF: it is cut off',
        ),
        (
            'add_mesh',
            {'mesh_id': 'm', 'mesh_data_b64': b64(glb({'asset': {'version': '1.0'}}))},
            'mesh_data_b64 is not glTF 2.0',
        ),
        (
            'add_mesh',
            {
                'mesh_id': 'm',
                'mesh_data_b64': b64(
                    glb({'asset': {'version': '2.0'}, 'images': [{'uri': 'http://x/y.png'}]})
                ),
            },
            "images[0].uri is external ('http://x/y.png')",
        ),
        (
            'add_mesh',
            {'mesh_id': 'm', 'mesh_data_b64': b64(glb()), 'mime_type': 'text/html'},
            "mime_type 'text/html' is unknown",
        ),
        (
            'add_mesh',
            {'mesh_id': 'm', 'mesh_data_b64': b64(glb()), 'translation': [1, 2]},
            'translation must have size 3, got 2',
        ),
        ('update_mesh_transform', {}, 'update_mesh_transform requires mesh_id'),
        (
            'update_mesh_transform',
            {'mesh_id': 'm', 'translation': 'abc'},
            'translation must be a list of 3 numbers',
        ),
        (
            'update_mesh_transform',
            {'mesh_id': 'm', 'visible': 'false'},
            'visible must be true or false',
        ),
        ('remove_mesh', {}, 'remove_mesh requires mesh_id'),
        ('update_overlay_points', {}, 'update_overlay_points requires overlay_id'),
        (
            'update_overlay_points',
            {'overlay_id': 'p', 'points': 'x'},
            'points must be a list of [x, y, z]',
        ),
        (
            'update_overlay_points',
            {'overlay_id': 'p', 'points': [[1, 2]]},
            'points[0] must have size 3, got 2',
        ),
        (
            'update_overlay_points',
            {'overlay_id': 'p', 'points': [[1, 2, 'x']]},
            "points[0][2] must be a number, got 'x'",
        ),
        (
            'update_overlay_points',
            {'overlay_id': 'p', 'points': [[0, 0, 0]] * (MAX_POINTS + 1)},
            f'points has {MAX_POINTS + 1} elements, more than {MAX_POINTS}',
        ),
        (
            'update_overlay_points',
            {'overlay_id': 'p', 'point_size': 0},
            'point_size must be > 0',
        ),
        ('remove_overlay_points', {}, 'remove_overlay_points requires overlay_id'),
    ],
)
def test_reasons(kind, payload, reason):
    with pytest.raises(BadMessage) as caught:
        read(kind, **payload)
    assert str(caught.value).startswith(reason)
