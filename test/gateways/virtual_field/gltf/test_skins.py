# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Skins, whole and in pieces, against the vertices that MuJoCo's own renderer draws."""

import mujoco
import numpy as np
import pytest

from test.gateways.virtual_field.gltf.glb_reader import Glb
from urlab_ros_bridge.client.model import read_elements
from urlab_ros_bridge.gateways.virtual_field.gltf import BodyModels
from urlab_ros_bridge.gateways.virtual_field.gltf import Geoms

ROWS, AROUND = 9, 6
SHARED = 4  # the row that both bodies move


def points():
    """Return rings around x; the lower body moves rows 0 to 4, the upper one 4 to 8."""
    angles = np.arange(AROUND) * 2 * np.pi / AROUND
    ring = 0.05 * np.column_stack([np.zeros(AROUND), np.cos(angles), np.sin(angles)])
    return np.concatenate([ring + np.array([0.1 * row, 0.0, 0.0]) for row in range(ROWS)])


def text(values):
    return ' '.join(f'{value:.9g}' for value in np.ravel(values))


def skinned_arm(group=1, rgba='0.8 0.2 0.1 1', inflate=0.0):
    """Return the MJCF of an arm that has no other look than a skin."""
    faces = []
    for row in range(ROWS - 1):
        for one in range(AROUND):
            a, b = row * AROUND + one, row * AROUND + (one + 1) % AROUND
            faces += [(a, a + AROUND, b), (b, a + AROUND, b + AROUND)]
    lower = np.arange((SHARED + 1) * AROUND)
    upper = np.arange(SHARED * AROUND, ROWS * AROUND)

    def weights(ids):
        return np.where(ids // AROUND == SHARED, 0.5, 1.0)

    return f"""
    <mujoco>
      <worldbody>
        <body name="lower" pos="1 2 3" euler="20 30 40">
          <joint type="ball"/><geom type="capsule" size=".03" fromto="0 0 0 .4 0 0" group="3"/>
          <body name="upper" pos=".4 0 0">
            <joint type="hinge" axis="0 1 0"/>
            <geom type="capsule" size=".03" fromto="0 0 0 .4 0 0" group="3"/>
          </body>
        </body>
      </worldbody>
      <deformable>
        <skin name="hide" group="{group}" rgba="{rgba}" inflate="{inflate}"
              vertex="{text(points())}" face="{text(faces)}">
          <bone body="lower" bindpos="0 0 0" bindquat="1 0 0 0" vertid="{text(lower)}"
                vertweight="{text(weights(lower))}"/>
          <bone body="upper" bindpos=".4 0 0" bindquat=".9 .1 .3 .2" vertid="{text(upper)}"
                vertweight="{text(weights(upper))}"/>
        </skin>
      </deformable>
    </mujoco>"""


def skinned(**look):
    """Return the arm, bent, and what draws it."""
    model = mujoco.MjModel.from_xml_string(skinned_arm(**look))
    data = mujoco.MjData(model)
    data.qpos[:] = 0.8, 0.3, -0.2, 0.5, 0.7
    mujoco.mj_forward(model, data)
    return model, data, BodyModels(model, read_elements(model, ()))


def drawn_by_mujoco(model, data):
    scene = mujoco.MjvScene(model, 100)
    option, camera = mujoco.MjvOption(), mujoco.MjvCamera()
    mujoco.mjv_updateScene(model, data, option, None, camera, mujoco.mjtCatBit.mjCAT_ALL, scene)
    return np.array(scene.skinvert, float).reshape(-1, 3)[: ROWS * AROUND]


def in_the_world(data, body, positions):
    z_up = np.column_stack([positions[:, 0], -positions[:, 2], positions[:, 1]])
    return z_up @ data.xmat[body].reshape(3, 3).T + data.xpos[body]


def test_what_one_body_moves_is_where_mujoco_draws_it():
    model, data, models = skinned()
    wanted = drawn_by_mujoco(model, data)
    found, faces = [], 0
    for name in ('lower', 'upper'):
        body = model.body(name).id
        assert models.is_drawn(body) and models.has_skin(body) and not models.geoms(body)
        glb = Glb(models.glb(body))
        (primitive,) = glb.primitives
        positions, normals, triangles = glb.surface(primitive)
        faces += len(triangles)
        found.append(in_the_world(data, body, positions))
        np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0, atol=1e-5)
    # Those with two corners that both bodies move, on either side, are in both pieces.
    assert faces == model.nskinface + 2 * AROUND
    everything = np.concatenate(found)
    rows = np.arange(ROWS * AROUND) // AROUND
    for row in range(ROWS):
        for point in wanted[rows == row]:
            gap = np.linalg.norm(everything - point, axis=1).min()
            assert gap < (0.03 if row == SHARED else 1e-6), row


def bent(glb, places):
    """Bend a skin as viewers of glTF do; `places` are matrices of its joints."""
    (primitive,) = glb.primitives
    positions, normals, faces = glb.surface(primitive)
    joints, weights, inverses, binds = glb.rig(primitive)
    np.testing.assert_allclose(binds @ inverses - np.eye(4), 0.0, atol=1e-6)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0, atol=1e-5)
    turns = np.einsum('nw,nwij->nij', weights, (places @ inverses)[joints])
    return turns[:, :3, :3] @ positions[:, :, None] + turns[:, :3, 3:], faces


def test_a_whole_skin_bends_as_mujoco_draws_it():
    model, data, models = skinned()
    ((content, bodies),) = models.skins()
    assert [model.body(body).name for body in bodies] == ['lower', 'upper']
    y_up = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])
    places = np.tile(np.eye(4), (2, 1, 1))
    for place, body in zip(places, bodies, strict=True):
        # As a body's file is placed: both frames have y up.
        place[:3, :3] = y_up @ data.xmat[body].reshape(3, 3) @ y_up.T
        place[:3, 3] = y_up @ data.xpos[body]
    found, faces = bent(Glb(content), places)
    wanted = drawn_by_mujoco(model, data) @ y_up.T
    np.testing.assert_allclose(found[:, :, 0], wanted, atol=1e-5)
    np.testing.assert_array_equal(faces, model.skin_face)
    for name in ('lower', 'upper'):
        assert not models.is_drawn(model.body(name).id, Geoms.WITHOUT_SKINS)


def test_an_inflated_skin_is_as_thick_as_mujoco_draws_it():
    model, data, models = skinned(inflate=0.01)
    data.qpos[:] = model.qpos0
    mujoco.mj_forward(model, data)
    glb = Glb(models.glb(model.body('lower').id))
    positions, _, _ = glb.surface(glb.primitives[0])
    drawn = drawn_by_mujoco(model, data)
    placed = in_the_world(data, model.body('lower').id, positions)
    first = np.arange(AROUND, 2 * AROUND)  # a ring away from both ends
    for point in drawn[first]:
        assert np.linalg.norm(placed - point, axis=1).min() < 1e-3
    radii = np.linalg.norm(positions[:, 1:], axis=1)
    np.testing.assert_allclose(np.abs(radii - 0.05), 0.01, atol=1e-3)


@pytest.mark.parametrize('hidden', [{'group': 3}, {'rgba': '1 1 1 0'}])
def test_a_skin_that_no_viewer_shows_is_not_drawn_and_none_collides(hidden):
    model, _, models = skinned(**hidden)
    body = model.body('lower').id
    assert not models.is_drawn(body) and not models.skins()
    _, _, shown = skinned()
    assert shown.is_drawn(body, Geoms.COLLIDING)  # its geom, which is hidden
    solid, skin = (Glb(shown.glb(body, which)) for which in (Geoms.COLLIDING, Geoms.SEEN))
    assert len(solid.primitives) == len(skin.primitives) == 1
    assert len(solid.surface(solid.primitives[0])[2]) != len(skin.surface(skin.primitives[0])[2])
