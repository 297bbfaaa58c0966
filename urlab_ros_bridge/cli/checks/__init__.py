# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The checks of `urlab doctor`, one module a subject; a check returns findings."""

from urlab_ros_bridge.cli.checks.finding import Finding
from urlab_ros_bridge.cli.checks.finding import run_python
from urlab_ros_bridge.cli.checks.finding import Severity
from urlab_ros_bridge.cli.checks.finding import worst

__all__ = ['Finding', 'Severity', 'run_python', 'worst']
