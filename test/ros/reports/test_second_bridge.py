# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Who stays of several bridges of one name: with a made-up graph and clock, and by the lock."""

import errno
from types import SimpleNamespace

from domains import free_domain
from hypothesis import given
from hypothesis import strategies as st
import pytest

pytestmark = pytest.mark.ros
rclpy = pytest.importorskip('rclpy')
pytest.importorskip('urlab_msgs.msg')

from rclpy.context import Context  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402

from urlab_ros_bridge.ros.program.node import BridgeNode  # noqa: E402
from urlab_ros_bridge.ros.reports import graph_checks  # noqa: E402
from urlab_ros_bridge.ros.reports import name_lock  # noqa: E402
from urlab_ros_bridge.ros.reports import other_publishers  # noqa: E402
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


@pytest.fixture
def quick(monkeypatch):
    """Have nobody waited for long: neither other nodes nor the lock."""
    monkeypatch.setattr(module, 'DISCOVERY_SECONDS', 0.0)
    monkeypatch.setattr(module, 'LEAVING_SECONDS', 0.5)
    monkeypatch.setattr(module, 'ANSWER_SECONDS', 0.2)
    return monkeypatch


@pytest.fixture
def make_bridge(quick):
    """Return a function that makes bridges of two features in this process, on one domain."""
    domain, made = free_domain(), []

    def make(second_bridge='refuse', **arguments):
        context = Context()
        rclpy.init(context=context, domain_id=domain)
        node = BridgeNode(
            context=context,
            features=(graph_checks.FEATURE, other_publishers.FEATURE, module.FEATURE),
            parameter_overrides=[Parameter('second_bridge', value=second_bridge)],
            **arguments,
        )
        made.append(node)
        return node

    yield make
    for node in made:
        node.destroy_node()
        node.context.try_shutdown()


def test_a_name_is_free_when_its_bridge_is_destroyed_and_no_sooner(make_bridge):
    first, second = make_bridge(), make_bridge()
    first.start()
    for _ in range(2):
        with pytest.raises(SecondBridge, match='second_bridge'):
            second.start()
        first.stop()
    kept = list(first.bridge._parts)  # what is left of it in memory holds nothing
    first.destroy_node()
    second.start()
    assert kept


def test_a_bridge_that_has_not_started_or_was_refused_holds_nothing(make_bridge, quick):
    first, second = make_bridge(), make_bridge()
    with quick.context() as broken:
        broken.setattr(module, 'refuse_second', lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            first.start()
    second.start()
    with pytest.raises(SecondBridge):
        first.start()


def test_bridges_of_several_names_work_in_one_process(make_bridge):
    for namespace in ('/one', '/two', '/two/three'):
        make_bridge(namespace=namespace).start()


def test_who_wants_two_gets_two_and_keeps_out_who_does_not(make_bridge):
    for _ in range(2):
        make_bridge('warn').start()
    with pytest.raises(SecondBridge):
        make_bridge().start()


def test_without_locks_the_announcements_decide_and_the_log_says_so_once(make_bridge, quick):
    def refuse(lock):
        raise PermissionError(errno.EPERM, 'Operation not permitted')

    quick.setattr(name_lock.NameLock, 'take', refuse)
    asked = []
    quick.setattr(module, 'refuse_second', lambda *_: asked.append(1))
    node = make_bridge()
    logged = []
    node.bridge.log = lambda *words: logged.append(words)
    node.start()
    node.bridge.beat(0.0)
    ((severity, text),) = logged
    assert severity == 'warning' and 'Operation not permitted' in text and 'announcements' in text
    assert asked


def test_who_ends_in_time_is_waited_for(quick):
    tried = []

    def take():
        tried.append(1)
        return len(tried) > 3

    lock, node = SimpleNamespace(take=take), SimpleNamespace(get_fully_qualified_name=lambda: OWN)
    module.take_name(node, lock, wait=True)
    assert len(tried) == 4
    tried.clear()
    module.take_name(node, lock, wait=False)
    assert len(tried) == 1
