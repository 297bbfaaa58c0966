# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The inbound control stream: setpoints and gains without a reply (port 5556 of the stock plugin).

It has no thread of its own.  The live loop drains the socket before every step, which costs less
than a microsecond when nothing came; in direct and puppet mode, where steps bring their own
commands, messages are drained and discarded, as stock servers do.  Messages name no sender, so a
claimed articulation takes none.
"""

from __future__ import annotations

import logging
import time

import numpy as np

from urlab_ros_bridge.sim.admission import admit
from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.physics.control.articulation import ArticulationControl
from urlab_ros_bridge.sim.physics.control.controllers import InvalidControllerParameters
from urlab_ros_bridge.sim.simulation import Simulation
from urlab_ros_bridge.transport.receiver import MessageReceiver
from urlab_ros_bridge.transport.receiver import RECEIVE_QUEUE
from urlab_ros_bridge.wire import control as wire
from urlab_ros_bridge.wire.errors import list_names
from urlab_ros_bridge.wire.errors import UnknownTopic
from urlab_ros_bridge.wire.errors import WireError

# What is taken in before one step: about half a millisecond's worth.
DRAIN_LIMIT = 200  # messages, and parts of messages that have too many
DRAIN_BYTES = 1 << 16  # the message that reaches it is the last one; JSON counts eightfold
JSON_WEIGHT = 8
DISCARD_INTERVAL = 0.005  # s; looking costs 2 us, a tenth of a small model's step
_GAINS_END = f'/{wire.SET_GAINS} '.encode()
_LOG = logging.getLogger(__name__)


class _Target:
    """Where setpoints of one articulation go."""

    def __init__(self, control: ArticulationControl) -> None:
        self.control = control
        actuators = control.articulation.actuators.values()
        self.ids = np.array([actuator.id for actuator in actuators], dtype=np.int64)
        self._whole = self.ids.astype('<i4').tobytes()
        self._sorted = np.argsort(self.ids)

    def write(self, setpoints: np.ndarray) -> int:
        """Write setpoints (shape (n,), fields id and value); return how many had no actuator."""
        slot = self.control.setpoints['zmq']
        ids = setpoints['id']
        if ids.tobytes() == self._whole:
            slot[:] = setpoints['value']
            return 0
        if not len(self.ids):
            return len(ids)
        place = np.searchsorted(self.ids, ids, sorter=self._sorted)
        index = self._sorted[np.minimum(place, len(self.ids) - 1)]
        known = self.ids[index] == ids
        slot[index[known]] = setpoints['value'][known]
        return len(ids) - int(np.count_nonzero(known))


class ControlStream:
    """Feeds one world's setpoints from a receiver, which outlives it."""

    def __init__(self, simulation: Simulation, receiver: MessageReceiver) -> None:
        self._simulation = simulation
        engine = self._engine = simulation.engine
        self._receiver = receiver
        self._counters = simulation.inbound
        self._targets = {prefix: _Target(control) for prefix, control in engine.controls.items()}
        self._filters = [
            wire.control_topic(kind, prefix) for prefix in self._targets for kind in wire.KINDS
        ]
        self._reported: set[tuple[str, str]] = set()
        self._next_discard = 0.0
        with engine.lock:
            for topic in self._filters:
                receiver.subscribe(topic)
            engine.hooks.before_live_step.append(self.drain)
            engine.hooks.publish.append(self._on_state)

    def close(self) -> None:
        """Stop listening; nothing of this world's commands reaches the next."""
        for topic in self._filters:
            self._receiver.unsubscribe(topic)
        for _ in range(RECEIVE_QUEUE):
            if self._receiver.skip_rest(RECEIVE_QUEUE) and self._receiver.receive() is None:
                break

    def drain(self) -> None:
        """Read waiting messages, up to a limit.  Needs the engine's lock; never blocks."""
        live = self._engine.run.mode == 'live'
        if not self._receiver.skip_rest(DRAIN_LIMIT):
            return
        left = DRAIN_BYTES
        for _ in range(DRAIN_LIMIT):
            parts = self._receiver.receive()
            if parts is None:
                return
            self._counters.received += 1
            if live:
                weight = JSON_WEIGHT if parts[0].endswith(_GAINS_END) else 1
                left -= weight * len(parts[-1])
                self._apply_message(parts)
            else:
                self._counters.discarded += 1
            if self._receiver.unfinished or left <= 0:
                return

    def _on_state(self, rows: bool) -> None:
        """Drain in every state but running live: that loop drains before its steps."""
        engine = self._engine
        if engine.run.mode != 'live':
            now = time.monotonic()
            if now >= self._next_discard:
                self._next_discard = now + DISCARD_INTERVAL
                self.drain()
        elif engine.run.paused:
            self.drain()

    def _apply_message(self, parts: list[bytes]) -> None:
        prefix, kind = '', 'stream'
        try:
            kind, prefix = wire.parse_control_topic(parts[0])
            if len(parts) != 2:
                raise wire.MalformedControl(kind, f'{len(parts)} parts, expected 2')
            target = self._targets.get(prefix)
            if target is None:  # from a sender of the world before
                raise UnknownTopic(parts[0][:80])
            admit(self._simulation, (prefix,), None, None, moves=kind == wire.CONTROL)
            if kind == wire.CONTROL:
                self._set(prefix, target, parts[1])
            else:
                self._configure(target, parts[1])
        except (OpError, WireError, InvalidControllerParameters) as error:
            self._counters.rejected += 1
            self._report(prefix, kind, str(error))
        else:
            self._counters.applied += 1

    def _set(self, prefix: str, target: _Target, payload: bytes) -> None:
        setpoints = wire.unpack_setpoints(payload)
        unknown = target.write(setpoints)
        if unknown:
            self._counters.unknown_ids += unknown
            ids = map(str, target.ids.tolist())
            first = setpoints['id'][~np.isin(setpoints['id'], target.ids)][0]
            self._report(prefix, 'id', f'no actuator has id {first} ({list_names("id", ids)})')

    def _configure(self, target: _Target, payload: bytes) -> None:
        gains = wire.unpack_gains(payload)
        controller = target.control.controller
        if controller is None:
            raise wire.MalformedControl(wire.SET_GAINS, 'the articulation has no controller')
        controller.configure(gains)

    def _report(self, prefix: str, kind: str, problem: str) -> None:
        """Log the first problem of each kind of an articulation; the rest is only counted."""
        if (prefix, kind) not in self._reported:
            self._reported.add((prefix, kind))
            _LOG.warning(
                'control stream, %s: %s (reported once; status counts them)', prefix, problem
            )
