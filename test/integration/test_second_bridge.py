# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Two bridges on one ROS domain, and bridges that were killed.

The first bridge lives on from test to test: to start one takes more time than all else here.
"""

from bridge_harness import free_domain
from bridge_harness import Listener
from bridge_harness import wait_until
from nav_msgs.msg import Odometry
import pytest
from simulations import ServerProgram
from simulations import start_bridge
from stamps import ns_of

pytestmark = pytest.mark.timeout(180)


class Bridges:
    """Bridges to one server on one domain, and what they log; `first` is the one at work."""

    def __init__(self, keep, folder):
        # Time passes slowly, so that it costs little while bridges wait.
        self.keep, self.folder = keep, folder
        self.server = keep(ServerProgram('--speed=10', '--cameras=off'))
        self.domain = free_domain()
        self.listener = keep(Listener(self.domain))
        self.first = self.start()

    def start(self):
        path = self.folder / f'{len(list(self.folder.iterdir()))}.log'
        log = self.keep(path.open('w'))
        bridge = self.keep(start_bridge(self.domain, self.server, log))
        bridge.logged = lambda text: text in path.read_text()
        return bridge

    def first_is_alone(self):
        """Return whether the first bridge publishes, and no other: every stamp comes once."""
        self.listener.forget()
        odometry = self.listener.listen(Odometry, '/odom')
        wait_until(lambda: len(odometry) > 15)
        stamps = list(map(ns_of, list(odometry)))
        is_alone = len(set(stamps)) == len(stamps) and self.first.process.poll() is None
        return is_alone and not self.first.logged('another bridge')


@pytest.fixture(scope='module')
def bridges(keep_all, tmp_path_factory):
    made = Bridges(keep_all, tmp_path_factory.mktemp('logs'))
    wait_until(lambda: made.first.logged('connected to '))
    return made


def test_a_second_bridge_is_refused_while_the_first_is_stopped(bridges):
    with bridges.first.stopped():
        second = bridges.start()
        assert second.process.wait(100) == 1
        for text in ('another bridge named /urlab_bridge', 'second_bridge', 'ROS_DOMAIN_ID'):
            assert second.logged(text)
    assert bridges.first_is_alone()


def test_a_bridge_that_was_killed_is_replaced_at_once(bridges, request):
    for _ in range(3 if request.config.getoption('long') else 1):
        bridges.first.kill()
        # The dead are still listed: with a lease of 20 s, by several names.
        bridges.first = bridges.start()
        wait_until(lambda: bridges.first.logged('connected to '))
    assert bridges.first_is_alone()
