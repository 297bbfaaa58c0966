# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The model of the small world: a floating robot with an arm, a lift and sensors."""

XML = """
<mujoco>
  <option timestep="0.002" gravity="0 0 0" magnetic="0.2 0 -0.4"/>
  <worldbody>
    <body name="{p}_base_link" pos="0 0 0.5">
      <freejoint name="{p}_root"/>
      <geom size="0.2" mass="5"/>
      <site name="{p}_imu" pos="0.1 0 0.05"/>
      <site name="{p}_lidar" pos="0 0 0.2"/>
      <body name="{p}_arm" pos="0 0.3 0">
        <joint name="{p}_shoulder" type="hinge" axis="0 1 0"/>
        <geom size="0.1" mass="1"/>
        <site name="{p}_hand" pos="0 0.1 0"/>
      </body>
      <body name="{p}_lift" pos="0 -0.3 0">
        <joint name="{p}_lift" type="slide" axis="0 0 1"/>
        <geom size="0.1" mass="1"/>
      </body>
    </body>
    <body name="box" pos="2 0 0.5"><freejoint name="box"/><geom size="0.1" mass="1"/></body>
  </worldbody>
  <actuator>
    <position name="{p}_shoulder" joint="{p}_shoulder" kp="20"/>
    <motor name="{p}_lift" joint="{p}_lift"/>
  </actuator>
  <sensor>
    <gyro name="{p}_gyro" site="{p}_imu"/>
    <accelerometer name="{p}_accel" site="{p}_imu"/>
    <framequat name="{p}_quat" objtype="site" objname="{p}_imu"/>
    <magnetometer name="{p}_mag" site="{p}_imu"/>
    <touch name="{p}_touch" site="{p}_hand"/>
    <user name="{p}_scan" dim="8" objtype="site" objname="{p}_lidar"/>
  </sensor>
</mujoco>
"""
PREFIX = 'bot'
EXTENSIONS = (
    'shared_session',
    'sim_time_row',
    'effort_row',
    'keep_time',
    'twist_timeout',
    'step_while_paused',
    'status',
)
LIDAR = {
    'angle_min': -3.0,
    'angle_max': 3.0,
    'range_min': 0.1,
    'range_max': 9.0,
    'rate': 10.0,
    'rays': 8,
    'site': 'lidar',
}
