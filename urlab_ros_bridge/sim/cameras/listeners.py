# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The listening sockets of the cameras of a world."""

from __future__ import annotations

import errno
import socket

from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.transport.server_sockets import SocketInUse
from urlab_ros_bridge.wire.ops import RPC_PORT

MAX_PORTS = 32  # of the cameras of a world; more cameras share them
_MORE_PORTS = 200  # beyond the number of cameras
_BACKLOG = 32


def open_listeners(config: ServerConfig, count: int) -> list[socket.socket]:
    """
    Open `count` listening sockets for the subscribers of cameras.

    Each takes the first free port from `camera_port` on, as stock servers do; 5559 and the
    server's own ports are left out.  Port 0 stands for any free port.

    :raises SocketInUse: when there are not enough free ports, or the address cannot be bound.
    """
    taken = {RPC_PORT, config.rpc_port, config.state_port}
    listeners: list[socket.socket] = []
    port = last = config.camera_port
    if port:
        last = min(port + count + _MORE_PORTS, 65535)
    try:
        while len(listeners) < count:
            if port > last:
                raise SocketInUse(
                    _endpoint(config.bind, f'{config.camera_port}-{last}'),
                    f'{count} free ports are needed',
                    '--camera-port',
                )
            if not port or port not in taken:
                listener = _listen(config.bind, port)
                if listener is not None:
                    listeners.append(listener)
            port += bool(port)
    except Exception:
        for listener in listeners:
            listener.close()
        raise
    return listeners


def endpoint_of(listener: socket.socket) -> str:
    """Return the address in ZeroMQ's spelling."""
    host, port = listener.getsockname()[:2]
    return _endpoint(host, port)


def _listen(host: str, port: int) -> socket.socket | None:
    """Return a listening socket, None when the port is taken."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setblocking(False)
    try:
        listener.bind(('' if host == '*' else host, port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE and port:
            return None
        raise SocketInUse(
            _endpoint(host, port), error.strerror or str(error), '--camera-port'
        ) from error
    return listener


def _endpoint(host: str, port: int | str) -> str:
    return f'tcp://{host}:{port}'
