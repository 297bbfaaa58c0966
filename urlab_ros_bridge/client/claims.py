# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Claims on the articulations that a client commands, on servers that want them (since July 2026).

The bundled server does not: there, several clients command a world side by side.
"""

from __future__ import annotations

from collections.abc import Callable
import contextlib
import time
from typing import Any

from urlab_ros_bridge.client.errors import ClientError

CLAIM, RELEASE = 'claim_control', 'release_control'
_USUAL_TTL = 10.0  # s, where a server does not report one
# Fields of a block of `per_articulation` that command something.
_COMMANDS = ('ctrl', 'ctrl_map', 'twist', 'xfrc_applied')

Ask = Callable[[dict[str, Any]], dict[str, Any]]


def commanded(message: dict[str, Any]) -> list[str]:
    """Return the prefixes of the articulations that a request commands."""
    op = message['op']
    if op == 'step':
        blocks = message.get('per_articulation') or {}
        return [
            prefix for prefix, block in blocks.items() if any(key in block for key in _COMMANDS)
        ]
    if op in ('set_twist', 'set_setpoints', 'configure_controller'):
        return [message['articulation']] if message.get('articulation') else []
    return []


class HeldClaims:
    """
    The claims of one session.

    :param ask: sends a request and returns its reply.
    """

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._renew_at: dict[str, float] = {}

    def claim_for(self, message: dict[str, Any]) -> None:
        """
        Claim what a request commands, or renew the claim in good time.

        :raises ControlClaimed: when another owner has it.
        """
        for prefix in commanded(message):
            if time.monotonic() >= self._renew_at.get(prefix, 0.0):
                reply = self._ask({'op': CLAIM, 'articulation': prefix})
                ttl = reply.get('ttl_s')
                lasts = float(ttl) if isinstance(ttl, int | float) and ttl > 0 else _USUAL_TTL
                self._renew_at[prefix] = time.monotonic() + lasts / 2

    def release(self) -> None:
        """Release all, as far as the server answers."""
        held, self._renew_at = self._renew_at, {}
        for prefix in held:
            with contextlib.suppress(ClientError):
                self._ask({'op': RELEASE, 'articulation': prefix})


__all__ = ['CLAIM', 'HeldClaims', 'commanded']
