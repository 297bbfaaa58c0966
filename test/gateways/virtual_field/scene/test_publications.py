# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Publications: limits and ownership."""

import pytest

from urlab_ros_bridge.gateways.virtual_field.errors import BadMessage
from urlab_ros_bridge.gateways.virtual_field.protocol.publishing import AddMesh
from urlab_ros_bridge.gateways.virtual_field.protocol.publishing import MESH
from urlab_ros_bridge.gateways.virtual_field.protocol.publishing import MoveMesh
from urlab_ros_bridge.gateways.virtual_field.protocol.publishing import OVERLAY
from urlab_ros_bridge.gateways.virtual_field.protocol.publishing import Remove
from urlab_ros_bridge.gateways.virtual_field.protocol.publishing import SetPoints
from urlab_ros_bridge.gateways.virtual_field.scene import publications as module
from urlab_ros_bridge.gateways.virtual_field.scene.publications import Publications


def mesh(name, data='data:'):
    return AddMesh(name, data)


def points(name, count=1):
    return SetPoints(name, ((0.0, 0.0, 0.0),) * count, 0.01, True)


@pytest.fixture
def field():
    return Publications()


def test_an_owner_has_so_many_meshes_and_others_have_theirs(field):
    for number in range(module.MAX_MESHES):
        field.apply('me', mesh(f'm{number}'))
    before = field.version
    with pytest.raises(BadMessage, match='already publishes 64 meshes'):
        field.apply('me', mesh('one more'))
    with pytest.raises(BadMessage, match='reserved'):
        field.apply('you', mesh(f'{module.RESERVED}tray'))
    assert field.version == before and len(field.read()[3]) == module.MAX_MESHES
    field.apply('me', mesh('m0', 'data:other'))  # in place of one that is there
    field.apply('me', Remove(MESH, 'm1'))
    field.apply('me', mesh('one more'))


def test_all_meshes_together_have_so_many_bytes(field, monkeypatch):
    monkeypatch.setattr(module, 'MAX_TOTAL_BYTES', 100)
    field.apply('me', mesh('a', 'x' * 60))
    field.apply('you', mesh('b', 'x' * 40))
    with pytest.raises(BadMessage, match='more than 100 bytes'):
        field.apply('you', mesh('c', 'x'))
    with pytest.raises(BadMessage, match='more than 100 bytes'):
        field.apply('me', mesh('a', 'x' * 61))  # what it replaces stays
    assert len(field.read()[3]['a'].asset_uri) == 60
    field.apply('me', mesh('a', 'x' * 50))
    field.forget('you')
    field.apply('me', mesh('c', 'x' * 50))


def test_overlays_and_their_points_are_bounded(field):
    for number in range(module.MAX_OVERLAYS):
        field.apply('me', points(f'p{number}'))
    with pytest.raises(BadMessage, match='already publishes 64 overlays'):
        field.apply('me', points('one more'))
    with pytest.raises(BadMessage, match='more than 32768 points'):
        field.apply('you', points('many', module.MAX_TOTAL_POINTS - module.MAX_OVERLAYS + 1))
    field.apply('you', points('many', module.MAX_TOTAL_POINTS - module.MAX_OVERLAYS))
    field.apply('me', Remove(OVERLAY))
    assert list(field.read()[2]) == ['many']


def test_a_publication_is_changed_by_its_owner_only(field):
    field.apply('they', mesh('theirs'))
    field.apply('they', points('theirs'))
    before = field.read()
    for change in (
        *(mesh('theirs'), MoveMesh('theirs', {'visible': False}), points('theirs')),
        *(Remove(MESH, 'theirs'), Remove(OVERLAY, 'theirs')),
    ):
        with pytest.raises(BadMessage, match=r'belongs to|ownership'):
            field.apply('me', change)
    for everything in (Remove(MESH), Remove(OVERLAY)):
        field.apply('me', everything)
    assert field.read()[1:] == before[1:]
