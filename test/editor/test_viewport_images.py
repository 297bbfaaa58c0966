# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The viewport as a camera: its ops change rendered images."""

from bundled_server import ports_of
from bundled_server import start_server
import numpy as np
import pytest

from urlab_ros_bridge.client.client import Client
from urlab_ros_bridge.editor.client import Editor
from urlab_ros_bridge.editor.extension import extend
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
def client(tmp_path_factory):
    """Return a client of an editor that plays the scene; time is frozen."""
    folder = tmp_path_factory.mktemp('data')
    (folder / 'room.xml').write_text(SCENE)
    server = start_server(extend, world='', data_dir=folder, paused=True)
    with Client(**ports_of(server), timeout=30.0) as client:
        Editor(client).create_level('room', scene='room.xml')
        assert Editor(client).begin_pie().ready
        yield client
    server.stop()


def shot(client):
    """Return the viewport's image of this state: (480, 640, 3), red first."""
    frame = client.step(0, include_cameras={NAME: 'sync'}).cameras[NAME]
    return frame.pixels[..., 2::-1].astype(int)


def test_the_viewport_is_a_scene_camera_beside_another_of_that_name(client):
    cameras = client.handshake.global_cameras
    assert set(cameras) == {'viewport', NAME}
    assert cameras[NAME].resolution == (WIDTH, HEIGHT) and cameras[NAME].mode == 'real'
    # Scripts that know no viewport do not get its images.
    assert set(client.step(0, include_cameras='sync').cameras) == {'viewport'}
    # The model marks its pose as not fixed.
    model = client.handshake.model
    assert model.camera(NAME).mode != model.camera('viewport').mode


def test_pixels_match_the_pose_and_field_of_view(client):
    Editor(client).set_viewport_mode('lit')
    place, pitch, yaw, fov = (1, -2, 3), np.radians(40), np.radians(50), 60
    assert Editor(client).set_camera(place, euler=(0, 40, 50), fov=fov).fov == fov
    forward = [np.cos(pitch) * np.cos(yaw), np.cos(pitch) * np.sin(yaw), -np.sin(pitch)]
    left = [-np.sin(yaw), np.cos(yaw), 0]
    away = np.array([3, 0, 1]) - place
    depth, focal = np.dot(away, forward), WIDTH / 2 / np.tan(np.radians(fov) / 2)
    column = WIDTH / 2 - focal * np.dot(away, left) / depth
    row = HEIGHT / 2 - focal * np.dot(away, np.cross(forward, left)) / depth
    # The middle of what is red.
    image = shot(client)
    rows, columns = np.nonzero((image[..., 0] > 60) & (image[..., 0] > 2 * image[..., 1]))
    assert (columns.mean() + 0.5, rows.mean() + 0.5) == pytest.approx((column, row), abs=4)


def test_viewport_modes_change_the_image(client):
    images = {}
    for mode in ('lit', 'unlit', 'wireframe', 'collision', 'reflections'):
        assert Editor(client).set_viewport_mode(mode) == mode
        for side, (pitch, yaw) in enumerate(((15, 18), (0, 162))):
            Editor(client).set_camera([0, -1, 1], euler=[0, pitch, yaw])
            images[mode, side] = shot(client)

    def colored(mode, side):
        image = images[mode, side]  # the red cube, or the green ball
        return (image[..., side] > 2 * np.delete(image, side, axis=-1).max(axis=-1) + 40).sum()

    def own_color(mode):
        return (images[mode, 0] == [255, 0, 0]).all(axis=-1).sum()

    cube = colored('lit', 0)
    assert cube > 1000 and colored('lit', 1) > 1000
    # Without light the colour is the model's own, on all faces.
    assert own_color('unlit') > 0.95 * cube > 0.5 * cube > own_color('lit')
    assert 20 < colored('wireframe', 0) < 0.3 * cube
    assert colored('collision', 0) == pytest.approx(cube, rel=0.05)
    assert colored('collision', 1) == 0
    assert colored('reflections', 0) > 1.2 * cube
