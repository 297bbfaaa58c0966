# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Who stays of several bridges of one name, with a graph and a clock that are made up."""

from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st
import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from urlab_ros_bridge.ros.reports import second_bridge as module  # noqa: E402
from urlab_ros_bridge.ros.reports.second_bridge import OlderBridges  # noqa: E402
from urlab_ros_bridge.ros.reports.second_bridge import Presence  # noqa: E402
from urlab_ros_bridge.ros.reports.second_bridge import read_announcement  # noqa: E402
from urlab_ros_bridge.ros.reports.second_bridge import refuse_second  # noqa: E402
from urlab_ros_bridge.ros.reports.second_bridge import SecondBridge  # noqa: E402
from urlab_ros_bridge.ros.reports.second_bridge import TIE_SECONDS  # noqa: E402

OWN = '/urlab_bridge'
S = 10**9
births = st.integers(0, 10**15)
names = st.uuids().map(lambda number: number.hex)


def presences(machines=('here',)):
    return st.builds(Presence, st.sampled_from(machines), names, births)


@given(presences(['here', 'a-b_1']), births)
def test_an_announcement_is_read_as_it_was_made(own, age):
    assert read_announcement(own.text(own.born + age)) == (own, age)


@given(
    st.text()
    | st.builds('{} {} {} {}'.format, st.text('a-9_ é', max_size=70), names, st.integers(), births)
)
def test_any_text_is_read_or_ignored(text):
    older = OlderBridges(Presence('here', 'a' * 32, 5))
    older.take(text, 10)
    found = read_announcement(text)
    assert found is None or max(found[0].born, found[1]) < 1 << 63


@given(st.lists(presences(), min_size=2, max_size=6, unique_by=lambda p: p.name))
def test_on_one_machine_exactly_one_stays_and_it_is_the_oldest(all_of_them):
    left = [
        one
        for one in all_of_them
        if not any(other.outranks(one, 0) for other in all_of_them if other is not one)
    ]
    assert len(left) == 1 and left[0].born == min(each.born for each in all_of_them)


@given(
    names,
    names,
    st.integers(-20 * S, 20 * S),
    st.integers(0, 5 * S),
    st.integers(0, 5 * S),
    st.integers(-(10**15), 10**15),
)
def test_on_two_machines_never_both_end_however_late_they_hear_of_each_other(
    name, other_name, apart, delay, other_delay, skew
):
    # True births 0 and `apart`; the clock of the second machine is ahead by `skew`.
    one, two = Presence('x', name, 0), Presence('y', other_name, apart + skew)
    # A message that takes a while makes its sender seem younger.
    one_stays = not two.outranks(one, apart + delay)
    two_stays = not one.outranks(two, skew + other_delay)
    assert one_stays or two_stays or name == other_name
    tie = TIE_SECONDS * S
    if apart > tie + other_delay:
        assert one_stays and not two_stays
    elif abs(apart) + delay + other_delay < tie and name != other_name:
        assert one_stays != two_stays == (other_name < name)


def heard(older, other, times):
    for time in times:
        older.take(other.text(int(time * S)), int(time * S))


def test_who_is_about_to_leave_or_was_heard_long_ago_does_not_stay():
    own, other = Presence('here', 'b' * 32, 5 * S), Presence('here', 'a' * 32, 0)
    older = OlderBridges(own)
    heard(older, other, [10, 11, 12])
    assert older.last == 12 * S and not older.stay
    # All at once: what waited in a queue says nothing about now.
    heard(older, other, [12.1] * 5)
    assert not older.stay
    heard(older, other, [40])
    assert not older.stay
    heard(older, other, [41, 42, 43])
    assert older.stay


def test_younger_ones_and_itself_are_no_reason_to_end():
    own = Presence('here', 'b' * 32, 5 * S)
    older = OlderBridges(own)
    for other in (own, Presence('here', 'a' * 32, 6 * S), Presence('there', 'a' * 32, 1)):
        heard(older, other, range(10, 20)) if other.machine == 'here' else [
            older.take(f'{other.machine} {other.name} {other.born} {S}', time * S)
            for time in range(10, 20)
        ]
    assert older.last is None and not older.stay


def test_very_many_names_are_not_all_remembered():
    older = OlderBridges(Presence('here', 'b' * 32, 5 * S))
    for number in range(1000):
        heard(older, Presence('here', f'{number:032x}', 0), [10])
    assert len(older._heard) <= 16


@pytest.fixture
def world(monkeypatch):
    """Return a made-up clock, and others: name -> (born, silent from, gone from) in s."""

    class World:
        def __init__(self):
            self.now, self.others, self.announced = 10.0, {}, 0

        def sleep(self, seconds):
            self.now += seconds

        def names(self):
            gone = [other for other in self.others.values() if self.now < other[2]]
            return [('urlab_bridge', '/')] * (1 + len(gone))

    made = World()

    class FakeListener:
        def __init__(self, node, older):
            self._older, self._next = older, made.now

        def listen(self, seconds):
            made.now += seconds
            if made.now < self._next:
                return
            self._next = made.now + 1.0
            for name, (born, silent, _) in made.others.items():
                if made.now < silent:
                    other = Presence('here', name, int(born * S))
                    now = int(made.now * S)
                    self._older.take(other.text(now), now)

        def close(self):
            closed.append(self)

    closed = made.closed = []
    made.node = SimpleNamespace(
        get_fully_qualified_name=lambda: OWN, get_node_names_and_namespaces=made.names
    )
    monkeypatch.setattr(module, '_Listener', FakeListener)
    monkeypatch.setattr(module, 'now_ns', lambda: int(made.now * S))
    monkeypatch.setattr(module, 'time', SimpleNamespace(sleep=made.sleep))
    return made


def start(world, made=10.0):
    older = OlderBridges(Presence('here', 'b' * 32, int(made * S)))

    def announce():
        world.announced += 1

    return refuse_second(world.node, int(made * S), older, announce)


NEVER = 1e9


@pytest.mark.parametrize(
    ('others', 'expected'),
    [
        ({'a' * 32: (1.0, NEVER, NEVER)}, SecondBridge),
        ({'a' * 32: (1.0, 0.0, NEVER)}, True),  # dead, and still listed
        ({'a' * 32: (1.0, 11.5, NEVER)}, True),  # killed just now
        ({'a' * 32: (1.0, NEVER, 12.0)}, False),  # about to leave
        ({'a' * 32: (1.0, 0.0, 10.5)}, False),
        ({'a' * 32: (10.5, NEVER, NEVER)}, True),  # younger
        ({'a' * 32: (10.0, NEVER, NEVER)}, SecondBridge),  # at the same time, by name
        ({'c' * 32: (10.0, NEVER, NEVER)}, True),
        ({'c' * 32: (1.0, 0.0, NEVER), 'a' * 32: (1.0, NEVER, NEVER)}, SecondBridge),
    ],
)
def test_only_an_older_one_that_speaks_and_stays_is_a_reason_to_refuse(world, others, expected):
    world.others.update(others)
    try:
        if expected is SecondBridge:
            with pytest.raises(SecondBridge, match='second_bridge'):
                start(world)
        else:
            assert start(world) is expected
    finally:
        world.others.clear()
    assert len(world.closed) == 1 and world.announced > 5 and world.now < 17.0


def test_without_a_twin_the_start_waits_no_longer_than_nodes_need_to_be_found(world):
    assert start(world, 9.7) is False and world.now == pytest.approx(10.7, abs=0.06)
    world.now = 20.0
    assert start(world, 9.7) is False and world.now == 20.0
