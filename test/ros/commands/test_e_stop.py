# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The e-stops of the bridge and of its server: each follows the other."""

import contextlib
from types import SimpleNamespace

from fake_node import FakeNode
import pytest

from test.ros.commands.commanded import PLAN
from urlab_ros_bridge.client.errors import RequestTimeout
from urlab_ros_bridge.ros.commands import commands as commands_module
from urlab_ros_bridge.ros.commands import e_stop
from urlab_ros_bridge.ros.commands.admission import CommandRejected
from urlab_ros_bridge.ros.commands.arbitration import JOINT_COMMANDS
from urlab_ros_bridge.ros.commands.commands import Commands
from urlab_ros_bridge.ros.commands.robot import CommandedRobot
from urlab_ros_bridge.ros.link.connection import ServerLink
from urlab_ros_bridge.ros.program.features import Settings


class Bridged:
    """An e-stop between commands and a server that write down what they get."""

    def __init__(self, monkeypatch):
        self.now, self.stopped, self.server, self.lost, self.waiting = 0.0, '', False, False, []
        self.states = []
        self.node = FakeNode()
        monkeypatch.setattr(e_stop.time, 'monotonic', lambda: self.now)
        self.sender = SimpleNamespace(put=lambda key, action: self.waiting.append(action))
        self.link = SimpleNamespace(
            has={'e_stop'}.__contains__,
            command_client=SimpleNamespace(e_stop=self.take),
            on_status=[],
        )
        parts = {Commands: self, ServerLink: self.link}
        bridge = SimpleNamespace(
            node=self.node,
            part=parts.__getitem__,
            log=lambda *_: None,
            once=lambda topic, message: self.states.append(message.data),
        )
        self.part = e_stop.EStop(bridge)
        self.part.start()

    def halt(self, reason=''):
        self.stopped = reason

    resume = halt

    def take(self, engaged):
        if self.lost:
            raise RequestTimeout('e_stop', 'tcp://nowhere', 1.0)
        self.server = engaged

    def set(self, engaged):
        self.part.set(engaged)
        self.send()

    def send(self):
        """Let the sender work."""
        while self.waiting:
            with contextlib.suppress(RequestTimeout):
                self.waiting.pop(0)()

    def poll(self, state=None, requested=None):
        self.now += 0.5
        status = SimpleNamespace(e_stop=self.server if state is None else state)
        for take in self.link.on_status:
            take(status, self.now if requested is None else requested)
        self.send()
        return self.part.engaged


@pytest.fixture
def bridged(monkeypatch):
    return Bridged(monkeypatch)


def test_the_server_is_followed_but_no_status_older_than_the_last_request(bridged):
    bridged.part.set(True)
    assert bridged.poll(state=False) and bridged.server  # the server had not got it yet
    assert bridged.poll(state=False, requested=0.0)
    bridged.set(False)
    assert not bridged.poll(state=True, requested=0.0)
    bridged.server = True  # another client has engaged it
    assert bridged.poll()
    bridged.server = False
    assert not bridged.poll() and not bridged.server
    told = bridged.states
    assert told == [False, True, False, True, False]


def test_an_engaged_bridge_engages_a_server_that_is_new_or_did_not_answer(bridged):
    bridged.lost = True
    bridged.set(True)
    bridged.lost = False
    assert bridged.poll() and bridged.poll() and bridged.server
    bridged.server = False  # it was restarted
    bridged.part.take_world(None, None)
    assert bridged.poll() and bridged.poll() and bridged.server


def test_robots_that_are_made_while_it_is_engaged_are_stopped(monkeypatch):
    made = []
    bridge = SimpleNamespace(
        node=FakeNode(),
        settings=Settings(),
        timeline=SimpleNamespace(stamp_ns=0),
        errors=None,
        stepping=None,
        features=(),
        log=lambda *_: None,
        part=lambda kind: SimpleNamespace(on_new_run=[]),
        wire_needs=[],
    )
    commands = Commands(bridge)

    def make(*args):
        made.append(CommandedRobot(*args))
        commands.halt('the e-stop is engaged')
        return made[-1]

    monkeypatch.setattr(commands_module, 'CommandedRobot', make)
    commands.take_world(SimpleNamespace(robots=(PLAN,)), None)
    with pytest.raises(CommandRejected, match='e-stop'):
        made[0].arbiter.claim(JOINT_COMMANDS, [0], 0)
    commands.resume()
    made[0].arbiter.claim(JOINT_COMMANDS, [0], 0)
