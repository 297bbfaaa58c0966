# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Cameras of clients are bounded in number and size, and share ports."""

from camera_lab import connect
from camera_lab import needs_gl
import pytest

from urlab_ros_bridge.client import open_camera
from urlab_ros_bridge.sim.cameras.listeners import MAX_PORTS
from urlab_ros_bridge.sim.model.client_models.limits import CAMERAS


def model(count, side=64):
    cameras = ''.join(f'<camera name="c{i}" resolution="{side} {side}"/>' for i in range(count))
    return f'<mujoco><worldbody><body><geom size="0.1"/>{cameras}</body></worldbody></mujoco>'


@pytest.mark.parametrize(
    ('first', 'second'),
    [(model(CAMERAS // 2), model(CAMERAS // 2)), (model(1, 4096), model(1, 5000))],
)
def test_more_cameras_or_pixels_are_refused_and_the_world_stays(rig, first, second):
    world = rig()
    world.ask('spawn_entity', name='a', xml=first)
    before = world.host.simulation
    assert world.code('spawn_entity', name='b', xml=second) == 'import_failed'
    assert world.host.simulation is before


@needs_gl
def test_many_cameras_share_ports_and_each_delivers_its_own_images(server, mjcf):
    count = MAX_PORTS + 2
    bodies = ''.join(
        f'<body pos="{3 * i} 0 0"><geom size="0.4" rgba="{i % 2} {1 - i % 2} 0 1"/>'
        f'<camera name="c{i}" pos="0 -1 0" xyaxes="1 0 0 0 0 1" resolution="8 8"/></body>'
        for i in range(count)
    )
    light = '<light directional="true" dir="0 1 0" ambient="1 1 1"/>'
    path = mjcf(f'<mujoco><statistic extent="1"/><worldbody>{light}{bodies}</worldbody></mujoco>')
    with connect(server(model=str(path))) as client:
        cameras = client.handshake.global_cameras
        ports = {camera.port for camera in cameras.values()}
        assert len(cameras) == count and len(ports) == MAX_PORTS
        chosen = [f'c{i}' for i in (0, 1, MAX_PORTS, MAX_PORTS + 1)]
        streams = [open_camera(cameras[name], transport='zmq') for name in chosen]
        for name, stream in zip(chosen, streams, strict=True):
            _, green, red, _ = stream.receive(60.0).pixels[4, 4].tolist()
            assert (red > green) == (int(name[1:]) % 2 == 1), name
            stream.close()
