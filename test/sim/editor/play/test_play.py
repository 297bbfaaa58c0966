# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Starting and stopping worlds, also slow and broken ones."""

import threading

import pytest

from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.editor.level import Level
from urlab_ros_bridge.sim.editor.play import LevelPlayer
from urlab_ros_bridge.sim.simulation import SimulationHost


@pytest.fixture
def host(tmp_path):
    return SimulationHost(ServerConfig(data_dir=tmp_path))


@pytest.fixture
def play(host):
    made = LevelPlayer(host)
    yield made
    made.close()


class Slow:
    """A description that is returned once `go` is set."""

    def __init__(self):
        self.asked, self.go = threading.Event(), threading.Event()

    def __call__(self):
        self.asked.set()
        assert self.go.wait(10)
        return Level().spec()


def test_a_world_runs_until_it_is_stopped(play, host):
    assert play.state == 'off'
    assert play.begin(Level().spec, 'a', {}, 10) == 'ready' == play.state
    first = host.simulation
    assert play.begin(Level().spec, 'b', {}, 10) == 'ready' and host.simulation is first
    play.stop()
    assert play.state == 'off' and host.simulation is None and not first.live.is_alive()
    assert play.begin(Level().spec, 'b', {}, 10) == 'ready' and host.simulation.world.name == 'b'


def test_an_error_in_the_code_is_a_failed_compilation_too(play):
    assert play.begin(lambda: 1 / 0, 'a', {}, 10) == 'compile_failed'
    assert 'ZeroDivisionError' in play.error


def test_a_caller_times_out_while_the_compilation_continues(play):
    slow = Slow()
    assert play.begin(slow, 'a', {}, 0.05) == 'timeout' and play.state == 'compiling'
    slow.go.set()
    # The second caller waits for the first compilation, its own description is not used.
    assert play.begin(lambda: 1 / 0, 'b', {}, 10) == 'ready'
