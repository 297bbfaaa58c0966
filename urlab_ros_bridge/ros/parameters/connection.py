# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The parameters of the connection to the server."""

from __future__ import annotations

from dataclasses import dataclass

from urlab_ros_bridge.ros.parameters.checks import host_name
from urlab_ros_bridge.schema import key


@dataclass(frozen=True)
class ConnectionParameters:
    """Address of the server, and use of the connection."""

    host: str = key('127.0.0.1', 'Host of the simulation server.', check=host_name)
    rpc_port: int = key(5559, "Port of the server's request socket.", low=1, high=65535)
    state_port: int = key(5555, "Port of the server's state stream.", low=1, high=65535)
    keys: str = key(
        '',
        'Key folder (`urlab keys`), for a server that was started with --keys.',
        longest=4096,
    )
    rpc_timeout: float = key(2.0, 'Timeout for a reply of the server (s).', low=0.05, high=60.0)
    observe_only: bool = key(
        False,
        'Only read the state stream and send no requests. For servers with a single session '
        '(stock URLab), so that another client keeps it. Services and commands are refused, and '
        'sensors are published without type and frame.',
    )
    step_mode: str = key(
        'live',
        'Mode requested at every connection. "live": the server steps in real time. "keep": do '
        'not change the mode.',
        choices=('live', 'keep'),
        live=True,
    )
    stream: str = key(
        'auto',
        'What to decode: "rows" (one message per joint and sensor), "state_full" (one snapshot '
        'per tick), or "auto": rows, and snapshots while no rows arrive.',
        choices=('auto', 'rows', 'state_full'),
    )
