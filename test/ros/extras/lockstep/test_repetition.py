# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import time

import pytest

from urlab_ros_bridge.ros.extras.lockstep.repetition import Repetition
from urlab_ros_bridge.ros.extras.lockstep.repetition import SUSPENDED_SECONDS

FIRST, SECOND = frozenset({(1,)}), frozenset({(2,)})


def repeated(repetition, publishers, start, seconds):
    """Return when an instant is published again, in s after `start`."""
    checks = (0.1 * number for number in range(int(10 * seconds)))
    return [at for at in checks if repetition.is_due(publishers, start + at)]


def test_an_instant_is_repeated_more_and_more_rarely_until_the_first_answer():
    repetition, now = Repetition(), time.monotonic()
    repetition.saw(FIRST)
    repetition.begin_instant(now)
    seconds = [2.0, 6.0, 14.0, 24.0, 34.0]
    assert repeated(repetition, FIRST, now, 40.0) == pytest.approx(seconds, abs=0.5)
    repetition.all_answered()
    # However slow it is from now on, this node gets each instant once; another one does not.
    repetition.begin_instant(now + 40.0)
    assert repeated(repetition, FIRST, now + 40.0, 1000.0) == []
    assert repeated(repetition, FIRST | SECOND, now + 1040.0, 3.0) == pytest.approx([2.0], abs=0.2)


def test_after_a_suspension_an_instant_is_repeated_although_nodes_have_answered():
    repetition, now = Repetition(), time.monotonic()
    repetition.saw(FIRST)
    repetition.all_answered()
    repetition.begin_instant(now)
    assert repeated(repetition, FIRST, now, 30.0) == []
    later = now + 30.0 + 2.0 * SUSPENDED_SECONDS
    assert repeated(repetition, FIRST, later, 3.0) == pytest.approx([2.0], abs=0.2)
