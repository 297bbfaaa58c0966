# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The info stream lists what the model has, at the stock rate, for who listens."""

import pytest
import zmq

from urlab_ros_bridge.sim.streams.info import InfoPublisher
from urlab_ros_bridge.transport.publisher import Publisher
from urlab_ros_bridge.wire.control import unpack_info


class Pipe:
    """Stands in for the XPUB socket."""

    def __init__(self):
        self.subscriptions, self.sent = [], []

    def getsockopt(self, option):
        return zmq.POLLIN if self.subscriptions else 0

    def recv(self, flags):
        return self.subscriptions.pop(0)

    def send(self, message, flags):
        assert flags & zmq.NOBLOCK
        self.sent.append(message)


@pytest.fixture
def info(rig):
    """Return a factory: world -> (rig, pipe, turn)."""

    def start(**config):
        made, pipe = rig(**config), Pipe()
        publisher = InfoPublisher(made.context, Publisher(pipe))

        def turns(count, rows=True):
            before = len(pipe.sent)
            for _ in range(count):
                publisher.beat(rows)
            return len(pipe.sent) - before

        return made, pipe, turns

    return start


def test_the_list_is_that_of_the_model(info):
    made, pipe, turns = info(world='quadruped')
    pipe.subscriptions.append(b'\x01')
    assert turns(1) == 1
    told, model = unpack_info(pipe.sent[0]), made.model
    assert told.robot == 'quadruped' and len(told.ids) == 12
    for name, actuator, low, high in zip(told.names, told.ids, told.mins, told.maxs, strict=True):
        assert model.actuator(name).id == actuator
        limited = model.actuator_ctrllimited[actuator]
        expected = model.actuator_ctrlrange[actuator].tolist() if limited else [-100, 100]
        assert [low, high] == expected


def test_actuators_without_range_are_said_to_have_100(info, mjcf):
    text = mjcf(
        '<mujoco model="m"><worldbody><body name="b"><joint name="j"/><joint name="k" axis="1 0 0"'
        '/><geom size="0.1"/></body></worldbody><actuator><motor name="a" joint="j"/>'
        '<motor name="c" joint="k" ctrlrange="-2 3"/></actuator></mujoco>'
    )
    _, pipe, turns = info(model=text)
    pipe.subscriptions.append(b'\x01')
    turns(1)
    told = unpack_info(pipe.sent[0])
    assert (told.names, told.mins, told.maxs) == (['m_a', 'm_c'], [-100, -2], [100, 3])


def test_the_rate_is_that_of_the_page(info):
    _, pipe, turns = info()
    pipe.subscriptions.append(b'\x01')
    assert turns(2500) == 50
    assert turns(5000) == 10


def test_nobody_listens_nothing_is_made(info, monkeypatch):
    _, pipe, turns = info()
    monkeypatch.setattr(InfoPublisher, '_messages', lambda self: pytest.fail('for nobody'))
    assert turns(1000) == 0
    pipe.subscriptions += [b'\x01', b'\x00']
    assert turns(1000) == 0


def test_who_comes_late_is_told_at_once(info):
    _, pipe, turns = info()
    turns(6000)
    pipe.subscriptions.append(b'\x01')
    assert turns(25) == 1


def test_stepped_modes_are_silent_and_a_pause_is_not(info):
    made, pipe, turns = info()
    pipe.subscriptions.append(b'\x01')
    assert turns(1000, rows=False) == 0
    made.engine.run.paused = True
    assert turns(10) == 10  # a beat of 0.1 s is 50 turns of 2 ms
