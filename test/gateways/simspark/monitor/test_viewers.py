# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Viewers: each gets the changes that it lacks, when they are due, and no more."""

import pytest

from test.gateways.simspark.monitor.scenes import Stand
from urlab_ros_bridge.gateways.simspark.game.players import Side
from urlab_ros_bridge.gateways.simspark.monitor import viewers as module
from urlab_ros_bridge.gateways.simspark.monitor.viewers import LOG_PERIOD


@pytest.fixture(scope='module')
def fleet_handshake(fleet):
    from urlab_ros_bridge.client import Client

    client = Client(rpc_port=fleet, shared=True)
    with client:
        yield client.handshake


@pytest.fixture
def stand(fleet_handshake):
    return Stand(fleet_handshake)


def test_a_message_a_period_of_simulated_time(stand):
    stand.cycle()
    watcher, log = stand.join(), stand.join(period=LOG_PERIOD)
    stand.cycle(500)  # 10 s
    assert len(watcher.got) - 2 == pytest.approx(250, abs=1)
    assert len(log.got) - 1 == pytest.approx(50, abs=1)


def test_a_log_has_everything_again_and_again(stand):
    """RoboViz ignores the field of a full message that comes while it starts."""
    stand.cycle()
    log = stand.join(period=LOG_PERIOD)
    stand.cycle(2500)  # 50 s
    full = [line for line, text in enumerate(log.got) if text.startswith(b'((FieldLength')]
    assert full == [0, *range(99, len(log.got), 100)] and len(full) == 3


def test_while_time_is_frozen_messages_continue(stand):
    stand.cycle()
    watcher = stand.join()
    for _ in range(50):
        stand.clock += 0.02
        stand.viewers.cycle()
    assert 10 <= len(watcher.got) - 2 <= 25


def test_viewers_in_the_same_state_share_one_message(stand):
    stand.cycle()
    watchers = [stand.join() for _ in range(20)]
    stand.cycle(4)
    assert len({id(watcher.got[-1]) for watcher in watchers}) == 1


def test_a_viewer_that_does_not_read_costs_nothing_and_misses_nothing(stand, monkeypatch):
    stand.cycle()
    slow, good = stand.join(), stand.join()
    stand.game.set_play_mode('PlayOn')
    slow.is_clear = False
    written = []
    real = module.Viewers._write

    def write(self, seen, known):
        written.append(seen)
        return real(self, seen, known)

    monkeypatch.setattr(module.Viewers, '_write', write)
    stand.cycle(20)
    assert len(written) == len(good.got) - 2 and len(slow.got) == 2
    stand.game.goal(Side.LEFT)
    slow.is_clear = True
    stand.cycle(2)
    assert slow.view.score == (1, 0) and slow.view.play_mode == 'Goal_Left'
    assert slow.view.fulls == 2  # what it missed came as one diff


def test_a_message_that_is_dropped_is_made_up_for(stand):
    stand.cycle()
    watcher = stand.join()
    watcher.drops = True
    stand.game.set_play_mode('PlayOn')
    stand.cycle(2)
    watcher.drops = False
    stand.cycle(2)
    assert watcher.view.play_mode == 'PlayOn'


def test_everybody_gets_everything_on_request_and_when_the_structure_changes(stand):
    stand.cycle()
    watchers = [stand.join(), stand.join()]
    for change in (stand.viewers.request_full_state, lambda: stand.game.leave(stand.player())):
        before = [watcher.view.fulls for watcher in watchers]
        change()
        stand.cycle(1)
        assert [watcher.view.fulls for watcher in watchers] == [count + 1 for count in before]
        assert all(watcher.got[-1].startswith(b'((FieldLength') for watcher in watchers)
        stand.cycle(4)
        assert [watcher.view.fulls for watcher in watchers] == [count + 1 for count in before]
    assert len(watchers[0].view.players) == 2


def test_a_new_monitor_gets_everything_again_later_for_viewers_that_start_slowly(stand):
    stand.cycle()
    watcher = stand.join()
    stand.cycle(300)
    assert watcher.view.fulls == 4 and stand.join().view.fulls == 2


def test_the_selected_player_is_marked(stand):
    stand.cycle()
    watcher = stand.join()

    def marked():
        return [
            key
            for key, body in watcher.view.players.items()
            if any(node.is_visible and node.details.get('sMat') == ['matYellow']
                   for node in body.children)
        ]  # fmt: skip

    assert marked() == []
    stand.game.select_next()
    stand.cycle(2)
    assert marked() == [('left', 1)]
    stand.game.select_next()
    stand.cycle(2)
    assert marked() == [('left', 2)]
    assert watcher.view.fulls == 2


def test_a_viewer_that_left_gets_nothing(stand):
    stand.cycle()
    watcher = stand.join()
    stand.viewers.leave(watcher)
    stand.viewers.leave(watcher)
    stand.cycle(10)
    assert len(watcher.got) == 2 and len(stand.viewers) == 0
