# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Requests that the bridge itself rejects."""

from __future__ import annotations

from urlab_ros_bridge.wire.errors import UrlabError


class RequestRejected(UrlabError):
    """A request that the bridge itself turns down, with its code."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
