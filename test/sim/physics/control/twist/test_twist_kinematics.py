# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Twist kinematics against the velocity of rigid bodies, and models that do not fit."""

from __future__ import annotations

from dataclasses import replace
import math

from hypothesis import given
from hypothesis import strategies as st
import mujoco
import numpy as np
import pytest
from twist_rig import build
from twist_rig import differential
from twist_rig import part
from twist_rig import setpoints
from twist_rig import twists
from twist_rig import UNLIMITED
from twist_rig import wheels

from urlab_ros_bridge.sim.model.sidecar.twists import AckermannSection
from urlab_ros_bridge.sim.model.sidecar.twists import DifferentialSection
from urlab_ros_bridge.sim.model.sidecar.twists import OmniSection
from urlab_ros_bridge.sim.model.sidecar.twists import PlanarSection
from urlab_ros_bridge.sim.model.sidecar.twists import TwistLimits
from urlab_ros_bridge.sim.model.sidecar.twists import WheelSection
from urlab_ros_bridge.sim.physics.control.twist import make_twist
from urlab_ros_bridge.sim.physics.control.twist import TwistSetupError
from urlab_ros_bridge.wire.errors import UnknownName

length = st.floats(0.02, 2.0)
angle = st.floats(-math.pi, math.pi)
omni_wheels = st.builds(
    WheelSection, st.just(''), st.tuples(part, part), angle, length, st.floats(-1.2, 1.2)
)

PLANAR = """
<mujoco>
  <option gravity="0 0 0"/>
  <worldbody><body pos="1 2 0" euler="0 0 40">
    <geom size="0.1" mass="0.1"/><joint name="x" type="slide" axis="1 0 0" armature="1"/>
    <joint name="y" type="slide" axis="0 1 0" armature="1"/>
    <body name="base"><joint name="yaw" axis="0 0 1" ref="30" armature="1"/>
      <geom size="0.2" mass="0.1"/></body>
  </body></worldbody>
  <actuator><velocity name="x" joint="x" kv="200" ctrlrange="-2 2" ctrllimited="true"/>
    <velocity name="y" joint="y" kv="200" gear="-2"/>
    <velocity name="yaw" joint="yaw" kv="200"/></actuator>
</mujoco>"""
PLANAR_SPEC = PlanarSection('x', 'y', 'yaw', TwistLimits(5.0, 5.0, 5.0))


@given(twists, length, length)
def test_differential_wheels_roll_without_slip(twist, radius, track):
    controller = differential(radius=radius, track=track)
    controller.set(twist[:2], (9.0, 9.0, twist[2]), 0.0)
    wheel = setpoints(controller, 5)
    assert wheel[4] == 99.0  # not one of its actuators
    for k, y in ((0, track / 2), (2, track / 2), (1, -track / 2), (3, -track / 2)):
        assert wheel[k] * radius == pytest.approx(twist[0] - twist[2] * y, abs=1e-9)


@given(twists, st.lists(omni_wheels, min_size=3, max_size=6))
def test_omni_rollers_do_not_slip_along_their_axis(twist, geometry):
    named = tuple(replace(wheel, actuator=f'w{k}') for k, wheel in enumerate(geometry))
    try:
        controller = build(OmniSection(named, UNLIMITED), count=len(named))
    except TwistSetupError:
        return  # a degenerate draw, such as parallel wheels on one spot
    controller.set(twist[:2], (0, 0, twist[2]), 0.0)
    up = np.array([0.0, 0.0, 1.0])
    for speed, wheel in zip(setpoints(controller, len(named)), named, strict=True):
        spin = np.array([math.cos(wheel.axis), math.sin(wheel.axis), 0.0])
        roller = math.cos(wheel.roller) * np.cross(spin, up) + math.sin(wheel.roller) * spin
        hub = np.array([*twist[:2], 0.0]) + np.cross(up * twist[2], [*wheel.position, 0.0])
        contact = hub + np.cross(spin * speed, -up * wheel.radius)
        assert contact @ roller == pytest.approx(0.0, abs=1e-6 * (1 + abs(speed)))


def car(base=0.5, track=0.4, steering_limit=0.6):
    """Drive the rear axle (w0, w1) and steer the front one (w2, w3)."""
    names = 'w0', 'w1', 'w2', 'w3', 'o'
    wheels = ''.join(f'<body><joint name="{k}"/><geom size=".1"/></body>' for k in names)
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><worldbody>{wheels}</worldbody>'
        '<actuator><motor joint="o"/><velocity joint="w0"/><velocity joint="w1"/>'
        '<position joint="w2"/><position joint="w3"/></actuator></mujoco>'
    )
    lengths = 0.1, track, base
    spec = AckermannSection(['w0'], ['w1'], 'w2', 'w3', *lengths, UNLIMITED, steering_limit)
    return build(spec, model, 4)


@given(forward=part, rate=part, base=st.floats(0.3, 2.0), track=st.floats(0.05, 0.6))
def test_every_wheel_of_a_car_rolls_where_it_points(forward, rate, base, track):
    controller = car(base=base, track=track)
    controller.set((forward, 0.0, 0.0), (0.0, 0.0, rate), 0.0)
    left, right, *steered = setpoints(controller, 4)
    turn = (right - left) * 0.1 / track
    assert (left + right) * 0.05 == pytest.approx(forward, abs=1e-9)
    assert abs(turn) <= abs(rate) + 1e-9
    if abs(base * rate) < 0.6 * abs(forward):
        assert turn == pytest.approx(rate, abs=1e-9)
    for angle, side in zip(steered, (0.5, -0.5), strict=True):
        velocity = (forward - turn * side * track, turn * base)
        across = -math.sin(angle) * velocity[0] + math.cos(angle) * velocity[1]
        assert across == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize('twist', [(0.3, -0.8, 0.0), (0.5, 0.4, 1.2)])
def test_a_planar_base_moves_in_its_own_frame(twist):
    model = mujoco.MjModel.from_xml_string(PLANAR)
    data = mujoco.MjData(model)
    data.joint('yaw').qpos[0] = 2.0
    controller = make_twist(PLANAR_SPEC, ['x', 'y', 'yaw'], model, np.arange(3))
    controller.set(twist[:2], (0, 0, twist[2]), 0.0)
    local = np.zeros(6)
    for _ in range(2000):
        controller.apply(data.time, data, data.ctrl)
        mujoco.mj_step(model, data)
    mujoco.mj_forward(model, data)
    base = model.body('base').id
    mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_BODY, base, local, 1)
    assert local[[3, 4, 2]] == pytest.approx(twist, abs=0.02)


@pytest.mark.parametrize(
    ('make', 'error', 'named'),
    [
        (lambda: one_sided('wheel'), UnknownName, 'wheel'),
        (lambda: one_sided('w1'), TwistSetupError, 'w1'),
        (lambda: one_sided('w0', actuator='motor', kv=''), TwistSetupError, 'w0'),
        (lambda: car(steering_limit=1.4), TwistSetupError, 'between the wheels'),
    ],
)
def test_unsuitable_twist_sections_are_named(make, error, named):
    with pytest.raises(error, match=named):
        make()


def one_sided(left, **kwargs):
    return build(DifferentialSection([left], ['w1'], 0.1, 0.4, UNLIMITED), wheels(2, **kwargs), 2)
