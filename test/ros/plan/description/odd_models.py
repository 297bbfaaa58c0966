# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Robots with every kind of joint and geom, away from the origin and with references."""

ODD = """
<mujoco>
  <asset>
    <mesh name="wedge" vertex="0 0 0  .2 0 0  0 .3 0  0 0 .1"/>
    <hfield name="hill" nrow="3" ncol="4" size=".4 .3 .2 .1"
            elevation="0 .2 .1 0  .5 1 .3 .2  0 0 .4 .1"/>
    <texture name="stripes" type="2d" builtin="flat" rgb1=".2 .4 .6" width="8" height="8"/>
    <material name="striped" texture="stripes" rgba="1 1 .5 .75"/>
  </asset>
  <worldbody>
    <body name="odd_torso" pos="1 2 3" quat=".8 0 .6 0">
      {base}
      <geom name="odd_core" type="box" size=".1 .2 .3" mass="2" rgba="1 0 0 1"/>
      <geom type="capsule" size=".05 .2" pos="0 0 .4" quat=".6 .8 0 0" material="striped"/>
      <geom type="ellipsoid" size=".1 .2 .05" mass=".3"/>
      <body name="odd_left arm" pos="0 .3 .1" quat=".5 .5 .5 .5">
        <joint name="odd_yaw" axis="0 0 1" pos=".1 .2 -.1" ref="30" range="-90 60"/>
        <joint name="odd_pitch" axis="0 1 1" pos=".1 .2 .3" damping=".7" frictionloss=".2"/>
        <joint name="odd_reach" type="slide" axis="1 0 1" ref=".2" range="-1 1"/>
        <geom type="cylinder" size=".05 .2" pos=".1 0 .3" quat=".1 .2 .3 .4" mass="1"/>
        <body name="odd_skull" pos=".2 0 0">
          <joint name="odd_neck" type="ball" pos="0 .1 0"/>
          <geom type="mesh" mesh="wedge" mass=".5" pos=".1 0 0" euler="10 20 30"/>
          <body name="odd_hat" pos="0 0 .2" quat=".3 .1 .8 .5">
            <geom size=".03" mass=".1" group="4"/>
            <site name="odd_tip" pos="0 0 .1"/>
          </body>
        </body>
      </body>
      <body name="odd_leg" pos="0 -.3 0"><joint name="odd_knee" axis="1 0 0"/>
        <geom type="hfield" hfield="hill" pos="0 0 -.1" contype="0" conaffinity="0"/>
        <geom size=".1" mass="1"/></body>
      <body name="odd_foot" pos="0 -.5 0"><joint name="odd_ankle" axis="1 0 0"/>
        <geom size=".1" mass="1"/></body>
    </body>
    {rest}
  </worldbody>
  <equality><joint joint1="odd_ankle" joint2="odd_knee" polycoef=".1 -2 0 0 0"/></equality>
  <actuator>
    <motor name="odd_yaw" joint="odd_yaw" gear="20" ctrlrange="-1.5 1.5"/>
    <velocity name="odd_knee" joint="odd_knee" kv="3" gear="2" ctrlrange="-8 8"
              forcerange="-5 5"/>
  </actuator>
  <sensor><gyro site="odd_tip"/></sensor>
</mujoco>
"""
FREE = '<freejoint name="odd_root"/>'
PLANAR = ('<joint name="odd_x" type="slide" axis="1 0 0"/><joint name="odd_y" type="slide" '
          'axis="0 1 0"/><joint name="odd_turn" axis="0 0 1" pos=".1 0 0"/>')  # fmt: skip
STAND = ('<body name="odd_stand" pos="2 0 1" quat=".1 .9 0 .1"><geom size=".1"/>'
         '<geom type="plane" size="1 2 .1"/><geom type="plane" size="0 0 .1"/>'
         '<body name="odd_lever"><joint name="odd_lever" pos="0 0 .2"/><geom size=".1" mass="1"/>'
         '</body></body><body name="odd_ball" pos="0 0 5"><freejoint name="odd_ball"/>'
         '<geom size=".1" mass="1"/></body>')  # fmt: skip
ODDS = {
    'free': ODD.format(base=FREE, rest=''),
    'mounted': ODD.format(base='', rest=STAND),
    'planar': ODD.format(base=PLANAR, rest=STAND),
}
