# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A dispatcher without sockets, and a server on free ports."""

from functools import partial
from pathlib import Path
import sys
import threading
import uuid

from bundled_server import start_server
from dispatching import dispatch
from lasting_trial import with_lasting_trial
import pytest
import zmq

from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.dispatcher import Dispatcher
from urlab_ros_bridge.sim.model.world import load_world
from urlab_ros_bridge.sim.ops import build_registry
from urlab_ros_bridge.sim.ops.session import pre_session_ops
from urlab_ros_bridge.sim.simulation import build_simulation
from urlab_ros_bridge.sim.simulation import SimulationHost
from urlab_ros_bridge.wire.encoding import codec

# Helpers of this folder (importlib mode adds no folder to the path).
sys.path.insert(0, str(Path(__file__).parent))

# How long a reply is waited for at most (s): machines stall.
PATIENCE = 60.0


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

    def code(self, op, **fields):
        """Return the code of the refusal that must come."""
        with pytest.raises(Refused) as caught:
            self.ask(op, **fields)
        return caught.value.code


class Rig(Caller):
    """Everything of a server but threads and sockets; time runs only by requests."""

    def __init__(self, **config):
        self.config = ServerConfig(**config)
        self.host = with_lasting_trial(SimulationHost(self.config))
        world = load_world(self.config)
        self.simulation = build_simulation(self.config, self.host.data, world)
        # Without a live loop: the context is put there, not opened.
        self.host.simulation = self.simulation
        registry = build_registry()
        self.dispatcher = Dispatcher(self.host, registry, pre_session_ops(registry))
        super().__init__(partial(dispatch, self.dispatcher))
        self.hello(shared=True)

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


@pytest.fixture
def rig():
    """Return a factory of rigs."""
    return Rig


@pytest.fixture
def rover(rig):
    """Return a rover in direct mode."""
    made = rig()
    made.ask('set_mode', mode='direct')
    return made


@pytest.fixture
def quadruped(rig):
    """Return a quadruped in direct mode."""
    made = rig(world='quadruped')
    made.ask('set_mode', mode='direct')
    return made


@pytest.fixture(scope='module')
def shared_rig():
    """Return a rover in direct mode that all tests of a module share."""
    made = Rig()
    made.ask('set_mode', mode='direct')
    return made


@pytest.fixture
def mjcf(tmp_path):
    """Write MJCF text to a file and return its path."""

    def write(text, name=None):
        path = Path(tmp_path) / f'{name or "m" + uuid.uuid4().hex[:8]}.xml'
        path.write_text(text)
        return path

    return write


class Socket(Caller):
    """A stock REQ client of a server."""

    def __init__(self, endpoint, timeout=PATIENCE):
        self.socket = zmq.Context.instance().socket(zmq.REQ)
        self.socket.setsockopt(zmq.LINGER, 0)
        self.socket.setsockopt(zmq.RCVTIMEO, int(timeout * 1000))
        self.socket.connect(endpoint)
        self.busy = threading.Lock()
        super().__init__(self._exchange)

    def _exchange(self, frame):
        with self.busy:
            self.socket.send(frame)
            return self.socket.recv()

    def close(self):
        # A thread of a test that has failed may still wait: closing then would end the process.
        if self.busy.acquire(blocking=False):
            self.socket.close()


@pytest.fixture
def server(keep):
    """Return a factory of running servers on free ports; they are stopped at the end."""
    return lambda **config: keep(start_server(**config))


@pytest.fixture
def connect(keep):
    """Return a factory of stock clients; their sockets are closed at the end."""

    def start(server, timeout=PATIENCE, **hello):
        socket = keep(Socket(server.endpoints['rpc'], timeout))
        socket.hello(**hello)
        return socket

    return start


@pytest.fixture
def folder(tmp_path):
    """Return a folder with the files that the sidecars of the tests name."""
    for name in ('depot.xml', 'rover_robot.xml', 'arm.xml'):
        (tmp_path / name).write_text('<mujoco/>')
    return tmp_path
