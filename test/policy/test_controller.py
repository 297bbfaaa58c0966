# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What is commanded, and when it is not: the controller at stamps that the tests make."""

import numpy as np
from policies import write
import pytest

from urlab_ros_bridge.policy.controller import PolicyController
from urlab_ros_bridge.policy.controller import PolicyPhase
from urlab_ros_bridge.policy.description import read_policy
from urlab_ros_bridge.policy.terms import Reading

POSE = np.array([0.1, -0.2, 0.3])
WHERE = np.array([1.0, 1.0, 1.0])  # the joints are
MS = 1_000_000
FORWARD = np.array([0.4, 0.0, 0.0])


class Counting:
    """A model that answers with the number of the call, and keeps what it was given."""

    def __init__(self):
        self.seen = []

    def act(self, observation):
        self.seen.append(observation)
        return np.full(3, float(len(self.seen)))


class Rig:
    def __init__(self, folder, model=None, **changes):
        self.model = model or Counting()
        description = read_policy(write(folder, **changes))
        self.controller = PolicyController(description, self.model, lambda: 0.0)
        self.ms = 0

    def at(self, ms, where=WHERE, gravity=(0.0, 0.0, -1.0)):
        self.ms = ms
        reading = Reading(ms * MS, where, np.zeros(3), where, gravity=np.array(gravity))
        return self.controller.step(reading)

    def until(self, ms, every=20, command=FORWARD, **more):
        """Advance in steps; return the command of each."""
        found = []
        while self.ms < ms:
            if command is not None:
                self.controller.command(command)
            found.append(self.at(self.ms + every, **more))
        return found

    @property
    def phase(self):
        return self.controller.phase


@pytest.fixture
def rig(tmp_path):
    return lambda **changes: Rig(tmp_path, **changes)


def test_it_goes_to_the_default_pose_first_and_then_runs(rig):
    one = rig(action={'scale': 0.5, 'clip': 2})
    assert (one.at(0) == WHERE).all() and one.phase is PolicyPhase.STARTING
    way = one.until(180)
    assert not one.model.seen
    gaps = np.abs(np.array([WHERE, *way]) - POSE).sum(axis=1)
    assert (np.diff(gaps) < 0).all() and gaps[-1] < 0.1 * gaps[0]
    first, second, third = one.until(240)
    assert one.phase is PolicyPhase.RUNNING and len(one.model.seen) == 3
    np.testing.assert_allclose([first, second, third], POSE + 0.5 * np.array([[1], [2], [2]]))
    # Command, joints less the default pose, and the action before: none, 1, and 2.
    np.testing.assert_allclose(
        one.model.seen[2][3:], [0.4, 0, 0, *(WHERE - POSE), 2, 2, 2], rtol=1e-6
    )


@pytest.mark.parametrize(
    ('on_timeout', 'phase'),
    [('hold', PolicyPhase.HOLDING), ('limp', PolicyPhase.LIMP), ('zero', PolicyPhase.RUNNING)],
)
def test_without_commands_the_described_default_is_used(rig, on_timeout, phase):
    one = rig(command={'timeout': 0.3, 'on_timeout': on_timeout})
    one.at(0)
    one.until(500)
    one.until(780, command=None)
    assert one.phase is PolicyPhase.RUNNING
    last = one.until(1000, command=None)[-1]
    assert one.phase is phase
    if phase is PolicyPhase.HOLDING:
        assert last == pytest.approx(POSE) and 'no cmd_vel for 0.3 s' in one.controller.why
    elif phase is PolicyPhase.LIMP:
        assert (last == WHERE).all()
    else:
        assert (one.model.seen[-1][3:6] == 0).all()
    one.until(1400)
    assert one.phase is PolicyPhase.RUNNING and one.model.seen[-1][3] == pytest.approx(0.4)


@pytest.mark.parametrize(
    ('on_stale', 'phase'), [('hold', PolicyPhase.HOLDING), ('limp', PolicyPhase.LIMP)]
)
def test_silent_sensors_end_the_walk_and_it_starts_slowly_again(rig, on_stale, phase):
    one = rig(on_stale=on_stale)
    assert one.controller.stale(1.0) is None  # nothing to end yet
    one.at(0)
    before = one.until(400)[-1]
    way = [one.controller.stale(0.2 + seconds) for seconds in (0.0, 0.05, 0.1, 0.5)]
    assert one.phase is phase and 'no sensor messages' in one.controller.why
    if phase is PolicyPhase.HOLDING:
        np.testing.assert_allclose(way, [before, (before + POSE) / 2, POSE, POSE])
    else:
        assert (np.array(way) == WHERE).all()
    # Even if the stamps continue.
    assert (one.at(420) == WHERE).all() and one.phase is PolicyPhase.STARTING
    one.until(660)
    assert one.phase is PolicyPhase.RUNNING
    assert (one.at(1400) == WHERE).all() and one.phase is PolicyPhase.STARTING


def test_a_robot_that_leans_too_far_is_limp_until_upright(rig):
    one = rig(tilt_limit=0.8)
    one.at(0)
    one.until(300)
    lean = (np.sin(0.9), 0.0, -np.cos(0.9))
    assert (one.until(320, gravity=lean)[-1] == WHERE).all() and one.phase is PolicyPhase.LIMP
    one.until(340)
    assert one.phase is PolicyPhase.STARTING
    one.until(600)
    assert one.phase is PolicyPhase.RUNNING


def test_a_model_that_fails_holds_the_robot_until_it_is_started_again(rig):
    class Broken(Counting):
        def act(self, observation):
            action = super().act(observation)
            return action * np.nan if len(self.seen) == 3 else action

    one = rig(model=Broken())
    one.at(0)
    found = one.until(1000)
    assert one.phase is PolicyPhase.FAILED and len(one.model.seen) == 3
    assert np.isfinite(found).all() and found[-1] == pytest.approx(POSE)
    one.controller.reset()
    assert one.phase is PolicyPhase.WAITING
