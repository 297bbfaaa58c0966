# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The step server: world, engine, dispatcher, transports and publishers, wired together."""

from __future__ import annotations

from collections.abc import Sequence
import logging
import threading

import mujoco

from urlab_ros_bridge.limited_log import LimitedLog
from urlab_ros_bridge.sim.building import build_simulation
from urlab_ros_bridge.sim.cameras.supervisor import CameraService
from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.dispatcher import AcceptedCall
from urlab_ros_bridge.sim.dispatcher import Dispatcher
from urlab_ros_bridge.sim.extensions import Extend
from urlab_ros_bridge.sim.extensions import Extensions
from urlab_ros_bridge.sim.model.assembly import EMPTY_PREFIX
from urlab_ros_bridge.sim.model.world import load_world
from urlab_ros_bridge.sim.observe.state import SEND_QUEUE
from urlab_ros_bridge.sim.observe.state import StatePublisher
from urlab_ros_bridge.sim.ops import build_registry
from urlab_ros_bridge.sim.ops.session import pre_session_ops
from urlab_ros_bridge.sim.requests.background import compiling
from urlab_ros_bridge.sim.shared_memory import offer_shared_memory
from urlab_ros_bridge.sim.simulation import Simulation
from urlab_ros_bridge.sim.simulation import SimulationHost
from urlab_ros_bridge.sim.streams.control_stream import ControlStream
from urlab_ros_bridge.sim.streams.info import InfoPublisher
from urlab_ros_bridge.transport.keys import read_server_keys
from urlab_ros_bridge.transport.publisher import Publisher
from urlab_ros_bridge.transport.receiver import MessageReceiver
from urlab_ros_bridge.transport.router import Router
from urlab_ros_bridge.transport.server_sockets import ServerSockets
from urlab_ros_bridge.transport.server_sockets import SocketInUse

_LOG = logging.getLogger(__name__)


class Server:
    """
    One step server in this process.

    `start` loads the world and binds; `stop` lets waiting calls answer `shutting_down`.
    """

    def __init__(self, config: ServerConfig, extensions: Sequence[Extend] = ()) -> None:
        """
        Prepare a server.

        :param extensions: add ops, as those of installed packages do; `start` raises what they
            raise.
        """
        self.config = config
        self._extend = extensions
        self._stopped = threading.Event()
        self._sockets = ServerSockets(
            None if config.keys is None else read_server_keys(config.keys)
        )
        self._router: Router | None = None
        self._endpoints: dict[str, str] = {}
        self.host = SimulationHost(config)
        self._registry = build_registry()
        self._extensions = Extensions(self.host, self._registry)

    @property
    def simulation(self) -> Simulation | None:
        """Return the running world, None when there is none."""
        return self.host.simulation

    @property
    def endpoints(self) -> dict[str, str]:
        """Return the bound addresses: 'rpc', 'state' and, unless off, 'control' and 'info'."""
        return dict(self._endpoints)

    def start(self) -> None:
        """
        Build the world, bind the sockets and run.

        :raises WorldError: when the world cannot be built.
        :raises SocketInUse: when a port is taken.
        """
        log = LimitedLog(_LOG, burst=1)

        def log_warning(message: str) -> None:
            if not message.startswith(EMPTY_PREFIX):
                log.warning('MuJoCo: %s', message)

        # MuJoCo itself would write to stderr and to a file in the working directory.
        mujoco.set_mju_user_warning(log_warning)
        host, config = self.host, self.config
        try:
            router = Router(self._sockets, config.bind, config.rpc_port, '--rpc-port')
            self._endpoints['rpc'] = router.endpoint
            self._open_streams()
            shm = host.shm = offer_shared_memory(config)
            if shm is not None:
                host.add_service(shm.state_publisher)
                host.add_service(shm.camera_regions)
            host.add_service(lambda sim: CameraService(config, sim.cameras))
            for extend in self._extend:
                self._extensions.add(extend, f'extension {extend.__module__}')
            self._extensions.add_installed()
            self._open_world()
        except Exception:
            self._extensions.close()
            if host.shm is not None:
                host.shm.close()
            self._sockets.close()
            raise
        dispatcher = Dispatcher(host, self._registry, pre_session_ops(self._registry))

        def accept(frame: bytes) -> bytes | AcceptedCall:
            # A reply that was too large for shared memory is fetched over ZeroMQ.
            kept = None if shm is None else shm.large.take(frame)
            return dispatcher.accept(frame) if kept is None else kept

        if shm is not None:
            shm.serve(lambda frame: dispatcher.accept(frame, over_zmq=False))
        host.ports = {
            name: int(endpoint.rpartition(':')[2]) for name, endpoint in self._endpoints.items()
        }
        router.serve(accept, self._stepped)
        self._router = router

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the server is stopped; false when `timeout` seconds pass first."""
        return self._stopped.wait(timeout)

    @property
    def compiling(self) -> bool:
        """Return whether a model is still being compiled: then exit without shutdown."""
        return compiling()

    def stop(self) -> None:
        """Drain and close everything; safe to call twice."""
        if self._stopped.is_set() or self._router is None:
            return
        self.host.draining = True
        # Waiting calls answer before the transport goes.
        self.host.client_models.close()
        self._extensions.close()
        self.host.close()
        if self.host.shm is not None:
            self.host.shm.close()
        self._router.stop()
        self._sockets.close()
        self._stopped.set()

    def _open_world(self) -> None:
        if not self._extensions.open_world():
            world = load_world(self.config)
            self.host.open(build_simulation(self.config, self.host.data, world))

    def _open_streams(self) -> None:
        """
        Bind the streams of state, setpoints and actuator lists.

        Few clients use the latter two, so a port that another server has taken only switches them
        off.
        """
        config, host = self.config, self.host
        state = self._publisher(config.state_port, '--state-port')
        self._endpoints['state'] = state.endpoint
        host.add_service(lambda sim: StatePublisher(sim.engine, sim.observer, state))
        try:
            control = MessageReceiver.bind(
                self._sockets, config.bind, config.control_port, '--control-port'
            )
            self._endpoints['control'] = control.endpoint
            host.add_service(lambda sim: ControlStream(sim, control))
        except SocketInUse as error:
            _LOG.warning('no control stream: %s', error)
        try:
            info = self._publisher(config.info_port, '--info-port')
            self._endpoints['info'] = info.endpoint
            host.add_service(lambda sim: InfoPublisher(sim, info))
        except SocketInUse as error:
            _LOG.warning('no info stream: %s', error)

    def _publisher(self, port: int, option: str) -> Publisher:
        return Publisher.bind(self._sockets, self.config.bind, port, option, SEND_QUEUE)

    def _stepped(self) -> bool:
        simulation = self.host.simulation
        return simulation is not None and simulation.engine.run.mode != 'live'
