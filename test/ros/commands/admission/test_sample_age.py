# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""How old a message is, told by two clocks that nobody has synchronised."""

from hypothesis import given
from hypothesis import strategies as st
import pytest

from urlab_ros_bridge.ros.commands.admission.sample_age import LATER_RUN
from urlab_ros_bridge.ros.commands.admission.sample_age import SampleAge
from urlab_ros_bridge.ros.commands.admission.sample_age import WINDOW

LIMIT = 0.5
START = 1_800_000_000.0


class Network:
    """Messages between two machines; time passes only here."""

    def __init__(self, skew=0.0, senders=1, **of_others):
        self.now = 0.0
        self.skew = {None: skew, **of_others}
        self.ages = SampleAge(
            lambda: senders,
            wall_ns=lambda: round((START + self.now) * 1e9),
            monotonic=lambda: 5000.0 + self.now,
        )

    def sent(self, sender=None, gid=None):
        """Return the info of a message that is sent now."""
        info = {'source_timestamp': round((START + self.now + self.skew[sender]) * 1e9)}
        return info if gid is None else {**info, 'publisher_gid': {'data': gid}}

    def fresh(self, info):
        return not self.ages.problem(info, LIMIT)

    def stream(self, seconds, rate=10.0, delay=0.005, sender=None, gid=None):
        """Have messages sent at a rate and taken after a delay; tell which were fresh."""
        results = []
        for _ in range(round(seconds * rate)):
            info = self.sent(sender, gid)
            self.now += delay
            results.append(self.fresh(info))
            self.now += 1 / rate - delay
        return results

    def stall(self, seconds, rate=20.0, sender=None):
        """Have our process stopped while messages come; take all of them at its end."""
        infos = []
        for _ in range(round(seconds * rate)):
            infos.append(self.sent(sender))
            self.now += 1 / rate
        return infos


@pytest.mark.parametrize('skew', [0.0, 0.3, -0.3])
def test_clocks_that_agree_are_believed_at_once(skew):
    assert all(Network(skew).stream(1.0))


@given(st.floats(-1e4, 1e4), st.floats(0.0, 0.2))
def test_the_difference_of_the_clocks_cancels(skew, delay):
    """The law: whatever the clocks say, who goes on publishing is soon fresh, and stays so."""
    network = Network(skew)
    assert all(network.stream(5.0, delay=min(delay, 0.09))[10:])


@given(st.floats(-1e4, 1e4), st.floats(1.0, 100.0))
def test_of_a_queue_only_the_last_moments_are_fresh(skew, stopped):
    network = Network(skew)
    network.stream(5.0)
    infos = network.stall(min(stopped, 20.0))
    ages = [(len(infos) - place) / 20.0 for place in range(len(infos))]
    for info, age in zip(infos, ages, strict=True):
        if age > LIMIT + 0.01:
            assert not network.fresh(info)
        elif age < LIMIT - 0.01:
            assert network.fresh(info)


@pytest.mark.parametrize('skew', [0.0, 30.0, -30.0, 0.4, 4.9])
def test_a_queue_of_somebody_unknown_moves_nothing(skew):
    """Nothing was heard before the stall, and nobody publishes any more after it."""
    network = Network(skew)
    infos = network.stall(0.4)
    network.now += 5.0
    heard = [network.fresh(info) for info in infos]
    # Only a clock that is off by the very length of the stall cannot be told from a fresh message.
    assert not any(heard) or skew == 4.9


def test_the_same_old_queue_again_and_again_is_never_believed():
    network = Network(skew=20.0)
    for _ in range(20):
        infos = network.stall(0.4)
        network.now += 5.0
        assert not any(network.fresh(info) for info in infos)


def test_what_is_no_longer_published_stays_stale():
    network = Network()
    assert all(network.stream(1.0))
    info = network.sent()
    network.now += 0.6
    assert not network.fresh(info)
    assert 'published 0.60 s ago' in network.ages.problem(info, LIMIT)


def test_a_clock_that_is_set_back_is_believed_after_a_while():
    network = Network()
    assert all(network.stream(5.0))
    network.skew[None] = -3.0
    heard = network.stream(2 * LATER_RUN)
    believed = heard.index(True) / 10
    assert LATER_RUN <= believed < LATER_RUN + 1.0
    assert all(heard[heard.index(True) :])


def test_a_clock_that_is_set_forward_is_believed_at_once():
    network = Network()
    network.stream(5.0)
    network.skew[None] = 3.0
    assert all(network.stream(5.0))


def test_clocks_may_drift_apart_for_hours():
    network = Network()
    for _ in range(200):
        network.skew[None] -= 0.01  # 10 ms in 10 s: far more than any clock does
        assert all(network.stream(10.0, rate=2.0))
    assert network.skew[None] == pytest.approx(-2.0)


def test_idle_senders_are_known_again():
    network = Network(-30.0)
    network.stream(5.0)
    network.now += 10 * WINDOW
    assert all(network.stream(1.0))


def test_two_machines_one_with_a_clock_that_is_ahead():
    network = Network(0.0, senders=2, laptop=3.0)
    assert all(network.stream(1.0))
    network.stream(2.0, sender='laptop')
    assert all(network.stream(1.0)) and all(network.stream(1.0, sender='laptop'))


def test_senders_that_are_told_apart_have_a_clock_each():
    network = Network(0.0, senders=2, late=-30.0)
    assert all(network.stream(1.0, gid=b'here'))
    assert all(network.stream(3.0, sender='late', gid=b'late')[5:])
    assert all(network.stream(1.0, gid=b'here'))
    assert all(network.stream(1.0, sender='late', gid=b'late'))
    for number in range(1000):
        network.ages.problem(network.sent(gid=number.to_bytes(4, 'big')), LIMIT)
    assert len(network.ages._clocks) <= 64


def test_no_limit_and_no_time_mean_no_refusal():
    ages = SampleAge()
    assert ages.problem({'source_timestamp': 1}, 0.0) == ''
    assert ages.problem({'source_timestamp': 0}, 0.5) == ''
    assert ages.problem({}, 0.5) == ''
    assert 'clocks of the two machines' in ages.problem({'source_timestamp': 1}, 0.5)
