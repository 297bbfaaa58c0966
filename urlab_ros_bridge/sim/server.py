# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The step server: world, engine, dispatcher, transports and publishers, wired together."""

from __future__ import annotations

import logging
import threading

import mujoco
import zmq

from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.context import Context
from urlab_ros_bridge.sim.control import ArticulationControl
from urlab_ros_bridge.sim.dispatcher import Dispatcher
from urlab_ros_bridge.sim.engine import Engine
from urlab_ros_bridge.sim.errors import SocketInUse
from urlab_ros_bridge.sim.errors import unknown
from urlab_ros_bridge.sim.errors import WorldError
from urlab_ros_bridge.sim.lidar import Lidar
from urlab_ros_bridge.sim.live import LiveLoop
from urlab_ros_bridge.sim.observations import Observer
from urlab_ros_bridge.sim.ops import build_registry
from urlab_ros_bridge.sim.ops.session import pre_session_ops
from urlab_ros_bridge.sim.paths import DataFolder
from urlab_ros_bridge.sim.publish.state import SEND_QUEUE
from urlab_ros_bridge.sim.publish.state import StatePublisher
from urlab_ros_bridge.sim.quiet_log import QuietLog
from urlab_ros_bridge.sim.recorder import Recorder
from urlab_ros_bridge.sim.replay import Replay
from urlab_ros_bridge.sim.sessions import SessionTable
from urlab_ros_bridge.sim.transports.zmq_rpc import ZmqRpcTransport
from urlab_ros_bridge.sim.world import load_world
from urlab_ros_bridge.sim.world import World
from urlab_ros_bridge.wire.codec import MAX_REQUEST_BYTES

_LOG = logging.getLogger(__name__)


class Server:
    """
    One step server in this process.

    `start` loads the world and binds; `stop` lets waiting calls answer `shutting_down`.
    """

    def __init__(self, config: ServerConfig) -> None:
        self.config = config
        self._stopped = threading.Event()
        self._zmq = zmq.Context()
        self._transport: ZmqRpcTransport | None = None
        self._state_socket: zmq.Socket | None = None
        self.context: Context | None = None

    def start(self) -> None:
        """
        Build the world, bind the sockets and run.

        :raises WorldError: when the world cannot be built.
        :raises SocketInUse: when a port is taken.
        """
        # MuJoCo itself would write to stderr and to a file in the working directory.
        mujoco.set_mju_user_warning(QuietLog(_LOG, logging.WARNING, 'MuJoCo: '))
        try:
            rpc = self._bind(zmq.ROUTER, self.config.rpc_port, '--rpc-port')
            self._state_socket = self._bind(zmq.XPUB, self.config.state_port, '--state-port')
            world = load_world(self.config)
            self.context = build_context(self.config, world)
        except Exception:
            self._zmq.destroy(linger=0)
            raise
        engine = self.context.engine
        publisher = StatePublisher(engine, self.context.observer, self._state_socket)
        engine.on_state.append(publisher.publish)
        registry = build_registry()
        dispatcher = Dispatcher(self.context, registry, pre_session_ops(registry))
        self._endpoints = {'rpc': _endpoint(rpc), 'state': _endpoint(self._state_socket)}
        self._transport = ZmqRpcTransport(
            self._zmq, rpc, dispatcher, eager=lambda: engine.mode != 'live'
        )
        self._transport.start()
        self.context.live.start()

    @property
    def endpoints(self) -> dict[str, str]:
        """Return the bound addresses of 'rpc' and 'state'."""
        return dict(self._endpoints)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the server is stopped; false when `timeout` seconds pass first."""
        return self._stopped.wait(timeout)

    def stop(self) -> None:
        """Drain and close everything; safe to call twice."""
        if self._stopped.is_set() or self.context is None:
            return
        engine = self.context.engine
        engine.draining = True
        with engine.lock:
            engine.lock.changed.notify_all()
        self._transport.stop()
        self.context.live.join(timeout=5.0)
        with engine.lock:
            engine.on_state.clear()
        self._state_socket.close(linger=0)
        self._zmq.term()
        self._stopped.set()

    def _bind(self, kind: int, port: int, option: str) -> zmq.Socket:
        socket = self._zmq.socket(kind)
        socket.setsockopt(zmq.LINGER, 0)
        socket.setsockopt(zmq.MAXMSGSIZE, MAX_REQUEST_BYTES)
        if kind == zmq.XPUB:
            socket.setsockopt(zmq.SNDHWM, SEND_QUEUE)
        else:
            # A client that comes back with the same identity takes over its route.
            socket.setsockopt(zmq.ROUTER_HANDOVER, 1)
        endpoint = f'tcp://{self.config.bind}:{port or "*"}'
        try:
            socket.bind(endpoint)
        except zmq.ZMQError as error:
            raise SocketInUse(endpoint, error.strerror, option) from error
        return socket


def build_context(config: ServerConfig, world: World) -> Context:
    """
    Put controllers, scanners and the engine around a world; no threads, no sockets.

    :raises WorldError: when a sidecar names a scanner that the model does not have.
    """
    controls, lidars = {}, {}
    for spec in world.spec.articulations:
        articulation = world.articulations[spec.prefix]
        controls[spec.prefix] = ArticulationControl(world.model, world.data, articulation, spec)
        lidars[spec.prefix] = []
        sensors = articulation.local('sensors')
        for name, lidar_spec in spec.lidars.items():
            if name not in sensors:
                error = unknown('bad_value', 'sensor', name, sensors)
                raise WorldError(f'{world.spec.source}: lidars: {error}')
            lidar = Lidar(world.model, sensors[name], lidar_spec)
            lidar.name = name
            lidars[spec.prefix].append(lidar)
    engine = Engine(world, controls, lidars, config.step_mode, config.paused)
    recorder = Recorder(engine)
    return Context(
        config,
        world,
        engine,
        Observer(engine),
        SessionTable(),
        LiveLoop(engine),
        recorder,
        Replay(engine, recorder),
        DataFolder(config.data_dir, config.allow_absolute_paths),
    )


def _endpoint(socket: zmq.Socket) -> str:
    return socket.getsockopt(zmq.LAST_ENDPOINT).decode().rstrip('\x00')
