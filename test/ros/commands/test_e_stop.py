# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The e-stops of the bridge and of its server: each follows the other."""

import contextlib
from types import SimpleNamespace

from fake_node import FakeNode
import pytest

from urlab_ros_bridge.client.errors import RequestTimeout
from urlab_ros_bridge.ros.commands import e_stop
from urlab_ros_bridge.ros.commands.commands import Commands
from urlab_ros_bridge.ros.link.connection import ServerLink


class Bridged:
    """An e-stop between commands and a server that write down what they get."""

    def __init__(self, monkeypatch, extensions=('e_stop',)):
        self.now, self.stopped, self.server, self.requested_states, self.lost = (
            0.0,
            '',
            False,
            [],
            False,
        )
        self.waiting = []
        monkeypatch.setattr(e_stop.time, 'monotonic', lambda: self.now)
        self.sender = SimpleNamespace(put=lambda key, action: self.waiting.append(action))
        self.link = SimpleNamespace(
            has=extensions.__contains__,
            commands=SimpleNamespace(e_stop=self.take),
            on_status=[],
        )
        self.node = FakeNode()
        parts = {Commands: self, ServerLink: self.link}
        bridge = SimpleNamespace(
            node=self.node,
            part=parts.__getitem__,
            log=lambda *_: None,
            run_in_stream=lambda task: task(),
        )
        self.part = e_stop.EStop(bridge)
        self.part.start()

    def halt(self, reason):
        self.stopped = reason

    def resume(self):
        self.stopped = ''

    def take(self, engaged):
        if self.lost:
            raise RequestTimeout('e_stop', 'tcp://nowhere', 1.0)
        self.requested_states.append(engaged)
        self.server = engaged

    def send(self):
        """Let the sender work."""
        waiting, self.waiting = self.waiting, []
        for action in waiting:
            with contextlib.suppress(RequestTimeout):
                action()

    def poll(self, state=None, requested=None):
        self.now += 0.5
        state = self.server if state is None else state
        status = SimpleNamespace(e_stop=state)
        for take in self.link.on_status:
            take(status, self.now if requested is None else requested)
        self.send()

    @property
    def published(self):
        return [message.data for message in self.node.published[e_stop.ACTIVE.name]]


@pytest.fixture
def bridged(monkeypatch):
    return Bridged(monkeypatch)


def test_the_e_stops_of_bridge_and_server_follow_each_other(bridged):
    bridged.part.set(True)
    bridged.send()
    assert bridged.server is True
    bridged.poll()
    bridged.server = False  # another client has released it
    bridged.poll()
    assert not bridged.part.engaged
    bridged.server = True
    bridged.poll()
    assert bridged.part.engaged and bridged.requested_states == [True]
    bridged.part.set(False)
    bridged.send()
    bridged.poll()
    assert not bridged.part.engaged and bridged.requested_states == [True, False]
    assert bridged.published == [False, True, False, True, False]


def test_a_status_older_than_the_last_request_changes_nothing(bridged):
    bridged.part.set(True)
    bridged.poll(state=False)  # the server has not got it yet
    assert bridged.part.engaged and bridged.server
    bridged.poll(state=False, requested=0.0)
    assert bridged.part.engaged
    bridged.part.set(False)
    bridged.send()
    bridged.poll(state=True, requested=0.0)
    assert not bridged.part.engaged


def test_an_engaged_bridge_engages_a_server_that_is_new_or_did_not_answer(bridged):
    bridged.part.set(True)
    bridged.lost = True
    bridged.send()
    bridged.lost = False
    bridged.poll()
    bridged.poll()
    assert bridged.part.engaged and bridged.server
    bridged.server = False  # it was restarted
    bridged.part.published(None, None)
    bridged.poll()
    bridged.poll()
    assert bridged.part.engaged and bridged.server
