# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A bridge that stood still while it waited has the present instant repeated."""

import itertools
import time

import pytest

from urlab_ros_bridge.ros.lockstep.waits import REPEAT_SECONDS
from urlab_ros_bridge.ros.lockstep.waits import REPETITIONS
from urlab_ros_bridge.ros.lockstep.waits import Stall
from urlab_ros_bridge.ros.lockstep.waits import STALL_SECONDS

pytestmark = pytest.mark.ros


def test_after_standing_still_an_instant_is_repeated_for_a_while_and_then_no_more():
    stall, begun = Stall(), time.monotonic() + 10.0 * STALL_SECONDS
    looks = [begun + 0.1 * number for number in range(20 * REPETITIONS)]
    repeated = [look for look in looks if stall.repeat_now(look)]
    assert len(repeated) == REPETITIONS
    assert repeated[0] >= begun + REPEAT_SECONDS
    pauses = [later - earlier for earlier, later in itertools.pairwise(repeated)]
    assert min(pauses) >= 0.99 * REPEAT_SECONDS
