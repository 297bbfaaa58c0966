# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The URLab client: typed requests, and the state stream as ticks.  Needs no ROS and no MuJoCo."""

from urlab_ros_bridge.client.cameras.stream import open_camera
from urlab_ros_bridge.client.cameras.stream import ShmCameraStream
from urlab_ros_bridge.client.client import Client
from urlab_ros_bridge.client.errors import ClientError
from urlab_ros_bridge.client.errors import ModelUnavailable
from urlab_ros_bridge.client.errors import ProtocolError
from urlab_ros_bridge.client.errors import RemoteError
from urlab_ros_bridge.client.errors import RequestTimeout
from urlab_ros_bridge.client.errors import SimulationDiverged
from urlab_ros_bridge.client.ops import WallAge
from urlab_ros_bridge.client.replies.handshake import Handshake
from urlab_ros_bridge.client.replies.observations import decode_snapshot
from urlab_ros_bridge.client.replies.observations import Snapshot
from urlab_ros_bridge.client.replies.observations import StepResult
from urlab_ros_bridge.client.state.stream import open_state
from urlab_ros_bridge.client.state.stream import ShmStateStream
from urlab_ros_bridge.client.state.stream import StateStream
from urlab_ros_bridge.client.state.tick import Tick

__all__ = [
    'Client',
    'ClientError',
    'Handshake',
    'ModelUnavailable',
    'ProtocolError',
    'RemoteError',
    'RequestTimeout',
    'ShmCameraStream',
    'ShmStateStream',
    'SimulationDiverged',
    'Snapshot',
    'StateStream',
    'StepResult',
    'Tick',
    'WallAge',
    'decode_snapshot',
    'open_camera',
    'open_state',
]
