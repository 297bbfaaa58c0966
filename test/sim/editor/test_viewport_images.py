# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The viewport as a camera: its ops change rendered images."""

from bundled_server import ports_of
from bundled_server import start_server
import numpy as np
import pytest

from urlab_ros_bridge.client.client import Client
from urlab_ros_bridge.sim.cameras.renderer import environment

pytestmark = pytest.mark.skipif(
    all(environment.missing_library(name) for name in environment.BACKENDS),
    reason='OpenGL is not installed',
)


# A camera of the same name, a mirror, a red cube that moves, a green ball that nothing touches.
SCENE = """
<mujoco>
  <option gravity="0 0 0"/>
  <asset><material name="mirror" rgba="0.2 0.2 0.2 1" reflectance="0.9"/></asset>
  <worldbody>
    <light pos="0 0 6" dir="0 0 -1"/>
    <camera name="viewport" pos="0 0 9"/>
    <geom type="plane" size="20 20 0.1" material="mirror"/>
    <geom type="sphere" size="0.4" pos="-3 0 1" rgba="0 1 0 1" contype="0" conaffinity="0"/>
    <body name="cube" pos="3 0 1"><freejoint/>
      <geom type="box" size="0.25 0.25 0.25" rgba="1 0 0 1"/></body>
  </worldbody>
</mujoco>
"""


NAME = 'viewport_'


WIDTH, HEIGHT = 640, 480


@pytest.fixture(scope='module')
def playing(tmp_path_factory):
    """Return a client of an editor that plays the scene; time is frozen."""
    folder = tmp_path_factory.mktemp('data')
    (folder / 'room.xml').write_text(SCENE)
    server = start_server(editor=True, world='', data_dir=folder, paused=True)
    with Client(**ports_of(server), timeout=30.0) as client:
        client.editor.create_level('room', scene='room.xml')
        assert client.editor.begin_pie().ready
        yield client
    server.stop()


@pytest.fixture
def client(playing):
    """Return the same client with the viewport as it is at the beginning, the cube in place."""
    playing.editor.set_viewport_mode('lit')
    playing.editor.untrack()
    playing.editor.set_camera([0, 0, 1], euler=[0, 0, 0], fov=90)
    playing.editor.set_actor_transform('cube', [3, 0, 1])
    return playing


def shot(client):
    """Return the viewport's image of this state: (480, 640, 3), red first."""
    frame = client.step(0, include_cameras={NAME: 'sync'}).cameras[NAME]
    return frame.pixels[..., 2::-1].astype(int)


def center(image, channel=0):
    """Return (column, row) of the middle of what has this colour, None when nothing has."""
    other = np.delete(image, channel, axis=-1).max(axis=-1)
    rows, columns = np.nonzero((image[..., channel] > 60) & (image[..., channel] > 2 * other))
    return (columns.mean() + 0.5, rows.mean() + 0.5) if len(rows) > 20 else None


def test_the_viewport_is_a_scene_camera_beside_another_of_that_name(client):
    cameras = client.handshake.global_cameras
    assert set(cameras) == {'viewport', NAME}
    camera = cameras[NAME]
    assert camera.resolution == (WIDTH, HEIGHT) and camera.mode == 'real' and camera.port
    # Scripts that know no viewport do not get its images.
    assert set(client.step(0, include_cameras='sync').cameras) == {'viewport'}
    # The model marks its pose as not fixed.
    model = client.handshake.model
    assert model.camera(NAME).mode != model.camera('viewport').mode


@pytest.mark.parametrize(
    ('place', 'euler', 'fov'), [((0, 0, 1), (0, 0, 10), 90), ((1, -2, 3), (0, 40, 50), 60)]
)
def test_pixels_match_the_pose_and_field_of_view(client, place, euler, fov):
    pose = client.editor.set_camera(place, euler=euler, fov=fov)
    assert pose.fov == fov
    pitch, yaw = np.radians(euler[1:])
    forward = [np.cos(pitch) * np.cos(yaw), np.cos(pitch) * np.sin(yaw), -np.sin(pitch)]
    left = [-np.sin(yaw), np.cos(yaw), 0]
    away = np.array([3, 0, 1]) - place
    depth, focal = np.dot(away, forward), WIDTH / 2 / np.tan(np.radians(fov) / 2)
    column = WIDTH / 2 - focal * np.dot(away, left) / depth
    row = HEIGHT / 2 - focal * np.dot(away, np.cross(forward, left)) / depth
    assert center(shot(client)) == pytest.approx((column, row), abs=4)


def test_viewport_modes_change_the_image(client):
    images = {}
    for mode in ('lit', 'unlit', 'wireframe', 'collision', 'reflections'):
        assert client.editor.set_viewport_mode(mode) == mode
        client.editor.set_camera([0, -1, 1], euler=[0, 15, 18])
        front = shot(client)
        client.editor.set_camera([0, -1, 1], euler=[0, 0, 162])
        images[mode] = front, shot(client)

    def colored(mode, side):
        channel = (0, 1)[side]
        other = np.delete(images[mode][side], channel, axis=-1).max(axis=-1)
        return (images[mode][side][..., channel] > 2 * other + 40).sum()

    cube, ball = colored('lit', 0), colored('lit', 1)
    assert cube > 1000 and ball > 1000
    # Without light the colour is the model's own, on all faces.
    plain = images['unlit'][0].reshape(-1, 3)
    assert (plain == [255, 0, 0]).all(axis=1).sum() > 0.95 * cube
    assert not (images['lit'][0].reshape(-1, 3) == [255, 0, 0]).all(axis=1).sum() > 0.5 * cube
    assert 20 < colored('wireframe', 0) < 0.3 * cube
    assert colored('collision', 0) == pytest.approx(cube, rel=0.05)
    assert colored('collision', 1) == 0
    assert colored('reflections', 0) > 1.2 * cube
