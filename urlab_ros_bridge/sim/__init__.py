# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The bundled step server: a MuJoCo world on the URLab wire."""

from __future__ import annotations

__all__: list[str] = []
