# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Robots with every kind of joint and geom, away from the origin and with references."""

from pathlib import Path

ODD = Path(__file__).with_name('odd.xml').read_text()
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
