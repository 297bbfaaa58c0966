# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The state of every tick out of shared memory (`state.shm`, Protocol Reference, "Transports").

It holds what `state/full` holds, and no rows.  The region has the newest state only.
"""

from __future__ import annotations

import logging
import time

from urlab_ros_bridge.client.errors import ProtocolError
from urlab_ros_bridge.client.state.stream import StateStream
from urlab_ros_bridge.client.state.stream import StreamStats
from urlab_ros_bridge.client.state.stream import TickSource
from urlab_ros_bridge.client.state.tick import Tick
from urlab_ros_bridge.client.transports.shm_link import TRANSPORTS
from urlab_ros_bridge.client.transports.shm_region import Directory
from urlab_ros_bridge.client.transports.shm_region import is_usable
from urlab_ros_bridge.client.transports.shm_region import RegionStream
from urlab_ros_bridge.transport.keys import KeySource
from urlab_ros_bridge.transport.shm import RegionReader
from urlab_ros_bridge.transport.shm.files import STATE_FILE
from urlab_ros_bridge.wire.errors import MalformedRegion
from urlab_ros_bridge.wire.errors import RegionUnavailable
from urlab_ros_bridge.wire.errors import UnknownName
from urlab_ros_bridge.wire.errors import WireError
from urlab_ros_bridge.wire.ops import STATE_PORT
from urlab_ros_bridge.wire.rows import STATE_FULL_TOPIC

_LOG = logging.getLogger(__name__)


class ShmStateStream(RegionStream):
    """
    Ticks with a snapshot each, always the newest; the interface is `stream.TickSource`.

    The server writes while a reader has the region open.  `receive` may run in one thread while
    another one closes.

    :ivar stats: counters, see `StreamStats`; `dropped_ticks` counts states that a newer one
        replaced, `rows` the states that were read.
    :ivar closed_by: always ``state_full``: time and step of a tick are those in its snapshot.
    """

    closed_by = 'state_full'

    def __init__(self, directory: Directory, *, stamped: bool = True) -> None:
        """
        Open the region, which has to be there.

        :param directory: the handshake's `shm_session_dir`, or a function that returns that of
            the latest handshake; only with a function does the stream continue after a restart.
        :param stamped: False: snapshots are not decoded here, so ticks lack time and step.
        :raises RegionUnavailable: when the region cannot be opened.
        :raises MalformedRegion: when it is none.
        """
        self.stats = StreamStats()
        self._stamped = stamped
        super().__init__(directory, STATE_FILE)

    def receive(self, timeout: float | None = None) -> Tick | None:
        """Return the newest tick, see `RegionStream.receive`."""
        tick: Tick | None = super().receive(timeout)
        return tick

    def _read(self, reader: RegionReader) -> Tick | None:
        stats = self.stats
        try:
            payload = reader.read()
            if payload is None:
                return None
            stats.rows += 1
            stats.dropped_ticks += self._count(reader)
            stats.last_receive = time.monotonic()
            tick = Tick(0, -1, None, [], payload, self.closed_by)
            if self._stamped:
                tick.stamp_from_snapshot()
        except (WireError, ProtocolError):
            stats.decode_errors += 1
            return None
        stats.ticks += 1
        return tick


def open_state(
    shm_dir: Directory,
    host: str = '127.0.0.1',
    state_port: int = STATE_PORT,
    *,
    transport: str = 'auto',
    keys: KeySource = None,
    stamped: bool = True,
) -> TickSource:
    """
    Open a stream of the world's state: ticks whose `state()` is filled.

    :param shm_dir: the handshake's `shm_session_dir`, or a function that returns that of the
        latest handshake, with which a stream continues after a restart of the server.
    :param transport: ``zmq``, ``shm``, or ``auto``: shared memory when the server is here.
    :param keys: see `Session`.
    :param stamped: False: who reads few numbers of the snapshots may decode them, or not; time and
        step of ticks are then unknown where only a snapshot has them.
    :raises RegionUnavailable: with ``shm``, when there is none.
    :raises MalformedRegion: with ``shm``, when it makes no sense.
    :raises UnknownName: for another transport.
    """
    if transport not in TRANSPORTS:
        raise UnknownName('transport', transport, TRANSPORTS)
    if transport == 'shm' or (transport == 'auto' and is_usable(shm_dir, host)):
        try:
            return ShmStateStream(shm_dir, stamped=stamped)
        except (RegionUnavailable, MalformedRegion) as error:
            if transport == 'shm':
                raise
            _LOG.debug('the state arrives over ZMQ: %s', error)
    return StateStream(host, state_port, (STATE_FULL_TOPIC,), keys=keys)


__all__ = ['ShmStateStream', 'open_state']
