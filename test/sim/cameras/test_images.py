# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures of the real renderer, against MuJoCo's geometry."""

from camera_lab import colour_at
from camera_lab import fresh_data
from camera_lab import needs_gl
from camera_lab import shot
import mujoco
import numpy as np
import pytest
from waiting import wait_until

from urlab_ros_bridge.client.cameras.stream import open_camera
from urlab_ros_bridge.client.errors import BadValue
from urlab_ros_bridge.sim.cameras import rig as rig_module
from urlab_ros_bridge.sim.cameras.renderer.labels import class_of

pytestmark = needs_gl


def rays(model, data, camera, columns, rows, hidden_groups=(3, 4, 5)):
    """Return metres along the optical axis to what mj_ray hits, through these pixels."""
    number = model.camera(camera).id
    width, height = model.cam_resolution[number]
    focal = height / 2 / np.tan(np.radians(model.cam_fovy[number]) / 2)
    groups = np.array([group not in hidden_groups for group in range(6)], np.uint8)
    turn, origin = data.cam_xmat[number].reshape(3, 3), data.cam_xpos[number].copy()
    body, hit = int(model.cam_bodyid[number]) or -1, np.zeros(1, np.int32)
    found = []
    for column, row in zip(columns, rows, strict=True):
        local = np.array(
            [(column + 0.5 - width / 2) / focal, -(row + 0.5 - height / 2) / focal, -1.0]
        )
        length = np.linalg.norm(local)
        away = mujoco.mj_ray(model, data, origin, turn @ local / length, groups, 1, body, hit)
        found.append(away / length if away >= 0 else 0.0)
    return np.array(found)


def smooth(depth):
    """Mark pixels away from edges, where a ray and a pixel may see different things."""
    center = depth[2:-2, 2:-2]
    around = np.lib.stride_tricks.sliding_window_view(depth, (5, 5))
    near = np.abs(around - center[..., None, None]) <= 0.03 * center[..., None, None]
    return np.pad(near.all(axis=(2, 3)), 2)


def test_depth_is_the_distance_along_the_axis(client, lab_server):
    reply = shot(client, 'range')
    depth = reply.cameras['range'].pixels
    assert depth.shape == (480, 640) and depth.dtype == np.float32
    model = lab_server.simulation.world.model
    data = fresh_data(model, reply)
    generator = np.random.default_rng(0)
    rows, columns = np.nonzero(smooth(depth))
    chosen = generator.choice(len(rows), 1500, replace=False)
    rows, columns = rows[chosen], columns[chosen]
    expected = rays(model, data, 'range', columns, rows)
    expected[expected > 20] = 0.0  # beyond the far plane
    assert np.count_nonzero(expected) > 500 and np.count_nonzero(expected == 0) > 100
    np.testing.assert_allclose(depth[rows, columns], expected, atol=2e-3, rtol=1e-3)


def test_red_is_red_in_bgra(client, lab_server):
    reply = shot(client, 'front')
    image = reply.cameras['front']
    assert image.dtype == 'bgra8' and image.pixels.shape == (480, 640, 4)
    assert (image.pixels[..., 3] == 255).all()
    model = lab_server.simulation.world.model
    data = fresh_data(model, reply)
    place = data.body('cart_cart').xpos
    blue, green, red = colour_at(image.pixels, model, data, 'front', place)
    assert red > 100 and red > 2 * max(green, blue)
    floor = image.pixels[470, 320].tolist()
    assert floor[0] > 60 and floor[0] > 2 * max(floor[1:3])  # rows run top-down


def test_labels_name_the_visible_objects(client, lab_server):
    reply = shot(client, 'parts', 'each')
    model = lab_server.simulation.world.model
    data = fresh_data(model, reply)
    targets = {name: data.body(name).xpos for name in ('crate_1', 'crate_2')}
    targets['cart'] = data.body('cart_cart').xpos
    targets['wall'] = np.array([-3.0, 2.9, 1.5])
    targets['floor'] = np.array([0.0, 0.0, 0.0])
    targets['background'] = np.array([0.0, 3.0, 4.0])
    topics = client.handshake.global_cameras
    for camera, named in (('parts', class_of), ('each', str)):
        labels = topics[camera].labels
        pixels = reply.cameras[camera].pixels
        for name, point in targets.items():
            colour = tuple(colour_at(pixels, model, data, camera, point))
            assert labels[colour] == named(name)
        # Flat colours only: no shading, no smoothed edges.
        flat = {tuple(color) for color in pixels[..., :3].reshape(-1, 3).tolist()}
        assert flat <= set(labels)


def test_no_frame_from_before_a_reset_is_returned(client):
    client.set_mode('direct')
    for _ in range(4):
        client.step(200, include_cameras={'front': 'latest'})
        client.reset()
        image = client.step(include_cameras={'front': 'latest'}).cameras['front']
        assert image.stamp_ns <= 2_000_000


def test_overlays_and_changed_colours_are_visible(client, lab_server):
    simulation = lab_server.simulation
    before = shot(client, 'front').cameras['front'].pixels.copy()
    rig, model = simulation.cameras, simulation.world.model
    with simulation.engine.lock:
        sphere = {'type': 'sphere', 'pos': [0, 0, 2.2], 'size': [0.2], 'rgba': [1, 1, 0, 1]}
        rig.set_overlays([sphere, {'type': 'no such thing'}])
        kept = model.geom('cart_box').rgba.copy()
        model.geom('cart_box').rgba[:] = (0, 1, 0, 1)
        rig.model_changed()
    try:
        changed = shot(client, 'front').cameras['front'].pixels
        data = fresh_data(model)
        blue, green, red = colour_at(changed, model, data, 'front', np.array([0, 0, 2.2]))
        assert min(red, green) > 60 and min(red, green) > 2 * blue
        place = data.body('cart_cart').xpos
        blue, green, red = colour_at(changed, model, data, 'front', place)
        assert green > 60 and green > 2 * max(red, blue)
    finally:
        with simulation.engine.lock:
            model.geom('cart_box').rgba[:] = kept
            rig.set_overlays([])
            rig.model_changed()
    assert np.array_equal(shot(client, 'front').cameras['front'].pixels, before)


def test_a_delay_is_set_and_taken_back_while_the_world_runs(client, monkeypatch):
    # A stalled machine must not count as frozen time, in which there are no delays.
    monkeypatch.setattr(rig_module, 'FROZEN_SECONDS', 1e3)
    client.set_mode('direct')
    client.reset()
    applied = client.set_camera_delay({'front': {'delay_s': 0.2, 'jitter_s': 0.05, 'seed': 3}})
    assert applied['front']['delay_s'] == 0.2 and applied['front']['jitter_s'] == 0.05
    lags = []

    def delayed():
        result = client.step(5, include_cameras={'front': 'latest'})
        for image in result.cameras.values():
            if image.stamp_ns > 0:  # the state of the reset has no time for a delay to pass in
                lags.append((result.sim_time_ns - image.stamp_ns) / 1e9)
        return len(lags) >= 20

    wait_until(delayed)
    assert min(lags) >= 0.15 - 1e-9
    with pytest.raises(BadValue, match=r'cameras\.front'):
        client.request('set_camera_delay', cameras={'front': -1.0})
    assert client.set_camera_delay({'front': 0.0})['front']['delay_s'] == 0.0
    client.reset()
    result = client.step(include_cameras={'front': 'latest'})
    assert result.cameras['front'].stamp_ns == result.sim_time_ns


def test_a_stream_is_switched_off_and_on_again(client):
    client.set_mode('live')
    client.set_paused(False)
    camera = client.handshake.global_cameras['each']
    on = client.set_camera_streaming({'each': True})['each']
    assert on['streaming'] and on['zmq'] and on['zmq_endpoint'].startswith('tcp://')
    with open_camera(camera) as stream:
        assert stream.receive(20.0) is not None
        off = client.set_camera_streaming({'each': False})['each']
        assert not off['streaming'] and off['zmq_endpoint'] == ''
        while stream.receive(1.0) is not None:  # those in flight
            pass
        client.set_camera_streaming({'each': {'zmq': True}})
        assert stream.receive(20.0) is not None
    client.set_camera_streaming({'each': True})
    with pytest.raises(BadValue, match='nose'):
        client.set_camera_streaming({'nose': True})
