# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Replies that take a while to complete, but no longer need the world."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Deferred:
    """
    What a handler returns when the rest of its reply can wait until the engine's lock is free.

    An op that may return one registers an estimate (`Entry.seconds`) that keeps it off the thread
    that serves everybody.

    :ivar finish: returns the whole reply without `op`; it may raise OpError.
    """

    finish: Callable[[], dict[str, Any]]


__all__ = ['Deferred']
