# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The step server: world, engine, dispatcher, transports and publishers, wired together."""

from __future__ import annotations

import logging
import socket as sockets
import threading
from typing import TYPE_CHECKING

import mujoco
import zmq

from urlab_ros_bridge.models import world_path
from urlab_ros_bridge.sim.cameras.service import CameraPart
from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.editor import LevelEditor
from urlab_ros_bridge.sim.errors import SocketInUse
from urlab_ros_bridge.sim.model.assembly import EMPTY_PREFIX
from urlab_ros_bridge.sim.model.world import load_world
from urlab_ros_bridge.sim.ops import build_registry
from urlab_ros_bridge.sim.ops.session import pre_session_ops
from urlab_ros_bridge.sim.physics.rate_limited_log import RateLimitedLog
from urlab_ros_bridge.sim.requests.background import compiling
from urlab_ros_bridge.sim.sockets.subscriptions import MAX_TOPIC_BYTES
from urlab_ros_bridge.sim.sockets.subscriptions import Subscriptions
from urlab_ros_bridge.sim.sockets.zmq_options import bound_endpoint
from urlab_ros_bridge.sim.stage import build_context
from urlab_ros_bridge.sim.stage import Context
from urlab_ros_bridge.sim.stage import Stage
from urlab_ros_bridge.sim.streams.control_stream import ControlStream
from urlab_ros_bridge.sim.streams.control_stream import MAX_MESSAGE_BYTES
from urlab_ros_bridge.sim.streams.control_stream import RECEIVE_QUEUE
from urlab_ros_bridge.sim.streams.info import InfoPublisher
from urlab_ros_bridge.sim.streams.state import SEND_QUEUE
from urlab_ros_bridge.sim.streams.state import StatePublisher
from urlab_ros_bridge.sim.transports.dispatcher import Dispatcher
from urlab_ros_bridge.sim.transports.dispatcher import RequestRunner
from urlab_ros_bridge.sim.transports.frame_decoder import FrameDecoder
from urlab_ros_bridge.sim.transports.shm.large_replies import RepetitionRunner
from urlab_ros_bridge.sim.transports.shm.service import offer_shared_memory
from urlab_ros_bridge.sim.transports.zmq_rpc import ZmqRpcTransport
from urlab_ros_bridge.sim.transports.zmtp_rpc import listen
from urlab_ros_bridge.sim.transports.zmtp_rpc import ZmtpRpcTransport
from urlab_ros_bridge.transport.keys import read_server_keys
from urlab_ros_bridge.wire.encoding.codec import MAX_REQUEST_BYTES

if TYPE_CHECKING:
    from zmq.auth.thread import ThreadAuthenticator

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
        self._keys = None if config.keys is None else read_server_keys(config.keys)
        self._doorkeeper: ThreadAuthenticator | None = None
        self._listener: sockets.socket | None = None
        self._router: zmq.Socket | None = None
        self._transport: ZmqRpcTransport | ZmtpRpcTransport | None = None
        self._stream_sockets: dict[str, zmq.Socket] = {}
        self.stage = Stage(config)

    @property
    def context(self) -> Context | None:
        """Return the running world, None when there is none."""
        return self.stage.context

    def start(self) -> None:
        """
        Build the world, bind the sockets and run.

        :raises WorldError: when the world cannot be built.
        :raises SocketInUse: when a port is taken.
        """
        # MuJoCo itself would write to stderr and to a file in the working directory.
        log = RateLimitedLog(_LOG, logging.WARNING, 'MuJoCo: ', ignore=(EMPTY_PREFIX,))
        mujoco.set_mju_user_warning(log)
        try:
            if self._keys is not None:
                self._doorkeeper = self._keys.start_doorkeeper(self._zmq)
            self._bind_rpc()
            state = self._bind(zmq.XPUB, self.config.state_port, '--state-port')
            self._stream_sockets['state'] = state
            self._state_subscribed = Subscriptions(state)
            self.stage.add_part(self._state_publisher)
            shm = self.stage.shm = offer_shared_memory(self.config)
            if shm is not None:
                self.stage.add_part(shm.state_publisher)
                self.stage.add_part(shm.camera_regions)
            self.stage.add_part(lambda world: CameraPart(self.config, world.cameras))
            self._open_side_streams()
            self._open_world()
        except Exception:
            if self.stage.shm is not None:
                self.stage.shm.close()
            self._dismiss_doorkeeper()
            if self._listener is not None:
                self._listener.close()
            self._zmq.destroy(linger=0)
            raise
        registry = build_registry(self.config.editor)
        dispatcher = Dispatcher(self.stage, registry, pre_session_ops(registry))
        self._reader = FrameDecoder(dispatcher)
        runner: RequestRunner = dispatcher
        if shm is not None:
            shm.serve(dispatcher, self._reader)
            runner = RepetitionRunner(dispatcher, shm.large)
        transport = self._transport = self._rpc_transport(runner)
        self._endpoints = {'rpc': transport.endpoint} | {
            name: bound_endpoint(socket) for name, socket in self._stream_sockets.items()
        }
        self.stage.ports = {
            name: int(endpoint.rpartition(':')[2]) for name, endpoint in self._endpoints.items()
        }
        transport.start()

    @property
    def endpoints(self) -> dict[str, str]:
        """Return the bound addresses: 'rpc', 'state' and, unless off, 'control' and 'info'."""
        return dict(self._endpoints)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the server is stopped; false when `timeout` seconds pass first."""
        return self._stopped.wait(timeout)

    @property
    def compiling(self) -> bool:
        """Return whether a model is still being compiled: then exit without shutdown."""
        return compiling()

    def stop(self) -> None:
        """Drain and close everything; safe to call twice."""
        if self._stopped.is_set() or self._transport is None:
            return
        self.stage.draining = True
        # Waiting calls answer before the transport goes.
        self.stage.client_models.close()
        if self.stage.editor is not None:
            self.stage.editor.close()
        self.stage.close()
        self._reader.stop()
        if self.stage.shm is not None:
            self.stage.shm.close()
        self._transport.stop()
        for socket in self._stream_sockets.values():
            socket.close(linger=0)
        self._dismiss_doorkeeper()
        self._zmq.term()
        self._stopped.set()

    def _open_world(self) -> None:
        config = self.config
        if not config.editor:
            world = load_world(config)
            self.stage.open(build_context(config, self.stage.data, world))
            return
        self.stage.editor = LevelEditor(self.stage)
        if config.model or config.world:
            self.stage.editor.open_and_play(config.model or world_path(config.world))

    def _bind_rpc(self) -> None:
        """Bind the port of the requests; encrypted connections are for libzmq."""
        port, option = self.config.rpc_port, '--rpc-port'
        if self._keys is None:
            self._listener = listen(self.config.bind, port, option)
        if self._listener is None:
            self._router = self._bind(zmq.ROUTER, port, option)

    def _rpc_transport(self, runner: RequestRunner) -> ZmqRpcTransport | ZmtpRpcTransport:
        if self._router is not None:
            return ZmqRpcTransport(
                self._zmq, self._router, runner, self._reader, eager=self._stepped
            )
        assert self._listener is not None
        return ZmtpRpcTransport(self._listener, runner, self._reader, self._stepped)

    def _stepped(self) -> bool:
        context = self.stage.context
        return context is not None and context.engine.mode != 'live'

    def _state_publisher(self, context: Context) -> StatePublisher:
        return StatePublisher(context.engine, context.observer, self._state_subscribed)

    def _open_side_streams(self) -> None:
        """
        Bind the control and the info stream.

        Few clients use them, so a port that another server has taken only switches them off.
        """
        control = self._bind_side('control', zmq.SUB, self.config.control_port)
        if control is not None:
            self.stage.add_part(lambda world: ControlStream(world.engine, control, world.inbound))
        info = self._bind_side('info', zmq.XPUB, self.config.info_port)
        if info is not None:
            subscribed = Subscriptions(info)
            self.stage.add_part(lambda world: InfoPublisher(world, subscribed))

    def _bind_side(self, name: str, kind: int, port: int) -> zmq.Socket | None:
        try:
            socket = self._stream_sockets[name] = self._bind(kind, port, f'--{name}-port')
        except SocketInUse as error:
            _LOG.warning('no %s stream: %s', name, error)
            return None
        return socket

    def _dismiss_doorkeeper(self) -> None:
        if self._doorkeeper is not None:
            self._doorkeeper.stop()
            self._doorkeeper = None

    def _bind(self, kind: int, port: int, option: str) -> zmq.Socket:
        socket = self._zmq.socket(kind)
        socket.setsockopt(zmq.LINGER, 0)
        socket.setsockopt(zmq.MAXMSGSIZE, MAX_REQUEST_BYTES)
        if kind == zmq.XPUB:
            socket.setsockopt(zmq.SNDHWM, SEND_QUEUE)
            socket.setsockopt(zmq.MAXMSGSIZE, 4 * MAX_TOPIC_BYTES)
        elif kind == zmq.SUB:
            socket.setsockopt(zmq.RCVHWM, RECEIVE_QUEUE)
            socket.setsockopt(zmq.MAXMSGSIZE, MAX_MESSAGE_BYTES)
        else:
            # A client that comes back with the same identity takes over its route.
            socket.setsockopt(zmq.ROUTER_HANDOVER, 1)
        if self._keys is not None:
            self._keys.protect(socket)
        endpoint = f'tcp://{self.config.bind}:{port or "*"}'
        try:
            socket.bind(endpoint)
        except zmq.ZMQError as error:
            socket.close()
            # The text of the error itself names the address again.
            raise SocketInUse(endpoint, zmq.strerror(error.errno or 0), option) from error
        return socket
