# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The parts of the suite, and the packages that each one needs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from urlab_ros_bridge.cli.checks.finding import Finding
from urlab_ros_bridge.cli.checks.finding import Severity
from urlab_ros_bridge.cli.errors import setup_command
from urlab_ros_bridge.cli.packages import NEEDS

_CORE = ('numpy', 'pyzmq', 'msgpack', 'PyYAML')
_ROS = ('rclpy', 'sensor_msgs', 'nav_msgs', 'tf2_msgs', 'urlab_msgs')


@dataclass(frozen=True, slots=True)
class Face:
    """
    A part of the suite.

    :ivar names: the commands.
    :ivar needs: subjects of findings that must be OK.
    """

    names: str
    text: str
    needs: tuple[str, ...] = _CORE

    @property
    def setup(self) -> str:
        """Return the command that installs what a package index has of it, or empty."""
        needs = NEEDS.get(self.names.partition(', ')[0])
        return '' if needs is None or not needs.extra else setup_command(needs.extra)

    def missing(self, findings: Iterable[Finding]) -> list[str]:
        """Return what is missing; only rclpy when all of ROS is missing."""
        right = {each.subject for each in findings if each.level is Severity.OK}
        if 'rclpy' in self.needs and 'rclpy' not in right:
            right |= set(_ROS[1:])
        absent = [subject for subject in self.needs if subject not in right]
        commands = ('server', 'bridge') if self.names == 'up' else self.names.split(', ')
        for command in commands:
            absent += NEEDS[command].missing() if command in NEEDS else ()
        modules = [name for name in absent if name not in _ROS or name in self.needs]
        return list(dict.fromkeys(modules))


FACES = (
    Face('server, map', 'step server, maps for Nav2'),
    Face('import', 'robots from URDF'),
    Face('robots', 'robots by name'),
    Face('view', "MuJoCo's viewer"),
    Face('bridge', 'topics and services of ROS 2', (*_CORE, *_ROS)),
    Face('up', 'server and bridge together', (*_CORE, 'rich', *_ROS)),
    Face('chiral', 'policies over WebSocket'),
    Face('simspark', 'RoboCup tools over TCP'),
    Face('webxr', 'browsers and headsets'),
    Face('eval', 'evaluation of policies', (*_CORE, 'rich')),
    Face('export', 'data sets for learning', (*_CORE, 'av')),
    Face('policy', 'locomotion policies as ROS nodes', (*_CORE, *_ROS)),
    Face('keys', 'encryption of ZeroMQ', ('pyzmq',)),
    Face('conformance', 'rules of the protocol'),
)
