# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Viewers: each gets the changes that it lacks, when they are due, and no more."""

import pytest

from test.gateways.simspark.monitor.scenes import Stand
from urlab_ros_bridge.client import Client
from urlab_ros_bridge.gateways.simspark.game.players import Side
from urlab_ros_bridge.gateways.simspark.monitor.viewers import FULL
from urlab_ros_bridge.gateways.simspark.monitor.viewers import LOG_PERIOD


@pytest.fixture(scope='module')
def handshake(fleet):
    with Client(rpc_port=fleet, shared=True) as client:
        yield client.handshake


@pytest.fixture
def stand(handshake):
    stand = Stand(handshake)
    stand.cycle()
    return stand


def test_a_message_a_period_of_simulated_time_and_a_log_has_everything_again_and_again(stand):
    """RoboViz ignores the field of a full message that comes while it starts."""
    watcher, log = stand.join(), stand.join(period=LOG_PERIOD)
    stand.cycle(1500)  # 30 s
    assert len(watcher.sent) - 2 == pytest.approx(750, abs=3)
    full = [line for line, text in enumerate(log.sent) if text.startswith(b'((FieldLength')]
    assert full == [0, 99] and len(log.sent) - 1 == pytest.approx(150, abs=1)


def test_a_viewer_that_does_not_read_misses_nothing_nor_does_one_whose_message_is_dropped(stand):
    slow, unlucky = stand.join(), stand.join()
    slow.is_clear, unlucky.drops = False, True
    stand.game.goal(Side.LEFT)
    stand.cycle(20)
    assert len(slow.sent) == 2
    slow.is_clear, unlucky.drops = True, False
    stand.cycle(2)
    for watcher in (slow, unlucky):
        assert watcher.view.score == (1, 0) and watcher.view.play_mode == 'Goal_Left'
        assert watcher.view.fulls == 2  # what it missed came as one diff
    stand.viewers.leave(slow)
    stand.cycle(10)
    assert len(slow.sent) == 3


def test_a_new_monitor_gets_everything_again_later_for_viewers_that_start_slowly(stand):
    def fulls(watcher):
        return sum(FULL in text for text in watcher.sent)

    watcher = stand.join()
    stand.cycle(300)
    assert fulls(watcher) == 4 and fulls(stand.join()) == 2
