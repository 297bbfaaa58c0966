# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""robot_description of a robot that came from a URDF."""

import xml.etree.ElementTree as ElementTree

from bridge_harness import LATCHED
from std_msgs.msg import String

URDF = """<robot name="arm"><link name="base"/><link name="upper"/><link name="tip"/>
<joint name="pan" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 0 1"/>
<limit lower="-2.9" upper="2.9" effort="87" velocity="2.175"/></joint>
<joint name="slide" type="prismatic"><parent link="upper"/><child link="tip"/>
<limit lower="0" upper="0.04" effort="20" velocity="0.2"/></joint></robot>"""


def test_it_has_the_limits_of_the_urdf(bundled, tmp_path):
    (tmp_path / 'arm.urdf').write_text(URDF)
    _, _, listener = bundled({'model': tmp_path / 'arm.urdf'})
    text = listener.wait_for(String, 'robot_description', qos=LATCHED).data
    joints = {joint.get('name'): joint for joint in ElementTree.fromstring(text).iter('joint')}
    for joint in ElementTree.fromstring(URDF).iter('joint'):
        found = joints[joint.get('name')].find('limit')
        for name, value in joint.find('limit').attrib.items():
            assert float(found.get(name)) == float(value)
