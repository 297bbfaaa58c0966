# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The state of the connection, and the text that describes it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
import math

# The stream counts as silent after this long without a tick (s).
SILENT_SECONDS = 1.0
# Period of attempts (s) at a server with a faulty handshake: where there is only one session, each
# hello ends that of another client.
SLOW_RETRY_SECONDS = 10.0
# The text for a server in live mode.
RUNNING = 'connected: live'


class Phase(Enum):
    """State of the connection."""

    CONNECTING = 'connecting'
    PREPARING = 'preparing'
    CONNECTED = 'connected'
    LOST = 'lost'
    OBSERVING = 'observing'
    TAKEN = 'taken'
    REFUSED = 'refused'


@dataclass(frozen=True, slots=True)
class LinkState:
    """
    The connection at one moment.

    :ivar mode: step mode of the server, empty when not known; `paused` likewise None.
    :ivar asking: a request to the server has not been answered yet.
    :ivar problem: text of the last error.
    """

    phase: Phase = Phase.CONNECTING
    endpoint: str = ''
    state_endpoint: str = ''
    mode: str = ''
    pinned: bool = False
    paused: bool | None = None
    asking: bool = False
    problem: str = ''
    robots: int = 0

    @property
    def connected(self) -> bool:
        """Whether requests can be sent, and what the world holds is known."""
        return self.phase is Phase.CONNECTED

    @property
    def open(self) -> bool:
        """Whether commands can be sent; topics for them are there a moment before the rest is."""
        return self.phase in (Phase.PREPARING, Phase.CONNECTED)


def describe(state: LinkState, silence: float, in_lockstep: bool = False) -> tuple[bool, str]:
    """
    Return the state of the connection, and what to do about it.

    :param silence: seconds since the last tick, infinite before the first.
    :param in_lockstep: the bridge steps the server.
    :return: whether all is well, and the text.
    """
    silent = silence > SILENT_SECONDS
    if state.phase in (Phase.CONNECTING, Phase.LOST):
        what = 'lost the server' if state.phase is Phase.LOST else 'waiting for a server'
        return False, (
            f'{what} at {state.endpoint}; if none is starting there, start one with '
            '`urlab server`, or set the parameters host and rpc_port'
        )
    if state.phase is Phase.PREPARING:
        where = f'connected to {state.endpoint}'
        if state.problem:
            return False, f'{where}, but nothing is published: {state.problem}'
        return True, f'{where}, reading its world'
    if state.phase is Phase.REFUSED:
        return False, f'{state.problem}; trying again every {SLOW_RETRY_SECONDS:g} s'
    if state.phase is Phase.TAKEN:
        return False, (
            'another client has taken the only session of this server: '
            'commands and services are refused. Start the bridge with observe_only, '
            'or restart it to take the session back'
        )
    if state.phase is Phase.OBSERVING:
        if state.problem:
            return False, f'observing: {state.problem}'
        if silent:
            return False, (
                f'observing, but no state arrives from {state.state_endpoint}: is the '
                'server up and in live mode?'
            )
        return True, 'observing: no requests are sent'
    return _describe_connected(state, silence, in_lockstep)


def _describe_connected(state: LinkState, silence: float, in_lockstep: bool) -> tuple[bool, str]:
    silent = silence > SILENT_SECONDS
    if not state.robots:
        return False, state.problem or 'connected, but the world has no robots'
    if state.mode == 'direct' and in_lockstep:
        how = ', but no state arrives' if silent else ', paused' if state.paused else ''
        return not silent, f'connected: lockstep{how}'
    if state.mode in ('direct', 'puppet'):
        how = 'steps it' if state.mode == 'direct' else 'sets its state'
        quiet = 'connected, but silent' if silent else 'connected'
        back = (
            'the server is pinned to this mode'
            if state.pinned
            else 'to run in real time call set_mode with mode: live'
        )
        return not silent, (
            f'{quiet}: the server is in {state.mode} mode (a client {how}); {back}'
        )
    if silent and state.asking:
        return False, f'the server at {state.endpoint} neither responds nor publishes its state'
    if silent:
        advice = (
            'the server is busy or hung'
            if silence < math.inf
            else 'check the parameter state_port'
        )
        return False, (
            f'connected, but no state arrives from {state.state_endpoint}: {advice}'
            + (' (paused)' if state.paused else '')
        )
    if state.paused:
        return True, 'connected, paused: to resume call pause with data: false'
    return True, RUNNING if state.mode == 'live' else 'connected: mode unknown'
