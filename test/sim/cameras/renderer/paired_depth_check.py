# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Draws RGB-D cameras twice and compares; prints one JSON object.

A program of its own: which OpenGL MuJoCo uses is chosen once, when it is imported.
"""

import json
from pathlib import Path
import sys

import mujoco
import numpy as np

from urlab_ros_bridge.sim.cameras.catalog import read_catalog
from urlab_ros_bridge.sim.cameras.renderer import environment
from urlab_ros_bridge.sim.cameras.renderer.drawing import choose_quality
from urlab_ros_bridge.sim.cameras.renderer.drawing import SceneRenderer
from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.model.world import load_world

SCENE = """
<mujoco>
  <visual><map znear="0.01" zfar="20"/></visual>
  <statistic extent="1"/>
  <asset>{sky}</asset>
  <worldbody>
    <light pos="0 -3 4" dir="0 0.5 -1"/>
    <geom name="floor" type="plane" size="{floor}"/>
    <geom type="box" size="0.3 0.3 0.3" pos="-1 1 0.3" rgba="0 1 0 1"/>
    <geom type="box" size="0.3 0.1 0.3" pos="1 0 0.3" rgba="1 0 0 {alpha}"/>
    <geom type="sphere" size="0.3" pos="0 {far} 1"/>
    <camera name="front" pos="0 -2 1" xyaxes="1 0 0 0 0 1" fovy="60" resolution="160 120"/>
    <camera name="range" pos="0 -2 1" xyaxes="1 0 0 0 0 1" fovy="{fovy}" resolution="160 120"/>
  </worldbody>
</mujoco>
"""
SIDECAR = """
scene: scene.xml
global_cameras:
  front: {mode: real}
  range: {mode: depth}
"""
SKY = '<texture type="skybox" builtin="gradient" width="64" height="64" rgb1="1 1 1"/>'
PLAIN = {'sky': SKY, 'floor': '3 3 0.1', 'alpha': 1, 'far': 3, 'fovy': 60}
SCENES = {
    'sky': PLAIN,
    'no sky, endless floor': {**PLAIN, 'sky': '', 'floor': '0 0 0.1'},
    'sky, endless floor': {**PLAIN, 'floor': '0 0 0.1'},
    'sky, something far away': {**PLAIN, 'far': 15},
    'transparent': {**PLAIN, 'alpha': 0.3},
    'another lens': {**PLAIN, 'fovy': 50},
}


def compare(world):
    """Return the cameras that were not drawn, and those whose image is not the one drawn alone."""
    model, data = world.model, world.data
    items = read_catalog(model, world.spec)
    quality = choose_quality(model, world.spec.rendering, 'llvmpipe')
    prefixes = [each.prefix for each in world.spec.articulations]
    renderer = SceneRenderer(model, data, items, prefixes, quality)
    draw, drawn, wrong = renderer.draw, set(), []
    undrawn = {item.index for item in items}
    renderer.draw = lambda index, words: drawn.add(index) or draw(index, words)
    mujoco.mj_forward(model, data)
    indices = [item.index for item in items]
    # The depth camera may be asked for before the colour camera.
    for order in (indices, indices[::-1]):
        images = {}
        for raw, _, index in renderer.draw_all(
            order, lambda: np.empty(renderer.words_needed, np.uint32)
        ):
            images[index] = bytearray(items[index].size)
            raw.write(memoryview(images[index]))
        assert sorted(images) == indices
        undrawn -= drawn
        for index in indices:
            alone = bytearray(items[index].size)
            renderer.render(index, memoryview(alone))
            if alone != images[index]:
                wrong.append(items[index].key)
        drawn.clear()
    renderer.close()
    return [items[index].key for index in undrawn], wrong


def worlds(folder):
    """Return the name and the configuration of every world that is compared."""
    for name in ('rover', 'bimanual'):
        yield name, {'world': name}
    for name, values in SCENES.items():
        (folder / 'scene.xml').write_text(SCENE.format(**values))
        (folder / 'scene.yaml').write_text(SIDECAR)
        yield name, {'model': folder / 'scene.yaml'}


if __name__ == '__main__':
    context, _ = environment.open_context(64, 64)
    given = worlds(Path(sys.argv[1]))
    print(json.dumps({name: compare(load_world(ServerConfig(**each))) for name, each in given}))
