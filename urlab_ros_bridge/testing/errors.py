# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What goes wrong in a test's simulation; all are `AssertionError`s or say what to install."""

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
            'Simulation(bridge=None) is one without'
        )


class NotInTime(UrlabError, AssertionError):
    """What a test waits for did not happen."""


class DidNotMove(UrlabError, AssertionError):
    """Something moved too little, too far or the wrong way."""


__all__ = ['DidNotMove', 'NoRos', 'NotInTime', 'SimulationFailed']
