# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Starting and stopping worlds: slow, broken, unwanted and at the end."""

import threading

import pytest

from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.editor.level import Level
from urlab_ros_bridge.sim.editor.play import LevelPlayer
from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.errors import WorldError
from urlab_ros_bridge.sim.stage import Stage


@pytest.fixture
def stage(tmp_path):
    return Stage(ServerConfig(data_dir=tmp_path))


@pytest.fixture
def play(stage):
    made = LevelPlayer(stage)
    yield made
    made.close()


class Slow:
    """A description that comes when it is let go."""

    def __init__(self):
        self.asked, self.go = threading.Event(), threading.Event()

    def __call__(self):
        self.asked.set()
        assert self.go.wait(10)
        return Level().spec()


def test_a_world_runs_until_it_is_stopped(play, stage):
    assert play.state == 'off'
    assert play.begin(Level().spec, 'a', {}, 10) == 'ready' == play.state
    first = stage.context
    assert play.begin(Level().spec, 'b', {}, 10) == 'ready' and stage.context is first
    play.stop()
    assert play.state == 'off' and stage.context is None and not first.live.is_alive()
    assert play.begin(Level().spec, 'b', {}, 10) == 'ready' and stage.context.world.name == 'b'


def test_what_breaks_is_told_until_the_next_try(play, stage):
    def broken():
        raise WorldError('the floor is lava')

    assert play.begin(broken, 'a', {}, 10) == 'compile_failed'
    assert (play.state, play.error) == ('compile_failed', 'the floor is lava')
    assert stage.context is None
    assert play.begin(Level().spec, 'a', {}, 10) == 'ready' and play.error == ''


def test_an_error_in_the_code_is_a_failed_compilation_too(play):
    assert play.begin(lambda: 1 / 0, 'a', {}, 10) == 'compile_failed'
    assert 'ZeroDivisionError' in play.error


def test_an_impatient_caller_is_told_and_the_compilation_goes_on(play):
    slow = Slow()
    assert play.begin(slow, 'a', {}, 0.05) == 'timeout' and play.state == 'compiling'
    slow.go.set()
    # The second caller waits for the first compilation, its own description is not used.
    assert play.begin(lambda: 1 / 0, 'b', {}, 10) == 'ready'


def test_a_compilation_that_was_stopped_comes_to_nothing(play, stage):
    slow, answers = Slow(), []
    waiting = threading.Thread(target=lambda: answers.append(play.begin(slow, 'a', {}, 10)))
    waiting.start()
    assert slow.asked.wait(5)
    play.stop()
    waiting.join(5)
    assert answers == ['off']
    slow.go.set()
    assert play.begin(Level().spec, 'b', {}, 10) == 'ready'
    assert stage.context.world.name == 'b'


def test_who_waits_when_the_server_stops_is_told_so(play):
    slow, caught = Slow(), []

    def wait():
        try:
            play.begin(slow, 'a', {}, 10)
        except OpError as error:
            caught.append(error.code)

    waiting = threading.Thread(target=wait)
    waiting.start()
    assert slow.asked.wait(5)
    play.close()
    waiting.join(5)
    slow.go.set()
    assert caught == ['shutting_down']
    with pytest.raises(OpError):
        play.begin(Level().spec, 'b', {}, 10)
