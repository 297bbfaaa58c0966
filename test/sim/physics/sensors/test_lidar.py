# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Scanners: every ray equals mj_ray in a world without the robot and without decoration."""

from __future__ import annotations

import math
import re

import mujoco
import numpy as np
import pytest

from urlab_ros_bridge.sim.model.sidecar.specs import LidarSpec
from urlab_ros_bridge.sim.physics.rays import RayTargets
from urlab_ros_bridge.sim.physics.sensing import NotAScanner
from urlab_ros_bridge.sim.physics.sensing import RayScanner

WORLD = """
<mujoco>
  <compiler boundmass="1" boundinertia="1"/>
  <asset><material name="clear" rgba="1 1 1 0"/>
    <mesh name="wedge" vertex="0 0 0  1 0 0  0 1 0  0 0 2"/>
    <hfield name="hills" nrow="5" ncol="5" size="2 2 0.5 0.1"
      elevation="0 1 0 2 0  1 3 1 0 1  0 1 2 1 0  2 0 1 3 1  0 1 0 1 0"/></asset>
  <worldbody>
    <geom type="plane" size="0 0 1"/>
    <geom type="box" pos="3 0 1" size="0.1 4 1"/>
    <geom type="box" pos="-3 1 1" size="0.1 2 1" group="3" rgba="1 0 0 0"/>
    <geom type="cylinder" pos="0 3 1" size="0.5 1" material="clear" group="4"/>
    <geom type="mesh" mesh="wedge" pos="-1 -3 0"/>
    <geom type="hfield" hfield="hills" pos="6 6 0"/>
    <body pos="1.5 -1 1"><freejoint/><geom size="0.4"/></body>
    <body name="lamp" pos="-1.2 1 0.5" mocap="true"><geom size="0.4"/></body>
    DECOR
    ROBOT
  </worldbody>
  SENSORS
</mujoco>"""


DECOR = '<geom type="box" pos="0 -1 1" size="2 0.05 2" contype="0" conaffinity="0"/>'


SITE = '<site name="r_eye" pos="0.1 0.05 0.3" euler="10 -20 30"/>'


ROBOT = f"""
    <body name="base" pos="0 0 0.6"><freejoint/><geom type="box" size="0.4 0.3 0.2"/>
      <body name="mast" pos="0 0 0.3"><joint axis="0 1 0"/>
        <geom type="cylinder" size="0.05 0.3" pos="-0.2 0 0.2"/>{SITE}
        <body pos="0.4 0 0.3"><geom size="0.1"/></body></body></body>"""


RAYS = 61


SENSORS = f"""<sensor><gyro name="r_gyro" site="r_eye"/>
    <user name="r_scan" dim="{RAYS}" objtype="site" objname="r_eye" needstage="pos"/>
    <user name="r_free" dim="3"/><user name="r_one" dim="1" objtype="site" objname="r_eye"/>
    <clock name="r_clock"/></sensor>"""


SPEC = LidarSpec(-2.0, 2.5, 5.0, 0.1, 10.0)


def world(decor=DECOR, robot=ROBOT, visible=False):
    xml = WORLD.replace('DECOR', decor).replace('ROBOT', robot).replace('SENSORS', SENSORS)
    if visible:
        xml = xml.replace('rgba="1 0 0 0"', '').replace('material="clear"', '')
    return mujoco.MjModel.from_xml_string(xml)


@pytest.fixture(scope='module')
def model():
    return world()


def test_every_ray_is_mj_ray_at_random_poses(model):
    targets = RayTargets(model)
    lidar = RayScanner(model, model.sensor('r_scan').id, SPEC, targets)
    # The twin has the same joints and site, but nothing of the robot that a ray could meet.
    twin = world(decor='', robot=re.sub('<geom .*?/>', '', ROBOT), visible=True)
    data, other = mujoco.MjData(model), mujoco.MjData(twin)
    rng = np.random.default_rng(3)
    missed = hits = 0
    for _ in range(60):
        data.qpos[:] = rng.normal(size=model.nq)
        mujoco.mj_normalizeQuat(model, data.qpos)
        data.mocap_pos[:] = rng.uniform(-2, 2, 3)
        other.qpos[:], other.mocap_pos[:] = data.qpos, data.mocap_pos
        mujoco.mj_forward(model, data)
        mujoco.mj_forward(twin, other)
        targets.with_groups(np.ones(model.ngeom))  # another scanner, which sees nothing
        lidar.update(model, data)
        site = other.site('r_eye')
        axes = site.xmat.reshape(3, 3)
        for k, got in enumerate(data.sensor('r_scan').data):
            angle = -2.0 + k * 4.5 / (RAYS - 1)
            ray = math.cos(angle) * axes[:, 0] + math.sin(angle) * axes[:, 1]
            want = mujoco.mj_ray(
                twin, other, site.xpos, ray, None, 1, -1, np.zeros(1, dtype=np.int32)
            )
            want = want if 0 <= want <= 5.0 else -1.0
            assert got == pytest.approx(want, abs=1e-9)
            missed, hits = missed + (want < 0), hits + (want > 0)
    assert missed > 100 and hits > 1000  # the law has met both cases


@pytest.mark.parametrize(('rate', 'timestep'), [(7.0, 0.005), (2000.0, 0.002)])
def test_each_scan_is_made_in_the_first_tick_of_its_period(model, rate, timestep):
    lidar = RayScanner(
        model, model.sensor('r_scan').id, LidarSpec(-1.0, 1.0, 5.0, 0.0, rate), RayTargets(model)
    )
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    times = []
    for tick in range(2001):
        data.time += timestep if tick else 0.0  # with the rounding of mj_step
        if lidar.due(data.time):
            lidar.update(model, data)
            times.append(data.time)
            assert not lidar.due(data.time)
    period = max(1 / rate, timestep)
    late = np.array(times) - np.arange(len(times)) * period
    assert late.min() > -1e-6 and late.max() < timestep - 1e-6
    assert len(times) == math.floor(2000 * timestep / period + 1e-6) + 1


@pytest.mark.parametrize('sensor', ['r_gyro', 'r_free', 'r_one'])
def test_wrong_sensors_are_refused(model, sensor):
    with pytest.raises(NotAScanner, match=sensor):
        RayScanner(model, model.sensor(sensor).id, SPEC, RayTargets(model))
