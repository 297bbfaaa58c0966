# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Steps of the server in lockstep: direct mode, whole periods, and the old mode at the end."""

from __future__ import annotations

from collections.abc import Callable

from urlab_ros_bridge.client.client import Client
from urlab_ros_bridge.client.errors import ModeLockedByServer
from urlab_ros_bridge.client.errors import ModelUnavailable
from urlab_ros_bridge.client.replies.handshake import Handshake
from urlab_ros_bridge.client.replies.observations import StepResult
from urlab_ros_bridge.ros.extras.lockstep.rules import LockstepEnded
from urlab_ros_bridge.ros.extras.lockstep.rules import steps_of
from urlab_ros_bridge.ros.link.connection import ServerLink
from urlab_ros_bridge.ros.link.link_state import Phase
from urlab_ros_bridge.wire.errors import UrlabError
from urlab_ros_bridge.wire.stamp import NANOSECONDS

DIRECT = 'direct'


def timestep_of(handshake: Handshake) -> float:
    """
    Return the timestep of the physics (s).

    :raises ModelUnavailable: when the server does not report it, and the model cannot be read
        here.
    """
    return handshake.timestep or float(handshake.model.opt.timestep)


class LockstepDrive:
    """
    Steps the server in periods; used by the lockstep's thread alone.

    :ivar prepared: how many servers were prepared: the first, a restarted one, another world.
    :ivar restore: whether to restore the previous mode of the server at the end.
    :ivar before: that mode, empty while it is not known.
    :ivar begun_ns: time at which the server was prepared, None where it does not report it.
    """

    def __init__(self, link: ServerLink, period: float, log: Callable[[str, str], None]) -> None:
        """
        Send nothing yet.

        :param period: s of simulation time.
        """
        self.prepared = 0
        self.restore = True
        self._link = link
        self._period = period
        self._log = log
        self._client: Client | None = None
        self._handshake: Handshake | None = None
        self._generation = 0
        self._steps = 0
        self._last_ns: int | None = None
        self.before = ''
        self.begun_ns: int | None = None
        self._warned_of_others = False

    def ready(self) -> bool:
        """
        Return whether the server is connected; prepare a new one.

        :raises LockstepEnded: when the bridge cannot step this server.
        :raises UrlabError: when a request failed.
        """
        state = self._link.state
        if state.phase is Phase.TAKEN:
            raise LockstepEnded('another client has taken the only session of this server')
        if state.phase is Phase.OBSERVING:
            raise LockstepEnded('the bridge sends no requests (parameter observe_only)')
        handshake = self._link.handshake
        if not state.connected or handshake is None:
            return False
        if handshake is not self._handshake:
            self._enter_direct_mode(handshake)
        elif state.mode not in ('', DIRECT):
            self._confirm_mode()
        return True

    def step(self) -> StepResult:
        """
        Step for one period; then `check` the result.

        :raises UrlabError: when the request failed.
        """
        return self._session.step(self._steps, observations='minimal')

    def jumped(self, stamp_ns: int | None) -> None:
        """Continue from another time."""
        self._last_ns = stamp_ns

    def abandon(self) -> None:
        """Close the session, which ends a waiting request; from any thread."""
        client = self._client
        if client is not None and client is not self._link.command_client:
            client.close()

    def leave(self) -> None:
        """Restore the mode, and close the session."""
        client, link = self._client, self._link
        if client is None:
            return
        try:
            if self.restore and self.before not in ('', DIRECT):
                link.record_mode(client.set_mode(self.before).current)
        except UrlabError as error:
            self._log('warning', f'lockstep: the server stays in {DIRECT} mode: {error}')
        if client is not link.command_client:
            client.close()

    @property
    def _session(self) -> Client:
        """Return our session, opened when it is first needed."""
        if self._client is None:
            self._client = self._link.open_session('lockstep')
        return self._client

    def _enter_direct_mode(self, handshake: Handshake) -> None:
        link, session = self._link, self._session
        try:
            self._steps = steps_of(self._period, timestep_of(handshake))
            before = session.set_mode(DIRECT).previous
        except (ValueError, ModelUnavailable) as error:
            raise LockstepEnded(str(error)) from error
        except ModeLockedByServer:
            before = session.status().mode
            if before != DIRECT:
                self.restore = False
                raise LockstepEnded(
                    f'the server was started in {before} mode, which cannot be changed'
                ) from None
        # A changed world still has our mode; a restarted server has its own.
        if before != DIRECT or not self.before:
            self.before = before
        link.record_mode(DIRECT)
        link.record_paused(False)
        self.begun_ns = session.status().sim_time_ns if link.has('status') else None
        self._generation = session.generation
        self._last_ns = None
        self._handshake = handshake
        self.prepared += 1

    def _confirm_mode(self) -> None:
        """Request the mode: the last status of the link may be older than our change."""
        status = self._session.status()
        if self._session.generation != self._generation:
            self._handshake = None  # the server was restarted
        elif status.mode == DIRECT:
            self._link.record_mode(DIRECT)
        else:
            self.restore = False
            raise LockstepEnded(f'the mode was changed to {status.mode}')

    def check(self, result: StepResult) -> None:
        """
        Check whether another client advances time too.

        :raises LockstepEnded: when it has changed the mode, or when the simulation is unstable, so
            that time does not advance: no node answers the same instant again.
        """
        if self._session.generation != self._generation:
            self._handshake = None
            return
        last, self._last_ns = self._last_ns, result.sim_time_ns
        period = round(self._period * NANOSECONDS)
        if last is None or abs(result.sim_time_ns - last - period) < period / self._steps / 2:
            return
        if result.sim_time_ns == last and result.divergence is not None:
            raise LockstepEnded(f'time does not advance: {result.divergence}')
        if self._link.has('status'):
            self._confirm_mode()
        if result.sim_time_ns > last and not self._warned_of_others:
            self._warned_of_others = True
            seconds = (result.sim_time_ns - last) / NANOSECONDS
            self._log(
                'warning',
                f'lockstep: one round advanced time by {seconds:g} s: another client steps too',
            )
