# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Models that the tests spawn, and spawning on a rig."""

from mesh_files import tetrahedra

BOX = """<mujoco model="box">
  <asset><material name="red" rgba="1 0 0 1"/></asset>
  <worldbody><light/><geom type="plane" size="1 1 1"/>
  <body name="crate"><freejoint/><geom type="box" size="0.1 0.1 0.1" material="red"/>
    <site name="top" pos="0 0 0.1"/></body></worldbody>
  <sensor><framepos name="where" objtype="body" objname="crate"/></sensor></mujoco>"""
POST = '<mujoco><worldbody><geom type="cylinder" size="0.05 0.5"/></worldbody></mujoco>'
ARM = """<mujoco model="arm"><worldbody>
  <body name="base"><geom size="0.1"/>
    <body name="upper" pos="0 0 0.2"><joint name="elbow" axis="0 1 0" range="-90 90"/>
      <geom type="capsule" fromto="0 0 0 0 0 0.5" size="0.03"/></body></body></worldbody>
  <actuator><position name="elbow" joint="elbow" kp="40"/></actuator>
  <keyframe><key name="up" qpos="0.5" ctrl="0.5"/></keyframe></mujoco>"""
_LINK = '<link name="{}"><collision><geometry><sphere radius="0.1"/></geometry></collision></link>'
LID = f"""<robot name="lid">{_LINK.format('base')}{_LINK.format('hand')}
  <joint name="grip" type="revolute"><parent link="base"/><child link="hand"/>
  <origin xyz="0 0 0.3"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/>
  </joint></robot>"""
TETRAHEDRON = tetrahedra(0.1)


def renewed(rig):
    """Look at the world that has taken the place of the one before."""
    rig.simulation = rig.host.simulation
    return rig


def spawn(rig, name='box', xml=BOX, **fields):
    reply = rig.ask('spawn_entity', name=name, xml=xml, **fields)
    renewed(rig)
    return reply


def delete(rig, name):
    reply = rig.ask('delete_entity', entity=name)
    renewed(rig)
    return reply
