# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A world that has one of everything that the bridge knows."""

from pathlib import Path

import urlab_ros_bridge.models

ROVER = Path(urlab_ros_bridge.models.__file__).parent / 'rover_robot.xml'

SCENE = """
<mujoco model="everything">
  <statistic extent="4"/>
  <worldbody>
    <geom name="floor" type="plane" size="9 9 1"/>
    <body name="box" pos="2 0 0.1"><freejoint name="box_free"/>
      <geom type="box" size="0.1 0.1 0.1" mass="1"/></body>
    <body name="mark" mocap="true" pos="3 0 0"><geom size="0.05" contype="0"/></body>
    <camera name="overview" pos="0 -5 4" xyaxes="1 0 0 0 0.6 0.8"/>
  </worldbody>
</mujoco>
"""

ARM = """
<mujoco model="arm">
  <default><joint damping="5"/><geom mass="1"/></default>
  <worldbody>
    <body name="table"><geom type="box" size="0.2 0.2 0.2"/>
      <camera name="colors" pos="0 0 1"/><camera name="depths" pos="0 0 1"/>
      <camera name="classes" pos="0 0 1"/>
      <site name="front" pos="0.3 0 0"/><site name="back" pos="-0.3 0 0"/>
      <body name="upper" pos="0 0 0.2"><joint name="lift" type="slide" axis="0 0 1"/>
        <geom size="0.05"/><site name="one"/>
        <body name="lower" pos="0.3 0 0"><joint name="spin" axis="0 0 1"/>
          <geom size="0.05"/><site name="two"/>
          <body name="hand" pos="0.3 0 0"><joint name="turn" axis="1 0 0"/>
            <geom size="0.05"/><site name="tip"/>
            <body name="finger"><joint name="finger" type="slide" axis="0 1 0"/>
              <geom size="0.02"/></body></body></body></body></body>
  </worldbody>
  <actuator>
    <position name="lift" joint="lift" kp="500"/><velocity name="spin" joint="spin" kv="5"/>
    <motor name="turn" joint="turn"/><position name="finger" joint="finger" kp="50"/>
  </actuator>
  <sensor>
    <gyro name="gyro_1" site="one"/><gyro name="gyro_2" site="two"/>
    <magnetometer name="mag_1" site="one"/><magnetometer name="mag_2" site="two"/>
    <force name="force" site="tip"/><velocimeter name="speed" site="tip"/>
    <rangefinder name="near" site="tip"/><framepos name="place" objtype="site" objname="tip"/>
    <framelinvel name="velocity" objtype="site" objname="tip"/><touch name="touch" site="tip"/>
    <framequat name="turned" objtype="site" objname="tip"/>
    <user name="ahead" dim="9" objtype="site" objname="front" needstage="pos"/>
    <user name="behind" dim="9" objtype="site" objname="back" needstage="pos"/>
  </sensor>
  <keyframe><key name="folded" qpos="0 0 0 0"/></keyframe>
</mujoco>
"""

LEG = """
<mujoco model="leg">
  <worldbody><body name="hip"><geom size="0.1"/>
    <body name="shin" pos="0 0 -0.3"><joint name="knee" axis="0 1 0"/><geom size="0.05"/></body>
  </body></worldbody>
  <actuator><motor name="knee" joint="knee"/></actuator>
</mujoco>
"""

SIDECAR = f"""
scene: everything.xml
articulations:
  - prefix: rover
    model: {ROVER}
    twist: {{kind: differential, left: [left_wheel], right: [right_wheel], wheel_radius: 0.1,
             track_width: 0.4, limits: {{linear: 1.5, angular: 2.5, linear_acceleration: 3.0,
                                        angular_acceleration: 8.0}}}}
    cameras: {{front_rgb: {{mode: real, resolution: [32, 24]}},
               front_depth: {{mode: depth, resolution: [32, 24]}}}}
    lidars: {{scan: {{angle_min: -3.14159, angle_max: 3.12413, range_min: 0.1, range_max: 9,
                      rate: 10}},
             top: {{rays: 16, rings: 2, elevation_max: 0.2, angle_min: -3, angle_max: 3,
                    range_max: 9}}}}
    frames: {{base: base_link, imu: imu_link}}
  - prefix: arm
    model: arm.xml
    pose: {{pos: [0, 2, 0.5], quat: [1, 0, 0, 0]}}
    gripper: {{"my hand": [finger]}}
    cameras: {{colors: {{mode: real, resolution: [32, 24]}},
               depths: {{mode: depth, resolution: [32, 24]}},
               classes: {{mode: semantic, resolution: [32, 24]}}}}
    lidars:
      ahead: &scan {{angle_min: -1.0, angle_max: 1.0, range_min: 0.1, range_max: 9, rate: 10}}
      behind: *scan
      high: &points {{rays: 16, rings: 2, angle_min: -3, angle_max: 3, range_max: 9}}
      low: *points
  - prefix: leg
    model: leg.xml
    pose: {{pos: [0, -2, 1], quat: [1, 0, 0, 0]}}
    controller: {{kind: pd}}
global_cameras: {{overview: {{mode: real, resolution: [32, 24]}}}}
"""


def write_world(folder):
    """Write the files into a folder, and return the sidecar."""
    for name, text in (('everything', SCENE), ('arm', ARM), ('leg', LEG)):
        (folder / f'{name}.xml').write_text(text)
    sidecar = folder / 'everything.yaml'
    sidecar.write_text(SIDECAR)
    return sidecar
