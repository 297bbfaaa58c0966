# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Imported carts with two driven wheels, as they are described, turn as far as commanded."""

import math
from pathlib import Path

import mujoco
import numpy as np
import pytest
import trimesh

from urlab_ros_bridge.geometry import wxyz_to_xyzw
from urlab_ros_bridge.geometry import yaw_of
from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.model.world import load_world
from urlab_ros_bridge.sim.physics.control.articulation import ArticulationControl

CART = (Path(__file__).parent / 'data' / 'cart.urdf').read_text()
WHEEL = """<link name="{side}"><inertial><mass value="0.03"/>
<inertia ixx="2e-5" iyy="2e-5" izz="2e-5" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><origin rpy="{turn} 0 0"/><geometry>{shape}</geometry></collision></link>
<joint name="{side}" type="continuous"><parent link="base_link"/><child link="{side}"/>
<origin xyz="0 {y} 0.033" rpy="{joint} 0 0"/><axis xyz="0 {axis}"/></joint>"""
CYLINDER = '<cylinder radius="0.033" length="0.03"/>'
BACK, FORTH = -math.pi / 2, math.pi / 2
# Turn of the shape in the link and of the joint in the base (rad), and axis, left and right.
CONVENTIONS = {
    'shape turned': (CYLINDER, (FORTH, 0, '1 0'), (FORTH, 0, '1 0')),
    'joint turned back': (CYLINDER, (0, BACK, '0 1'), (0, BACK, '0 1')),
    'joint turned forth': (CYLINDER, (0, FORTH, '0 -1'), (0, FORTH, '0 -1')),
    'mirrored': (CYLINDER, (0, BACK, '0 1'), (0, FORTH, '0 -1')),
    'sphere': ('<sphere radius="0.033"/>', (0, 0, '1 0'), (0, 0, '1 0')),
    'mesh': ('<mesh filename="wheel.stl"/>', (FORTH, 0, '1 0'), (FORTH, 0, '1 0')),
}
BALL = '<geometry><sphere radius="0.01"/></geometry>'
SLIPPERY = '<gazebo reference="caster"><mu1>0.1</mu1><mu2>0.1</mu2></gazebo>'
BLOCK = '<geometry><box size="0.03 0.01 0.02"/></geometry>'


SCENE = '<mujoco><worldbody><geom type="plane" size="9 9 1"/></worldbody></mujoco>'


@pytest.fixture(params=[*((name, BALL) for name in CONVENTIONS), ('shape turned', BLOCK)])
def world(request, tmp_path, monkeypatch):
    """Return the world of a cart; a ball drags on the floor as much as its wheels grip."""
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path / 'cache'))
    name, caster = request.param
    return load_world(ServerConfig(model=write_cart(tmp_path, name, caster)))


def write_cart(tmp_path, name, caster):
    """Write the description of a cart, and return its path."""
    shape, left, right = CONVENTIONS[name]
    trimesh.creation.cylinder(0.033, 0.03).export(tmp_path / 'wheel.stl')
    wheels = {
        side: WHEEL.format(
            side=f'{side}_wheel', y=y, shape=shape, turn=turn, joint=joint, axis=axis
        )
        for side, y, (turn, joint, axis) in (('left', 0.14, left), ('right', -0.14, right))
    }
    path = tmp_path / 'cart.urdf'
    path.write_text(CART.format(caster=caster, **wheels))
    if caster == BLOCK:
        path.write_text(path.read_text().replace('</robot>', f'{SLIPPERY}</robot>'))
    return path


def driven(world, linear, angular):
    """Return forward speed and yaw rate (m/s, rad/s), means of three seconds after a first one."""
    model, data, cart = world.model, world.data, world.articulations['cart']
    world.restore_start()
    control = ArticulationControl(model, data, cart, world.spec.articulations[0])
    control.reset(world.start_ctrl('cart'))
    steps, speeds = round(1.0 / model.opt.timestep), []
    for step in range(4 * steps):
        if step % 50 == 0:
            control.twist.set((linear, 0), (0, 0, angular), data.time)
        control.apply(raw=False)
        mujoco.mj_step(model, data)
        yaw = yaw_of(wxyz_to_xyzw(data.xquat[cart.base.id]))
        ahead = data.qvel[:2] @ (math.cos(yaw), math.sin(yaw))
        speeds.append((ahead, data.qvel[5]))
    return np.mean(speeds[steps:], axis=0)


@pytest.mark.parametrize('command', [(0.0, 0.8), (0.0, 0.3), (0.3, 0.5)])
def test_a_cart_turns_within_three_percent(world, command):
    np.testing.assert_allclose(driven(world, *command), command, rtol=0.03, atol=1e-3)


def test_a_cart_drives_in_a_scene_with_the_default_integrator(tmp_path, monkeypatch):
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path / 'cache'))
    (tmp_path / 'floor.xml').write_text(SCENE)
    path = write_cart(tmp_path, 'shape turned', BLOCK)
    world = load_world(ServerConfig(model=path, scene=tmp_path / 'floor.xml'))
    np.testing.assert_allclose(driven(world, 0.3, 0.5), (0.3, 0.5), rtol=0.1)
    assert not any(item.number for item in world.data.warning)
