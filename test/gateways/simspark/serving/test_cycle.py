# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of the cycle: order, rate in simulated time, and worlds that go and come."""

import itertools
import time

import pytest
from waiting import wait_until

from test.gateways.running import simspark_at
from urlab_ros_bridge.gateways.simspark.agents.agents import Agents


class Recorder(Agents):
    """An agents' side that writes down the time of its cycles."""

    is_waiting = is_joining = False

    def __init__(self):
        super().__init__()
        self.times = []

    def cycle(self, scene):
        self.times.append(scene.time)
        return {}


@pytest.mark.parametrize('pace', ['live', 'real_time', 'free'])
def test_a_cycle_is_20_ms_of_simulated_time(rover, pace):
    agents = Recorder()
    with simspark_at(rover, agents, pace=pace):
        wait_until(lambda: len(agents.times) > 30)
    periods = [b - a for a, b in itertools.pairwise(agents.times[2:30])]
    if pace == 'live':
        assert min(periods) > 0.009
    else:
        assert periods == pytest.approx([0.02] * len(periods))


def test_time_passes_no_faster_than_in_reality_while_an_agent_joins(rover):
    agents = Recorder()
    with simspark_at(rover, agents, pace='free'):
        wait_until(lambda: agents.times)
        agents.is_joining = True
        time.sleep(0.1)  # the cycle that runs ends
        began, first = time.monotonic(), len(agents.times)
        wait_until(lambda: len(agents.times) > first + 20)
        passed = (len(agents.times) - first) * 0.02
        assert passed <= time.monotonic() - began + 0.1
        agents.is_joining = False
        wait_until(lambda: len(agents.times) > first + 60)
