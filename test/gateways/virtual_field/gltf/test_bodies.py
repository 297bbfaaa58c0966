# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0

import io

from glb_reader import Glb
import mujoco
import numpy as np
from PIL import Image
import pytest

from urlab_ros_bridge.gateways.virtual_field.gltf import BodyModels
from urlab_ros_bridge.gateways.virtual_field.gltf import Geoms
from urlab_ros_bridge.model import WorldModel

MODEL = """
<mujoco>
  <asset>
    <texture name="check" type="2d" builtin="checker" width="16" height="8" rgb1="1 0 0"/>
    <texture name="around" type="cube" builtin="flat" width="4" height="4" rgb1="0 1 0"
             rgb2="0 1 0"/>
    <material name="checked" texture="check" texrepeat="3 2" shininess="1" specular="1"/>
    <material name="around" texture="around"/>
    <material name="shiny" rgba="1 0.5 0.02 0.25" metallic="0.8" roughness="0.1" emission="0.5"/>
    <mesh name="wedge" vertex="0 0 0  1 0 0  0 2 0  0 0 3"
          face="0 2 1  0 1 3  0 3 2  1 2 3"/>
    <mesh name="sheet" vertex="0 0 0  1 0 0  0 1 0  0 0 .1" face="0 1 2 0 1 3 0 3 2 1 2 3"
          texcoord="0 0  1 0  0 1  .5 .5"/>
    <hfield name="hills" nrow="3" ncol="4" size="2 1 0.5 0.1"
            elevation="0 0 0 0  0 .4 1 0  0 0 0 0"/>
  </asset>
  <worldbody>
    <geom name="floor" type="plane" size="4 3 1" material="checked"/>
    <geom type="hfield" hfield="hills" pos="9 0 0"/>
    <body name="empty"><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>
    <body name="solids" pos="1 2 3" euler="10 20 30">
      <geom type="{kind}" {size} pos=".1 .2 .3" euler="40 50 60" density="1"/>
    </body>
    <body name="looks">
      <geom size=".1" material="around" rgba=".5 .5 .5 1"/>
      <geom size=".1" material="shiny"/>
      <geom size=".1" material="shiny" pos="1 0 0"/>
      <geom size=".1" rgba="1 1 1 0"/>
      <geom size=".1" group="3" pos="5 0 0"/>
      <geom size=".1" contype="0" conaffinity="0"/>
      <geom type="mesh" mesh="sheet" material="checked" contype="0" conaffinity="0"/>
    </body>
  </worldbody>
</mujoco>
"""

SOLIDS = {
    'box': 'size=".1 .2 .3"',
    'sphere': 'size=".2"',
    'ellipsoid': 'size=".1 .2 .3"',
    'capsule': 'size=".1 .3"',
    'cylinder': 'size=".1 .3"',
    'mesh': 'mesh="wedge"',
}


def build(kind='sphere', size='size=".1"'):
    model = mujoco.MjModel.from_xml_string(MODEL.format(kind=kind, size=size))
    return model, BodyModels(model, WorldModel(model, ()))


def read(models, model, name):
    return Glb(models.glb(model.body(name).id, Geoms.SEEN))


def y_up(rows):
    x, y, z = np.asarray(rows, float).T
    return np.column_stack([x, z, -y])


@pytest.mark.parametrize('kind', SOLIDS)
def test_a_solid_has_the_volume_the_place_and_the_extent_that_mujoco_gives_it(kind):
    # MuJoCo's own mass at density 1, centre of mass and axis-aligned box, for each kind.
    model, models = build(kind, SOLIDS[kind])
    glb = read(models, model, 'solids')
    (primitive,) = glb.primitives
    positions, normals, faces = glb.surface(primitive)

    body = model.body('solids')
    corners = positions[faces].astype(float)
    parts = np.einsum('ij,ij->i', corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
    assert parts.sum() == pytest.approx(body.mass[0], rel=0.02)
    centre = (corners.sum(1) / 4 * parts[:, None]).sum(0) / parts.sum()
    np.testing.assert_allclose(centre, y_up([body.ipos])[0], atol=2e-3)

    geom = model.geom(int(body.geomadr[0]))
    turn, (x, y, z) = np.zeros(9), positions.astype(float).T
    mujoco.mju_quat2Mat(turn, geom.quat)
    places = (np.column_stack([x, -z, y]) - geom.pos) @ turn.reshape(3, 3)
    middle, half = model.geom_aabb[geom.id].reshape(2, 3)
    np.testing.assert_allclose(places.min(0), middle - half, atol=1e-5)
    np.testing.assert_allclose(places.max(0), middle + half, atol=1e-5)

    # Normals point the way that faces do.
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0, atol=1e-5)
    a, b, c = positions[faces].transpose(1, 0, 2)
    across = np.cross(b - a, c - a)
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    assert np.einsum('ij,ikj->ik', across, normals[faces]).min() > 0.5


def test_only_what_a_viewer_shows_is_seen_and_all_that_touches_collides():
    model, models = build()
    body = model.body('looks').id
    seen = {geom.id for geom in models.geoms(body)}
    colliding = {geom.id for geom in models.geoms(body, Geoms.COLLIDING)}
    first = int(model.body('looks').geomadr[0])
    assert seen == {first, first + 1, first + 2, first + 5, first + 6}
    assert colliding == {first, first + 1, first + 2, first + 3, first + 4}


def test_a_material_is_one_primitive_and_keeps_its_properties():
    model, models = build()
    glb = read(models, model, 'looks')
    # The cube texture's colour, the shiny material, no material, the textured mesh.
    assert len(glb.primitives) == 4
    positions, _, _ = glb.surface(glb.primitives[1])
    np.testing.assert_allclose(positions.max(0) - positions.min(0), [1.2, 0.2, 0.2], atol=1e-5)
    around, shiny = (glb.material(primitive) for primitive in glb.primitives[:2])
    # A green cube texture, under the colour of the material, white.
    assert around['pbrMetallicRoughness']['baseColorFactor'] == [0.0, 1.0, 0.0, 1.0]
    look = shiny['pbrMetallicRoughness']
    assert (look['metallicFactor'], look['roughnessFactor']) == (0.8, 0.1)
    # sRGB is decoded.
    assert look['baseColorFactor'] == pytest.approx([1.0, 0.21404, 0.00155, 0.25], abs=1e-4)
    assert shiny['alphaMode'] == 'BLEND'
    assert shiny['emissiveFactor'] == pytest.approx([0.5, 0.10702, 0.00077], abs=1e-4)


def test_a_texture_keeps_its_pixels_and_repetitions():
    model, models = build()
    glb = read(models, model, 'world')
    floor = next(p for p in glb.primitives if 'TEXCOORD_0' in p['attributes'])
    image = np.asarray(Image.open(io.BytesIO(glb.image(floor))))
    texture = model.texture('check')
    texels = model.tex_data[texture.adr[0] :][: 16 * 8 * 3].reshape(8, 16, 3)
    np.testing.assert_array_equal(image, texels)

    texels = glb.array(floor['attributes']['TEXCOORD_0'])
    np.testing.assert_allclose(texels.max(0) - texels.min(0), [3.0, 2.0], atol=1e-6)


def test_a_height_field_has_the_heights_that_rays_meet():
    model, models = build()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    glb = read(models, model, 'world')
    hills = next(p for p in glb.primitives if 'TEXCOORD_0' not in p['attributes'])
    positions, normals, _ = glb.surface(hills)
    top = positions[normals[:, 1] > 0.1]
    assert len(top) == 12
    for x, up, back in top:
        # A hair inward: at the very edge a ray passes by.
        at = np.array([9 + (x - 9) * 0.9999, -back * 0.9999, 5.0])
        distance = mujoco.mj_ray(
            model, data, at, np.array([0.0, 0, -1]), None, 1, -1, np.zeros(1, 'i4'), None
        )
        assert 5.0 - distance == pytest.approx(up, abs=2e-3)
