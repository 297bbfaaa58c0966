# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Servers without threads and sockets, and those who send them requests."""

from functools import partial

from lasting_trial import with_lasting_trial
import pytest

from urlab_ros_bridge.sim.building import build_simulation
from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.dispatcher import Dispatcher
from urlab_ros_bridge.sim.extensions import Extensions
from urlab_ros_bridge.sim.model.world import load_world
from urlab_ros_bridge.sim.ops import build_registry
from urlab_ros_bridge.sim.ops.session import pre_session_ops
from urlab_ros_bridge.sim.simulation import SimulationHost
from urlab_ros_bridge.wire.encoding import codec


class Refused(Exception):
    """An error reply."""

    def __init__(self, reply):
        self.code, self.message = reply['code'], reply['message']
        assert set(reply) == {'op', 'code', 'message'}
        super().__init__(f'{self.code}: {self.message}')


class Caller:
    """Sends requests with a session; error replies are raised."""

    def __init__(self, exchange):
        self.exchange = exchange
        self.session_id = None

    def hello(self, **fields):
        reply = self.ask('hello', **fields)
        self.session_id = reply['session_id']
        return reply

    def reply(self, op, **fields):
        """Return a reply as it is, also that of a refusal."""
        if op not in ('hello', 'meta'):
            fields = {'session_id': self.session_id, **fields}
        return codec.unpack(self.exchange(codec.pack({'op': op, **fields})), 1 << 30)

    def ask(self, op, **fields):
        reply = self.reply(op, **fields)
        if reply['op'] == 'error':
            raise Refused(reply)
        assert reply['op'] == f'{op}_ok'
        return reply

    def refusal(self, op, **fields):
        """Return the refusal that must come."""
        with pytest.raises(Refused) as caught:
            self.ask(op, **fields)
        return caught.value

    def code(self, op, **fields):
        """Return the code of the refusal that must come."""
        return self.refusal(op, **fields).code


class DispatchCaller(Caller):
    """Has a dispatcher answer on the calling thread, however long that takes."""

    def __init__(self, host, *extensions):
        registry = build_registry()
        self.host = with_lasting_trial(host)
        for extend in extensions:
            Extensions(host, registry).add(extend, 'of this test')
        self.dispatcher = Dispatcher(host, registry, pre_session_ops(registry))
        super().__init__(partial(dispatch, self.dispatcher))
        self.hello(shared=True)


class Rig(DispatchCaller):
    """
    Everything of a server but threads and sockets; time passes only by requests.

    :param mode: the mode that it is put into; '' leaves it as it starts.
    """

    def __init__(self, mode='', **config):
        self.config = ServerConfig(**config)
        host = SimulationHost(self.config)
        # Without a live loop: the simulation is put there, not opened.
        self.simulation = build_simulation(self.config, host.data, load_world(self.config))
        host.simulation = self.simulation
        super().__init__(host)
        if mode:
            self.ask('set_mode', mode=mode)

    @property
    def engine(self):
        return self.simulation.engine

    @property
    def model(self):
        return self.simulation.world.model

    @property
    def data(self):
        return self.simulation.world.data

    def caller(self, **hello):
        caller = Caller(self.exchange)
        caller.hello(**hello)
        return caller


def dispatch(dispatcher, frame):
    """Return the reply to a frame."""
    accepted = dispatcher.accept(frame)
    return accepted if isinstance(accepted, bytes) else accepted.run()
