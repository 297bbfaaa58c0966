# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Lockstep: the simulation waits at every instant until named nodes have answered."""

from __future__ import annotations

from urlab_ros_bridge.ros.extras.lockstep.lockstep import Lockstep

__all__ = ['Lockstep']
