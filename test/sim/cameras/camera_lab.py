# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The small world of the camera tests, and ways to serve it."""

from bundled_server import client_of
import mujoco
import numpy as np
import pytest

from urlab_ros_bridge.client.cameras.stream import open_camera
from urlab_ros_bridge.sim.cameras.renderer import environment

needs_gl = pytest.mark.skipif(
    all(environment.missing_library(name) for name in environment.BACKENDS),
    reason='OpenGL is not installed',
)

SCENE = """
<mujoco model="lab">
  <option gravity="0 0 0" timestep="0.002"/>
  <visual><map znear="0.01" zfar="20"/></visual>
  <statistic extent="1"/>
  <worldbody>
    <light pos="0 -3 4" dir="0 0.5 -1" diffuse="1 1 1"/>
    <geom name="floor" type="plane" size="10 10 0.1" rgba="0 0 1 1"/>
    <geom name="wall" type="box" size="5 0.1 1" pos="0 3 1" rgba="0.5 0.5 0.5 1"/>
    <body name="crate_1" pos="-1 1 0.3"><freejoint name="crate_1_free"/>
      <geom type="box" size="0.3 0.3 0.3" rgba="0 1 0 1"/></body>
    <body name="crate_2" pos="1 1 0.3"><freejoint name="crate_2_free"/>
      <geom type="box" size="0.3 0.3 0.3" rgba="0 1 0 1"/></body>
    <camera name="front" pos="0 -4 1" xyaxes="1 0 0 0 0 1" fovy="60"/>
    <camera name="range" pos="0 -4 1" xyaxes="1 0 0 0 0 1" fovy="60"/>
    <camera name="parts" pos="0 -4 1" xyaxes="1 0 0 0 0 1" fovy="60" resolution="320 240"/>
    <camera name="each" pos="0 -4 1" xyaxes="1 0 0 0 0 1" fovy="60" resolution="320 240"/>
    <camera name="late" pos="0 -4 1" xyaxes="1 0 0 0 0 1" fovy="60" resolution="320 240"/>
  </worldbody>
</mujoco>
"""

# A red plate that swings along x: 1 m and 10 rad/s, 10 m/s in the middle.
CART = """
<mujoco model="cart">
  <worldbody>
    <body name="cart" pos="0 0 1.5">
      <joint name="x" type="slide" axis="1 0 0" stiffness="100"/>
      <geom name="box" type="box" size="0.15 0.005 0.15" mass="1" rgba="1 0 0 1"/>
      <camera name="eye" pos="0 -0.2 0" xyaxes="1 0 0 0 0 1" resolution="160 120"/>
    </body>
  </worldbody>
  <actuator><motor name="push" joint="x"/></actuator>
  <keyframe><key name="swing" qpos="1"/></keyframe>
</mujoco>
"""

SIDECAR = """
scene: scene.xml
articulations:
  - prefix: cart
    model: cart.xml
    cameras: {eye: {rate: 50}}
global_cameras:
  front: {rate: 100}
  range: {mode: depth, rate: 100}
  parts: {mode: semantic, rate: 20}
  each: {mode: instance, rate: 20}
  late: {rate: 50, latency: 0.1}
"""


def connect(server, **options):
    """Return a client of a server."""
    return client_of(server, **{'shared': True, 'timeout': 60.0, **options})


def opened(client, name='front', **options):
    """Return the stream of a camera of the scene or the cart."""
    handshake = client.handshake
    cameras = {**handshake.global_cameras, **handshake.articulations['cart'].cameras}
    return open_camera(cameras[name], **{'shm_dir': handshake.shm_session_dir, **options})


def go_on(client):
    """Let ten seconds go by in a paused world; return the time of the simulation (ns)."""
    for _ in range(9):
        client.step(500, while_paused=True)
    return client.step(500, while_paused=True).sim_time_ns


def shot(client, *names, mode='sync', **fields):
    """Return the reply of a step, with frames of these cameras."""
    return client.step(include_cameras=dict.fromkeys(names, mode), **fields)


def fresh_data(model, reply=None):
    """Return MjData in the state that a reply reports."""
    data = mujoco.MjData(model)
    if reply is not None:
        cart = model.joint('cart_x')
        data.qpos[cart.qposadr] = reply.articulations['cart'].qpos[0]
    mujoco.mj_kinematics(model, data)
    mujoco.mj_camlight(model, data)
    return data


def colour_at(image, model, data, camera, point):
    """Return blue, green, red of an image at a point of the world."""
    number = model.camera(camera).id
    width, height = model.cam_resolution[number]
    focal = height / 2 / np.tan(np.radians(model.cam_fovy[number]) / 2)
    local = data.cam_xmat[number].reshape(3, 3).T @ (point - data.cam_xpos[number])
    column = int(width / 2 - focal * local[0] / local[2])
    return image[int(height / 2 + focal * local[1] / local[2]), column, :3].tolist()
