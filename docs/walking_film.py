#!/usr/bin/env python3
# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Film the bundled quadruped while it trots, turns and is pushed: docs/images/quadruped_trot.webp.

In the environment of `make setup`:

    MUJOCO_GL=egl python docs/walking_film.py
"""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
from PIL import Image

from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.model.world import load_world
from urlab_ros_bridge.sim.physics.control.articulation import ArticulationControl

FILE = Path(__file__).parent / 'images' / 'quadruped_trot.webp'
SIZE = (400, 250)
FRAME = 0.068  # s: a fifth of the gait's cycle
# Until when (s) which command holds: vx, vy (m/s), yaw rate (rad/s).
SCRIPT = (
    (0.4, (0.0, 0.0, 0.0)),
    (2.6, (0.5, 0.0, 0.0)),
    (4.4, (0.3, 0.0, 1.0)),
    (5.0, (0.0,) * 3),
)
PUSH = (1.7, 1.8, (0.0, 110.0, 0.0))  # from, until (s), force (N)


def main() -> None:
    """Walk, draw a frame now and then, and write the film."""
    world = load_world(ServerConfig(world='quadruped'))
    model, data = world.model, world.data
    key = model.key('quadruped_stand').id
    mujoco.mj_resetDataKeyframe(model, data, key)
    (spec,) = world.spec.articulations
    control = ArticulationControl(model, data, world.articulations['quadruped'], spec)
    control.reset(model.key(key).ctrl)
    trunk = model.body('quadruped_base_link').id
    camera = mujoco.MjvCamera()
    camera.distance, camera.elevation, camera.azimuth = 1.25, -12.0, 125.0
    frames = []
    with mujoco.Renderer(model, SIZE[1], SIZE[0]) as renderer:
        while data.time < SCRIPT[-1][0] - 1e-9:
            vx, vy, turn = next(twist for until, twist in SCRIPT if data.time < until)
            control.twist.set((vx, vy), (0.0, 0.0, turn), data.time, 0.5)
            start, end, force = PUSH
            data.xfrc_applied[trunk, :3] = np.array(force) * (start <= data.time < end)
            control.apply(False)
            mujoco.mj_step(model, data)
            if data.time >= len(frames) * FRAME:
                camera.lookat[:] = [*data.xpos[trunk][:2], 0.18]
                renderer.update_scene(data, camera)
                frames.append(Image.fromarray(renderer.render()))
    first, *others = frames
    first.save(
        FILE, save_all=True, append_images=others, duration=round(FRAME * 1000), loop=0,
        quality=45, method=6,
    )  # fmt: skip
    print(f'{FILE.name}: {len(frames)} frames, {FILE.stat().st_size // 1024} kB')


if __name__ == '__main__':
    main()
