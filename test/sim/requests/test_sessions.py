# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Who may call, and for how long."""

from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.requests import sessions as sessions_module
from urlab_ros_bridge.sim.requests.sessions import ServerSession
from urlab_ros_bridge.sim.requests.sessions import SessionTable


def opened(table, **fields):
    session = ServerSession(**fields)
    table.open(session)
    return session


def lives(table, session):
    try:
        return table.find(session.id) is session
    except OpError:
        return False


def test_the_shared_session_that_was_idle_longest_is_closed_at_the_limit(monkeypatch):
    monkeypatch.setattr(sessions_module, 'MAX_SHARED', 3)
    table = SessionTable()
    plain = opened(table)
    shared = [opened(table, shared=True) for _ in range(3)]
    table.find(shared[0].id)
    opened(table, shared=True)
    assert [lives(table, session) for session in shared] == [True, False, True]
    assert lives(table, plain)


def test_idle_sessions_leave_the_list_and_then_the_table():
    table = SessionTable()
    old, new = opened(table, shared=True, client='old'), opened(table, shared=True, client='new')
    old.last_seen -= sessions_module.CONNECTED_AGE + 1
    assert [entry['client'] for entry in table.connected()] == ['new']
    assert lives(table, old)
    old.last_seen -= sessions_module.IDLE_EXPIRY + 1
    opened(table, shared=True)
    assert not lives(table, old) and lives(table, new)


def test_status_lists_sessions_without_their_secrets(rover):
    other = rover.caller(shared=True, client='urlab_ros_bridge')
    plain = rover.caller(client_version='urlab_bridge/0.1')
    listed = rover.ask('status')['sessions']
    assert {'urlab_ros_bridge', 'urlab_bridge/0.1'} <= {entry['client'] for entry in listed}
    for session in (other, plain):
        assert session.session_id not in str(listed) and session.session_id[:8] in str(listed)
