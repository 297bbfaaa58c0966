# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The e-stop of the bridge and that of its server: who tells whom, and which one counts."""

import contextlib
from types import SimpleNamespace

import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from test.ros.commands.commanded import Node  # noqa: E402
from urlab_ros_bridge.client.errors import RequestTimeout  # noqa: E402
from urlab_ros_bridge.ros.commands import e_stop  # noqa: E402
from urlab_ros_bridge.ros.commands.commands import Commands  # noqa: E402
from urlab_ros_bridge.ros.link.connection import ServerLink  # noqa: E402


class Bridged:
    """An e-stop between commands and a server that write down what they get."""

    def __init__(self, monkeypatch, extensions=('e_stop',)):
        self.now, self.stopped, self.server, self.told, self.lost = 0.0, '', False, [], False
        self.waiting = []
        monkeypatch.setattr(e_stop.time, 'monotonic', lambda: self.now)
        self.sender = SimpleNamespace(put=lambda key, action: self.waiting.append(action))
        self.link = SimpleNamespace(
            has=extensions.__contains__,
            commands=SimpleNamespace(e_stop=self.take),
            on_status=[],
        )
        self.node = Node()
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
        self.told.append(engaged)
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


def test_the_server_is_told_and_followed(bridged):
    bridged.part.set(True)
    bridged.send()
    assert bridged.server is True
    bridged.poll()
    bridged.server = False  # another client has released it
    bridged.poll()
    assert not bridged.part.engaged
    bridged.server = True
    bridged.poll()
    assert bridged.part.engaged and bridged.told == [True]
    bridged.part.set(False)
    bridged.send()
    bridged.poll()
    assert not bridged.part.engaged and bridged.told == [True, False]
    assert bridged.published == [False, True, False, True, False]


def test_a_status_that_is_older_than_what_the_server_was_told_changes_nothing(bridged):
    bridged.part.set(True)
    bridged.poll(state=False)  # the server has not been told yet
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
