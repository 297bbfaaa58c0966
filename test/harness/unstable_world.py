# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
A robot whose gains no timestep can follow: stable at rest, unstable after any other setpoint.

MuJoCo notices it within three steps and resets the world; the robot is at rest again.
"""

from pathlib import Path

PREFIX = 'stiff'
UNSTABLE = """
<mujoco model="stiff">
  <option timestep="0.002" gravity="0 0 0" integrator="Euler"/>
  <worldbody>
    <light pos="0 0 2"/>
    <camera name="eye" pos="0 -1 0.5" xyaxes="1 0 0 0 0.4 1" resolution="32 24"/>
    <body name="arm">
      <joint name="hinge" type="hinge" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0.1 0 0" size="0.01" mass="0.01"/>
    </body>
  </worldbody>
  <actuator>
    <position name="hinge" joint="hinge" kp="1e8" kv="0" ctrlrange="-1 1"/>
  </actuator>
</mujoco>
"""


def write_unstable_world(folder):
    """Return the path of the model in a folder."""
    path = Path(folder) / f'{PREFIX}.xml'
    path.write_text(UNSTABLE)
    return path
