# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Which cameras a world has."""

from dataclasses import replace

import pytest

from urlab_ros_bridge.sim.cameras.catalog import read_catalog
from urlab_ros_bridge.sim.errors import WorldError
from urlab_ros_bridge.sim.model.sidecar.specs import CameraSpec


def test_camera_settings_of_the_sidecar_are_in_the_model(lab_context):
    world = lab_context.world
    spec = replace(
        world.spec, global_cameras={'front': CameraSpec(resolution=(32, 16), fovy=33.0)}
    )
    items = {item.name: item for item in read_catalog(world.model, spec)}
    assert (items['front'].width, items['front'].height, items['front'].fovy) == (32, 16, 33.0)
    assert items['front'].depth_pair == ''  # another lens
    model, camera = world.model, world.model.camera('front').id
    assert tuple(model.cam_resolution[camera]) == (32, 16) and model.cam_fovy[camera] == 33.0


def test_an_unknown_camera_is_named_and_the_known_ones_listed(lab_context):
    world = lab_context.world
    robot = replace(world.spec.articulations[0], cameras={'nose': CameraSpec()})
    spec = replace(world.spec, articulations=(robot,))
    with pytest.raises(WorldError, match=r'cart: cameras: nose .*eye'):
        read_catalog(world.model, spec)
