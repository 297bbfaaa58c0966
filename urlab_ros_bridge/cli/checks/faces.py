# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The parts of the suite, and the packages that each one needs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from urlab_ros_bridge.cli.checks.finding import Finding
from urlab_ros_bridge.cli.checks.finding import Severity

_CORE = ('numpy', 'pyzmq', 'msgpack', 'PyYAML')
_ROS = ('rclpy', 'sensor_msgs', 'nav_msgs', 'tf2_msgs', 'urlab_msgs')


@dataclass(frozen=True, slots=True)
class Face:
    """
    A part of the suite.

    :ivar name: the commands.
    :ivar needs: subjects of findings that must be OK.
    """

    name: str
    text: str
    needs: tuple[str, ...]

    def missing(self, findings: Iterable[Finding]) -> list[str]:
        """Return the missing subjects; only rclpy when all of ROS is missing."""
        right = {each.subject for each in findings if each.level is Severity.OK}
        if 'rclpy' in self.needs and 'rclpy' not in right:
            right |= set(_ROS[1:])
        return [subject for subject in self.needs if subject not in right]


FACES = (
    Face(
        'server, map, soccer, import, robots',
        'step server, maps for Nav2, worlds',
        (*_CORE, 'MuJoCo'),
    ),
    Face('view', "MuJoCo's viewer", (*_CORE, 'MuJoCo')),
    Face('bridge', 'topics and services of ROS 2', (*_CORE, *_ROS)),
    Face('up', 'server and bridge together', (*_CORE, 'rich', 'MuJoCo', *_ROS)),
    Face('chiral', 'policies over WebSocket', (*_CORE, 'websockets', 'MuJoCo')),
    Face('simspark', 'RoboCup tools over TCP', (*_CORE, 'MuJoCo')),
    Face('webxr', 'browsers and headsets', (*_CORE, 'websockets', 'orjson', 'MuJoCo')),
    Face('eval', 'evaluation of policies', ('numpy', 'websockets', 'rich', 'mcap')),
    Face('export', 'data sets for learning', ('numpy', 'mcap', 'pyarrow', 'av')),
    Face('policy', 'locomotion policies as ROS nodes', (*_CORE, *_ROS, 'onnxruntime')),
    Face('keys', 'encryption of ZeroMQ', ('pyzmq',)),
    Face('conformance', 'rules of the protocol', _CORE),
)
