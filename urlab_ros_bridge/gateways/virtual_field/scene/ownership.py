# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Which user has which arm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field


@dataclass(frozen=True, slots=True)
class Ownership:
    """
    Which user has which arm.

    :ivar version: of these owners; grows with every change.
    :ivar arm_ids: of each arm of the world; `owners` its user id, None for one that is free.
    :ivar users: user id -> ids of the arms, in order.
    """

    version: int
    arm_ids: tuple[str, ...]
    owners: tuple[str | None, ...]
    users: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


__all__ = ['Ownership']
