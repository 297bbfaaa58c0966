# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
from hypothesis import given
from hypothesis import strategies as st

from urlab_ros_bridge.ros.link.stream import needed_topics
from urlab_ros_bridge.wire.rows import STATE_FULL_TOPIC

STATE_FULL = STATE_FULL_TOPIC.encode()
ROWS = st.sets(st.sampled_from([b'a/joint/', b'a/base_state/', b'scene/box/xpos']))
DIALECTS = st.sampled_from(['auto', 'rows', 'state_full'])
SILENT = st.floats(0, 10)


@given(dialect=DIALECTS, has_sim_time=st.booleans(), silent=SILENT)
def test_without_subscribers_only_the_time_is_subscribed(dialect, has_sim_time, silent):
    topics = needed_topics(dialect, set(), has_sim_time=has_sim_time, silent_for=silent)
    assert topics == (set() if has_sim_time else {STATE_FULL})


@given(rows=ROWS, dialect=DIALECTS, silent=SILENT)
def test_snapshots_are_subscribed_where_only_they_tell_the_time(rows, dialect, silent):
    assert STATE_FULL in needed_topics(dialect, rows, has_sim_time=False, silent_for=silent)


@given(rows=ROWS.filter(bool), silent=SILENT)
def test_each_dialect_subscribes_to_its_own_topics(rows, silent):
    options = {'has_sim_time': True, 'silent_for': silent}
    assert needed_topics('rows', rows, **options) == rows
    assert needed_topics('state_full', rows, **options) == {STATE_FULL}
    assert needed_topics('auto', rows, **options) >= rows


def test_auto_takes_snapshots_while_rows_are_silent():
    rows = {b'a/joint/'}
    assert needed_topics('auto', rows, has_sim_time=True, silent_for=0.5) == rows
    assert needed_topics('auto', rows, has_sim_time=True, silent_for=2.0) == rows | {STATE_FULL}
