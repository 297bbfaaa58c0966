# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Twist controllers on models of wheels, and twists to give them."""

from __future__ import annotations

import math

from hypothesis import strategies as st
import mujoco
import numpy as np

from urlab_ros_bridge.sim.model.sidecar.twists import DifferentialSection
from urlab_ros_bridge.sim.model.sidecar.twists import TwistLimits
from urlab_ros_bridge.sim.physics.control.twist import make_twist

UNLIMITED = TwistLimits(math.inf, math.inf, math.inf)
part = st.floats(-3, 3)
twists = st.tuples(part, part, part)


def wheels(count, actuator='velocity', kv='kv="1"', attributes=''):
    """A foreign actuator first, then `count` wheels w0, w1, ..: local slot k is actuator k + 1."""
    bodies = ''.join(f'<body><joint name="w{k}"/><geom size=".1"/></body>' for k in range(count))
    drives = ''.join(
        f'<{actuator} name="w{k}" joint="w{k}" {kv} {attributes}/>' for k in range(count)
    )
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><worldbody>{bodies}<body><joint name="o"/><geom size=".1"/></body></worldbody>'
        f'<actuator><motor name="o" joint="o"/>{drives}</actuator></mujoco>'
    )


def build(spec, model=None, count=0):
    count = count or model.nu - 1
    return make_twist(
        spec, [f'w{k}' for k in range(count)], model or wheels(count), np.arange(1, count + 1)
    )


def differential(limits=UNLIMITED, radius=0.1, track=0.4, timeout=None, **kwargs):
    sides = ['w0', 'w2'], ['w1', 'w3']
    spec = DifferentialSection(*sides, radius, track, limits=limits, timeout=timeout)
    return build(spec, wheels(5, **kwargs), 5)


def setpoints(controller, count, time=0.0, data=None):
    out = np.full(count, 99.0)
    controller.apply(time, data, out)
    return out
