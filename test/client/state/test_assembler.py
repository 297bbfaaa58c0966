# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of cutting rows into ticks, for all three dialects and what lies between them."""

from example_counts import examples
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
import pytest

from urlab_ros_bridge.client.state import assembler as module
from urlab_ros_bridge.client.state.assembler import TickAssembler
from urlab_ros_bridge.wire.encoding.codec import pack
from urlab_ros_bridge.wire.errors import UnknownName
from urlab_ros_bridge.wire.rows import pack_sim_time

TOPICS = [b'rover/joint/left', b'rover/joint/right', b'rover/twist', b'scene/pallet/xpos']


# What is sent in a tick differs: scanner rows are rare, entity rows optional.
ROWS = st.lists(st.sampled_from(TOPICS), unique=True, max_size=4).map(sorted)


TICKS = st.lists(ROWS, min_size=1, max_size=8)


def snapshot(step):
    return pack({'op': 'state_full', 'time': step * 0.002, 'step': step, 'per_articulation': {}})


def ours(ticks, with_snapshot=True, first=1):
    """Return the messages of our server: rows, state/full, sim_time."""
    for step, topics in enumerate(ticks, first):
        yield from ((topic, str(step).encode()) for topic in topics)
        if with_snapshot:
            yield b'state/full', snapshot(step)
        yield b'sim_time', pack_sim_time(step * 2_000_000, step, step)


def stock(ticks, first=1):
    """Return the messages of a stock server: rows, state/full."""
    for step, topics in enumerate(ticks, first):
        yield from ((topic, str(step).encode()) for topic in topics)
        yield b'state/full', snapshot(step)


def fed(messages, assembler=None):
    assembler = assembler or TickAssembler()
    for message in messages:
        assembler.push(*message)
    return assembler


def contents(tick):
    return [topic for topic, _ in tick.rows]


def steps(tick):
    """Return the steps that the payloads of a tick come from."""
    return {int(payload) for _, payload in tick.rows}


@given(TICKS, st.booleans(), st.sampled_from(['auto', 'sim_time']))
def test_our_dialect_gives_every_tick_whole(ticks, with_snapshot, closing):
    assembler = fed(ours(ticks, with_snapshot), TickAssembler(closing))
    assert [contents(tick) for tick in assembler.ready] == ticks
    for step, tick in enumerate(assembler.ready, 1):
        assert (tick.stamp_ns, tick.step, tick.wall_ns) == (step * 2_000_000, step, step)
        assert tick.closed_by == 'sim_time' and (tick.snapshot is not None) == with_snapshot
    assert (assembler.torn_ticks, assembler.decode_errors) == (0, 0)
    assert not assembler.wants_snapshot


@given(TICKS, st.sampled_from(['auto', 'state_full']))
def test_the_stock_dialect_gives_every_tick_whole(ticks, closing):
    # While the dialect is unknown, a tick ends only when the next message is not sim_time.
    messages = [*stock(ticks), (TOPICS[0], b'99')]
    assembler = fed(messages, TickAssembler(closing))
    assert [contents(tick) for tick in assembler.ready] == ticks
    for step, tick in enumerate(assembler.ready, 1):
        tick.stamp_from_snapshot()
        assert (tick.stamp_ns, tick.step) == (step * 2_000_000, step)
        assert tick.closed_by == 'state_full'


@given(st.lists(st.just(TOPICS), min_size=2, max_size=6))
def test_without_closing_rows_a_repeated_topic_ends_the_tick(ticks):
    messages = [message for message in stock(ticks) if message[0] != b'state/full']
    assembler = fed(messages)
    assert [contents(tick) for tick in assembler.ready] == ticks[:-1]
    assert {tick.closed_by for tick in assembler.ready} == {'wall'}
    assert all(tick.step == -1 and tick.stamp_ns > 1e18 for tick in assembler.ready)
    assert assembler.wants_snapshot and assembler.closed_by is None


@settings(max_examples=examples(300))
@given(TICKS, st.data())
def test_a_tick_never_holds_two_rows_of_one_topic_whatever_was_lost(ticks, data):
    messages = list(ours(ticks))
    lost = data.draw(st.sets(st.integers(0, len(messages) - 1)))
    kept = [message for index, message in enumerate(messages) if index not in lost]
    assembler = fed(kept, TickAssembler('sim_time'))
    for tick in assembler.ready:
        assert len(set(contents(tick))) == len(tick.rows)
        assert tick.stamp_ns == tick.step * 2_000_000
    assert len(assembler.ready) == sum(topic == b'sim_time' for topic, _ in kept)


@pytest.mark.parametrize(
    ('before', 'after', 'rule'), [(ours, stock, 'state_full'), (stock, ours, 'sim_time')]
)
@given(ticks=TICKS, count=st.integers(5, 9))
def test_a_server_of_the_other_kind_may_take_over(before, after, rule, ticks, count):
    assembler = fed([*before(ticks), *after([TOPICS] * count, first=50)])
    last = assembler.ready[-1]
    assert assembler.closed_by == last.closed_by == rule
    assert steps(last) == {50 + count - 1} and contents(last) == TOPICS


@pytest.mark.parametrize('topic', [b'a/joint/%d', b'points/rover/%d'])
def test_an_endless_tick_is_dropped(monkeypatch, topic):
    monkeypatch.setattr(module, 'MAX_TICK_ROWS', 10)
    assembler = fed([(topic % i, b'') for i in range(25)])
    assert assembler.decode_errors == 2 and not assembler.ready
    assert fed(ours([TOPICS] * 2), assembler).ready[-1].rows


def test_a_malformed_closing_row_drops_its_tick():
    assembler = fed([(TOPICS[0], b'1'), (b'sim_time', b'short'), *ours([TOPICS], first=2)])
    assert assembler.decode_errors == 1
    assert [tick.step for tick in assembler.ready] == [2]


def test_an_unknown_closing_rule_is_refused():
    with pytest.raises(UnknownName, match='clock'):
        TickAssembler('clock')
