# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Positions of joints and mocap bodies: out of the state stream, into the gateway's own model."""

from __future__ import annotations

import math
import time

import numpy as np

from urlab_ros_bridge.client.errors import ProtocolError
from urlab_ros_bridge.client.model.kinematics import LocalModel
from urlab_ros_bridge.client.replies.handshake import Handshake
from urlab_ros_bridge.client.replies.observations import EntityObservation
from urlab_ros_bridge.client.replies.observations import Snapshot
from urlab_ros_bridge.client.state.tick import Tick
from urlab_ros_bridge.gateways.virtual_field.scene.packed_state import PackedState
from urlab_ros_bridge.gateways.virtual_field.scene.packed_state import Path

# A snapshot is learned by looking at each of its bytes: large ones, or changing ones, are decoded.
_LARGEST = 1 << 18
_LEARN_EVERY = 1.0  # s
# What moves less (m, rad) is not seen in messages of five digits, within 100 m.
_VISIBLE = 1e-7
# From here on (m) numbers count as not finite: what is computed of them might not be.
_FARTHEST = 1e150
_ROBOTS, _ENTITIES = ('per_articulation', 'arts'), ('entities', 'scene')


class Positions:
    """
    Keeps a model at the state of the server.  For one thread.

    The first snapshot of a kind is decoded; of those that differ from it in numbers alone, only
    the positions are read.

    :ivar have_moved: whether the tick that was read last has anything visibly elsewhere than the
        one that was shown last.
    """

    def __init__(self, handshake: Handshake, local: LocalModel) -> None:
        self._handshake = handshake
        self._local = local
        self._packed: PackedState | None = None
        self._learned_at = -_LEARN_EVERY
        data = local.data
        self._targets = (data.qpos, data.mocap_pos.reshape(-1), data.mocap_quat.reshape(-1))
        # Of each target: which of the numbers that are read go where.
        self._moves: list[tuple[np.ndarray, slice, np.ndarray]] = []
        self._numbers: np.ndarray | None = None  # the last ones, None where it was decoded
        # What is shown: such numbers, or all targets where it was decoded.
        self._shown_numbers: np.ndarray | None = None
        self._shown: list[np.ndarray] | None = None
        self.have_moved = True

    def follow(self, tick: Tick) -> tuple[float, int]:
        """
        Read where a tick has everything; return time (s) and step.

        :param tick: with a snapshot.
        :raises UrlabError: when it cannot be read, does not fit the model, or is not finite.
        """
        read = None
        if self._packed is not None and tick.snapshot is not None:
            read = self._packed.read(tick.snapshot)
        if read is None:
            seconds, step = self._decode(tick)
            numbers, shown = None, self._shown
            is_finite = all((np.abs(target) < _FARTHEST).all() for target in self._targets)
            self.have_moved = shown is None or any(
                not (np.abs(target - before) <= _VISIBLE).all()
                for target, before in zip(self._targets, shown, strict=True)
                if len(target)
            )
        else:
            seconds, step, numbers = read
            before = self._shown_numbers
            change = numbers if before is None else numbers - before
            farthest = float(np.maximum.reduce(np.abs(change), initial=0.0))
            is_finite = farthest < _FARTHEST  # what is shown is
            self.have_moved = before is None or farthest > _VISIBLE
        if not (is_finite and math.isfinite(seconds)):
            raise ProtocolError('a state that is not finite')
        self._numbers = numbers
        return seconds, step

    def show(self) -> None:
        """Put the model where the tick has it, and note that this is shown."""
        numbers = self._numbers
        self._shown_numbers, self._shown = numbers, None
        if numbers is None:
            self._shown = [target.copy() for target in self._targets]
            return
        for target, part, places in self._moves:
            target[places] = numbers[part]

    def _decode(self, tick: Tick) -> tuple[float, int]:
        seen = tick.state()
        if seen is None or tick.snapshot is None:
            raise ProtocolError('a tick without a snapshot')
        local = self._local
        for prefix, state in seen.articulations.items():
            if prefix in self._handshake.articulations:
                local.write(prefix, state.qpos)
        for name, entity in seen.entities.items():
            if len(entity.qpos):
                local.write_entity(name, entity.qpos)
            elif _has_pose(entity):
                local.write_mocap(name, entity.xpos, entity.xquat)
        now = time.monotonic()
        if len(tick.snapshot) <= _LARGEST and now - self._learned_at >= _LEARN_EVERY:
            self._learned_at = now
            self._learn(tick.snapshot, seen)
        return seen.time, seen.step

    def _learn(self, snapshot: bytes, seen: Snapshot) -> None:
        """Note where `_decode` has found what it has written, and where it was written to."""
        local, handshake = self._local, self._handshake
        robots, entities = (
            next(n for n in names if n in seen.raw or n is names[-1])
            for names in (_ROBOTS, _ENTITIES)
        )
        paths: list[list[Path]] = [[], [], []]
        places: list[list[int]] = [[], [], []]

        def add(target: int, block: Path, slots: list[int]) -> None:
            paths[target] += [(*block, index) for index in range(len(slots))]
            places[target] += slots

        for prefix in seen.articulations:
            if prefix in handshake.articulations:
                add(0, (robots, prefix, 'qpos'), local.joint_slots(prefix).tolist())
        for name, entity in seen.entities.items():
            if len(entity.qpos):
                first = handshake.entities[name].qpos_offset
                add(0, (entities, name, 'qpos'), list(range(first, first + len(entity.qpos))))
            elif _has_pose(entity) and (slot := local.mocap_slot(name)) is not None:
                add(1, (entities, name, 'xpos'), list(range(3 * slot, 3 * slot + 3)))
                add(2, (entities, name, 'xquat'), list(range(4 * slot, 4 * slot + 4)))
        self._packed = PackedState(snapshot, [path for some in paths for path in some])
        self._moves, begin = [], 0
        self._shown_numbers = None  # these were others
        for target, some in zip(self._targets, places, strict=True):
            if some:
                part = slice(begin, begin + len(some))
                self._moves.append((target, part, np.array(some, np.intp)))
                begin += len(some)


def _has_pose(entity: EntityObservation) -> bool:
    return len(entity.xpos) == 3 and len(entity.xquat) == 4


__all__ = ['Positions']
