# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of the cycle: order, rate in simulated time, and worlds that go and come."""

from collections import Counter
import itertools
import time

import pytest
from waiting import wait_until

from test.gateways.running import simspark_at
from urlab_ros_bridge.gateways.motion.target import Target


class Recorder:
    """An agents' side that writes down what it is called for."""

    def __init__(self):
        self.stages, self.calls, self.times = [], [], []
        self.ready = Counter()
        self.targets, self.is_waiting, self.is_joining = {}, False, False

    def begin(self, stage):
        self.stages.append(stage)

    def connected(self, connection):
        self.calls.append(('connected', connection))

    def received(self, connection, expressions):
        self.calls.append(('received', connection, expressions))
        return iter(())

    def disconnected(self, connection):
        self.calls.append(('disconnected', connection))

    def on_time_frozen(self, scene):
        self.calls.append(('stands', scene.time))

    def cycle(self, scene):
        self.times.append(scene.time)
        return self.targets


@pytest.mark.parametrize('pace', ['live', 'real_time', 'free'])
def test_a_cycle_is_20_ms_of_simulated_time(fleet, pace):
    agents = Recorder()
    with simspark_at(fleet, agents, pace=pace) as gateway:
        wait_until(lambda: len(agents.times) > 30)
        assert set(gateway.robots) == set(agents.stages[0].scene.robots)
    periods = [b - a for a, b in itertools.pairwise(agents.times[2:30])]
    if pace == 'live':
        assert min(periods) > 0.009
    else:
        assert periods == pytest.approx([0.02] * len(periods))


def test_agents_come_speak_and_go(fleet, peer):
    agents = Recorder()
    with simspark_at(fleet, agents) as gateway:
        agent = peer(gateway.agent_port)
        agent.send('(scene rsg/agent/nao/nao.rsg)')
        agent.send('(init (unum 0)(teamname a))')
        agent.close()
        wait_until(lambda: len(agents.calls) == 4)
    assert [call[0] for call in agents.calls] == [
        'connected', 'received', 'received', 'disconnected',
    ]  # fmt: skip
    assert len({call[1] for call in agents.calls}) == 1
    assert agents.calls[2][2] == [['init', ['unum', '0'], ['teamname', 'a']]]


def test_set_points_of_agents_are_in_force(fleet):
    agents = Recorder()
    with simspark_at(fleet, agents, pace='free'):
        wait_until(lambda: agents.stages)
        scene = agents.stages[0].scene
        robot = next(r for r in scene.robots.values() if r.actuators)
        name = next(iter(robot.actuators))
        agents.targets = {robot.prefix: Target({name: 0.25})}
        index = robot.actuators[name].index
        wait_until(lambda: scene.state(robot.prefix).ctrl[index] == 0.25)


def test_the_cycle_waits_for_agents_in_sync_mode(fleet):
    agents = Recorder()
    with simspark_at(fleet, agents, pace='free'):
        wait_until(lambda: agents.times)
        agents.is_waiting = True
        before = len(agents.times)
        with pytest.raises(AssertionError):
            wait_until(lambda: len(agents.times) > before + 1, seconds=0.5)
        agents.is_waiting = False
        wait_until(lambda: len(agents.times) > before + 5)


def test_time_passes_no_faster_than_in_reality_while_an_agent_joins(fleet):
    agents = Recorder()
    with simspark_at(fleet, agents, pace='free'):
        wait_until(lambda: agents.times)
        agents.is_joining = True
        time.sleep(0.1)  # the cycle that runs ends
        began, first = time.monotonic(), len(agents.times)
        wait_until(lambda: len(agents.times) > first + 20)
        passed = (len(agents.times) - first) * 0.02
        assert passed <= time.monotonic() - began + 0.1
        agents.is_joining = False
        wait_until(lambda: len(agents.times) > first + 200)
