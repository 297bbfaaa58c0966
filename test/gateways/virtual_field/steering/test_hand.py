# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""From a hand to a tip: clutch, smoothing, rotation."""

import math

import numpy as np
import pytest

from urlab_ros_bridge.gateways.virtual_field.protocol.xr_input import XrController
from urlab_ros_bridge.gateways.virtual_field.protocol.xr_input import XrPose
from urlab_ros_bridge.gateways.virtual_field.steering.hand import Hand
from urlab_ros_bridge.gateways.virtual_field.steering.hand import Smoother
from urlab_ros_bridge.gateways.virtual_field.steering.hand import TipPose

IDENTITY = (0.0, 0.0, 0.0, 1.0)
TIP = TipPose(np.array([1.0, 2.0, 3.0]), IDENTITY)


def controller(at=(0.0, 0.0, 0.0), turned=IDENTITY, grip=1.0, **buttons):
    return XrController(XrPose(at, turned), grip=grip, buttons=buttons)


def test_the_grip_has_a_hysteresis_and_the_primary_button_lets_go():
    hand = Hand()
    for grip, holds in ((0.35, False), (0.45, True), (0.35, True), (0.25, False)):
        hand.move(controller(grip=grip), TIP, 0.0)
        assert hand.is_gripping is holds and (hand.target(0.0) is not None) is holds
    hand.move(controller(), TIP, 0.0)
    hand.move(controller(primary=True), TIP, 0.1)
    assert not hand.is_gripping


def test_turns_of_more_than_half_a_turn_do_not_flip():
    hand, before = Hand(), np.zeros(4)
    for index in range(200):
        angle = index / 200 * 1.9 * math.pi
        # About the vertical axis of the page, which is z of MuJoCo.
        turned = (0.0, math.sin(angle / 2), 0.0, math.cos(angle / 2))
        hand.move(controller(turned=turned), TIP, index / 30)
        rotation = np.array(hand.target(index / 30).rotation)
        assert index == 0 or abs(rotation @ before) > 0.99
        before = rotation
    assert abs(rotation @ [0.0, 0.0, math.sin(angle / 2), math.cos(angle / 2)]) > 0.999


def test_tremor_is_damped_a_steady_motion_has_no_lag_and_a_silent_hand_rests():
    random = np.random.default_rng(1)
    tremor, steady, found = Smoother(np.zeros(1)), Smoother(np.zeros(1)), []
    for index in range(300):
        steady.add(np.array([0.2 * index / 72]), index / 72)
        tremor.add(random.normal(0.0, 1.0, 1), index / 72)
        found.append(tremor.at(index / 72)[0])
    assert np.std(found[30:]) < 0.7
    assert tremor.at(100.0) == pytest.approx(tremor.value)
    assert steady.at(299.5 / 72) == pytest.approx([0.2 * 299.5 / 72], abs=1e-4)
