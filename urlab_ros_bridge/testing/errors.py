# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What goes wrong in a simulation of a test; what was demanded in vain is an AssertionError."""

from __future__ import annotations

from urlab_ros_bridge.wire.errors import UrlabError


class SimulationFailed(UrlabError, RuntimeError):
    """A program of the simulation did not come up, or has ended."""

    def __init__(self, program: str, why: str, output: str) -> None:
        tail = '\n'.join(output.strip().splitlines()[-30:]) or '(no output)'
        super().__init__(f'the {program} of the simulation {why}; its output ends with:\n{tail}')


class NoRos(UrlabError, ImportError):
    """The bridge is wanted where ROS is not installed."""

    def __init__(self, cause: ImportError) -> None:
        super().__init__(
            f'a simulation with a bridge needs ROS 2 ({cause}); '
            'Simulation(bridge=None) starts one without a bridge'
        )


class NoBridge(UrlabError, RuntimeError):
    """A message is waited for in a simulation without a bridge."""

    def __init__(self, topic: str) -> None:
        super().__init__(
            f'the simulation publishes nothing on {topic}: it was started without a bridge '
            '(bridge=None). For messages of other nodes, call testing.wait_for_message with a '
            'node of your own'
        )


class NotInTime(UrlabError, AssertionError):
    """What a test waits for did not happen."""


class DidNotMove(UrlabError, AssertionError):
    """Something moved too little, too far or the wrong way."""


__all__ = ['DidNotMove', 'NoBridge', 'NoRos', 'NotInTime', 'SimulationFailed']
