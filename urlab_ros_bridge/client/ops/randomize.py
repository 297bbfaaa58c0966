# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Domain randomisation (extension `randomize`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from urlab_ros_bridge.client.replies.reader import read_reply
from urlab_ros_bridge.client.session import Session

TIMEOUT = 30.0  # s; constants of a large model take a while


@dataclass(frozen=True, slots=True)
class Randomized:
    """
    What a `randomize` did.

    :ivar seed: gives the same values again.
    :ivar restored: the compiled values were put back first.
    :ivar items: kind -> {element: the value it has now, a number or a list}.
    """

    seed: int
    restored: bool
    items: dict[str, dict[str, Any]]


class RandomizeOps(Session):
    """The op `randomize`."""

    def randomize(
        self,
        items: Mapping[str, Mapping[str, Any]] | None = None,
        seed: int | None = None,
        restore: bool = False,
        timeout: float = TIMEOUT,
    ) -> Randomized:
        """
        Redraw values of the model around the compiled ones.

        :param items: kind -> {``scale`` | ``offset`` | ``value``: [low, high], selection}, for
            example ``{'mass': {'scale': [0.8, 1.2], 'bodies': 'rover_*'}}``.
        :param seed: the same seed gives the same values; None: the server chooses one.
        :param restore: put the compiled values back, before `items` if there are any.
        :raises BadValue: nothing was changed.
        """
        reply = self.request(
            'randomize',
            timeout,
            items=None if items is None else {name: dict(item) for name, item in items.items()},
            seed=seed,
            restore=restore or None,
        )
        return read_reply(Randomized, reply)
