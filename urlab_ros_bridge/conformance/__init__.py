# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The conformance suite: one check for each rule of the URLab pages, against any server.

`urlab conformance tcp://host` runs it.  It speaks in raw frames and knows a server by the wire
only; it shares no code with this project's server.
"""

from urlab_ros_bridge.conformance.catalogue import all_checks
from urlab_ros_bridge.conformance.catalogue import select
from urlab_ros_bridge.conformance.check import Check
from urlab_ros_bridge.conformance.peer import Peer
from urlab_ros_bridge.conformance.peer import Places
from urlab_ros_bridge.conformance.runner import Plan
from urlab_ros_bridge.conformance.runner import Result
from urlab_ros_bridge.conformance.runner import run
from urlab_ros_bridge.conformance.verdict import Failed
from urlab_ros_bridge.conformance.verdict import Skipped

__all__ = [
    'Check',
    'Failed',
    'Peer',
    'Places',
    'Plan',
    'Result',
    'Skipped',
    'all_checks',
    'run',
    'select',
]
