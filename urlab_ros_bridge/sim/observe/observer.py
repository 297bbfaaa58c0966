# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
From MjData to the observation blocks of a reply (Protocol Reference, "Observation levels").

What a level contains is declared once, as a tree of arrays (`packed.ObservationLayout`): most
leaves are views into MjData, so an observation is a copy of numbers and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from functools import partial
import time
from typing import Any
from typing import NamedTuple

import numpy as np

from urlab_ros_bridge.model import Index
from urlab_ros_bridge.model import RobotModel
from urlab_ros_bridge.sim.observe.packed import ObservationLayout
from urlab_ros_bridge.sim.observe.packed import PackedMessage
from urlab_ros_bridge.sim.observe.packed import Tree
from urlab_ros_bridge.sim.physics.control.articulation import ArticulationControl
from urlab_ros_bridge.sim.physics.control.twist.controller import TwistController
from urlab_ros_bridge.sim.physics.engine import Engine
from urlab_ros_bridge.sim.physics.sensing import RayScanner
from urlab_ros_bridge.wire.dialect import PAGE
from urlab_ros_bridge.wire.dialect import V06
from urlab_ros_bridge.wire.divergence import Divergence
from urlab_ros_bridge.wire.ops import SNAPSHOT
from urlab_ros_bridge.wire.rows import ENTITY_FIELDS
from urlab_ros_bridge.wire.stamp import ns_to_block
from urlab_ros_bridge.wire.stamp import seconds_to_ns

# Prefixes of topics of the state stream, to whose values an observation is narrowed; None: not.
Topics = frozenset[str] | None


class ObservationView(NamedTuple):
    """
    What an observation contains.

    :ivar level: minimal, standard, full or snapshot.
    :ivar published_sensors: whether sensors are those of the state that is published; else they
        are what mj_step leaves, see `Engine.stepped_sensors`.
    """

    level: str
    topics: Topics = None
    published_sensors: bool = True


# Layouts that are kept: clients choose topics as they like.
_MOST_KEPT = 32


class _LayoutBuilder:
    """Collects leaves: views where the slots allow it, else copies with their refresh."""

    def __init__(self, engine: Engine, view: ObservationView) -> None:
        self.data = engine.world.data
        self._topics = None if view.topics is None else tuple(view.topics)
        self.refresh: list[Callable[[], None]] = []
        if view.published_sensors:
            self._sensors = self.data.sensordata
        else:
            self._sensors = engine.stepped_sensors
            self.refresh.append(engine.complete_stepped_sensors)

    def leaf(self, source: np.ndarray, index: Index | int) -> np.ndarray:
        """Return the slots of a vector, or a row of a matrix."""
        if not isinstance(index, np.ndarray):
            return source[index]
        copy = np.zeros(len(index))
        if len(index):
            self.refresh.append(partial(np.take, source, index, 0, copy))
        return copy

    def wanted(self, *topics: str) -> bool:
        """Return whether an observation shows what rows with one of these topics do."""
        return self._topics is None or any(topic.startswith(self._topics) for topic in topics)

    def articulation(self, control: ArticulationControl, level: str) -> Tree:
        """Return the block of an articulation at a level: minimal, standard or full."""
        data, parts = self.data, control.articulation
        prefix = parts.prefix
        tree: Tree = {
            'qpos': self.leaf(data.qpos, parts.qpos),
            'qvel': self.leaf(data.qvel, parts.qvel),
        }
        if level != 'minimal':
            if self._topics is None:  # of these there are no rows
                tree['ctrl'] = self.leaf(data.ctrl, parts.ctrl)
                tree['act'] = self._act(parts)
            tree['sensors'] = {
                sensor.name: self._sensors[sensor.slots]
                for sensor in parts.sensors.values()
                if self.wanted(f'{prefix}/sensor/{sensor.name}')
            }
            if control.twist is not None and self.wanted(f'{prefix}/twist', f'{prefix}/actions'):
                tree.update(self._twist(control.twist))
        if level == 'full' and self._topics is None:
            tree['bodies'] = {
                body.name: {'xpos': data.xpos[body.id], 'xquat': data.xquat[body.id]}
                for body in parts.bodies.values()
            }
            tree['actuator_force'] = self.leaf(data.actuator_force, parts.ctrl)
        return tree

    def entities(self, engine: Engine) -> Tree:
        """Return pose (and state, when free) of every entity."""
        data, blocks = self.data, {}
        for name, entity in engine.world.entities.items():
            if not self.wanted(*(f'scene/{name}/{field}' for field in ENTITY_FIELDS)):
                continue
            block = blocks[name] = {
                'xpos': data.xpos[entity.body],
                'xquat': data.xquat[entity.body],
            }
            if entity.free is not None:
                block['qpos'] = data.qpos[entity.free.qpos_slots]
                block['qvel'] = data.qvel[entity.free.dof_slots]
        return blocks

    def entity_blocks(self, engine: Engine) -> Tree:
        """Return the block that an entity has beside those of robots in v0.6."""
        data = self.data
        return {
            name: {
                'qpos': data.qpos[entity.free.qpos_slots] if entity.free else np.empty(0),
                'qvel': data.qvel[entity.free.dof_slots] if entity.free else np.empty(0),
            }
            for name, entity in engine.world.entities.items()
        }

    def scan_stamps(self, lidars: Iterable[RayScanner]) -> Tree:
        """Return when each scan was made (ns): a snapshot repeats the last one."""
        stamps = {lidar: np.zeros((), np.int64) for lidar in lidars}

        def update() -> None:
            for lidar, stamp in stamps.items():
                stamp[()] = lidar.stamp_ns

        self.refresh.append(update)
        return {lidar.name: stamp for lidar, stamp in stamps.items()}

    def counter(self, count: Callable[[], int]) -> np.ndarray:
        """Return a count that every observation reads again."""
        leaf = np.zeros((), np.int64)

        def update() -> None:
            leaf[()] = count()

        self.refresh.append(update)
        return leaf

    def _act(self, parts: RobotModel) -> np.ndarray:
        """One entry per actuator, 0 for stateless ones (not MuJoCo's compact vector)."""
        act = np.zeros(parts.nu)
        active = [each for each in parts.actuators.values() if each.activation_slots.stop]
        if active:
            positions = np.array([actuator.index for actuator in active])
            slots = np.array([actuator.activation_slots.start for actuator in active])
            source = self.data.act

            def update() -> None:
                act[positions] = source[slots]

            self.refresh.append(update)
        return act

    def _twist(self, twist: TwistController) -> Tree:
        linear, angular, actions = np.zeros(3), np.zeros(3), np.zeros((), np.int64)
        shown: tuple[float, float, float] | None = None

        def update() -> None:
            nonlocal shown
            if twist.value is not shown:  # most robots stand or hold a twist for long
                shown = twist.value
                linear[0], linear[1], angular[2] = shown
            actions[()] = twist.actions

        self.refresh.append(update)
        return {'twist': {'linear': linear, 'angular': angular}, 'actions': actions}


class Observer:
    """Builds whole replies.  Everything here needs the engine's lock."""

    def __init__(self, engine: Engine, dialect: str = PAGE) -> None:
        """Build replies of an engine, with the names and snapshots of a dialect."""
        is_v06 = self._entities_are_blocks = dialect == V06
        self._names = ('arts', 'scene') if is_v06 else ('per_articulation', 'entities')
        self._snapshot_level = 'full' if is_v06 else 'standard'
        self._engine = engine
        self._data = engine.world.data
        self._layouts: dict[ObservationView, ObservationLayout] = {}
        self._packed: dict[tuple[ObservationView, str, str], PackedMessage] = {}
        self._divergence: Divergence | None = None  # in the packed messages
        self._snapshot = (-1, b'')

    def header(self, step: int) -> dict[str, Any]:
        """Return time, step, sim_time and wall_time."""
        return {
            'time': self._data.time,
            'step': step,
            'sim_time': ns_to_block(self._engine.clock.stamp_ns),
            'wall_time': ns_to_block(time.time_ns()),
        }

    def observe(self, view: ObservationView, step: int) -> dict[str, Any]:
        """Return the body of a step, reset or forward reply."""
        return {**self.header(step), **self._layout(view).numbers(), **self._fixed(view)}

    def packed(self, view: ObservationView, step: int) -> bytes:
        """Return the msgpack frame of a step reply."""
        return self._fill(self._message(view, 'step_ok'), step)

    def snapshot(self) -> bytes:
        """
        Return a state/full message: standard level, effort, scan_stamps, resets, mode, divergence.

        All but the level are extensions.

        All publishers of one publication get the same one.
        """
        engine = self._engine
        publication, snapshot = self._snapshot
        if publication != engine.publications:
            snapshot = self._fill(
                self._message(ObservationView(SNAPSHOT), 'state_full'), engine.clock.steps
            )
            self._snapshot = engine.publications, snapshot
        return snapshot

    def _fill(self, message: PackedMessage, step: int) -> bytes:
        seconds = self._data.time
        return message.pack(seconds, seconds_to_ns(seconds), step)

    def _message(self, view: ObservationView, op: str) -> PackedMessage:
        if self._engine.divergence is not self._divergence:
            self._divergence = self._engine.divergence
            self._packed.clear()
        mode = self._engine.run.mode if view.level == SNAPSHOT else ''
        message = self._packed.get((view, op, mode))
        if message is None:
            message = PackedMessage(op, self._layout(view), self._fixed(view))
            self._packed[view, op, mode] = message
        return message

    def _fixed(self, view: ObservationView) -> dict[str, Any]:
        """Return the fields that rarely change: mode (snapshots only) and divergence."""
        engine = self._engine
        fixed: dict[str, Any] = {'mode': engine.run.mode} if view.level == SNAPSHOT else {}
        if engine.divergence is not None:
            fixed['divergence'] = engine.divergence.report()
        return fixed

    def _layout(self, view: ObservationView) -> ObservationLayout:
        layout = self._layouts.get(view)
        if layout is None:
            if len(self._layouts) >= _MOST_KEPT:
                self._layouts.clear()
                self._packed.clear()
            layout = self._layouts[view] = self._build(view)
        return layout

    def _build(self, view: ObservationView) -> ObservationLayout:
        engine, builder, level = self._engine, _LayoutBuilder(self._engine, view), view.level
        blocks = {}
        for prefix, control in engine.controls.items():
            block = blocks[prefix] = builder.articulation(
                control, self._snapshot_level if level == SNAPSHOT else level
            )
            if level == SNAPSHOT:
                if builder.wanted(f'{prefix}/effort'):
                    # The actuator torque or force of each hinge and slide joint.
                    block['effort'] = builder.leaf(
                        self._data.qfrc_actuator, control.articulation.scalar_dofs
                    )
                if builder.wanted(f'{prefix}/resets'):
                    block['resets'] = builder.counter(partial(engine.clock.resets_of, prefix))
                shown = [
                    lidar
                    for lidar in engine.sensing.lidars.get(prefix, ())
                    if builder.wanted(f'{prefix}/sensor/{lidar.name}')
                ]
                if shown:
                    block['scan_stamps'] = builder.scan_stamps(shown)
        if self._entities_are_blocks:
            blocks.update(builder.entity_blocks(engine))
        tree: Tree = {self._names[0]: blocks, self._names[1]: builder.entities(engine)}
        tree['frame_id'] = builder.counter(lambda: engine.clock.frame_id)
        if level == SNAPSHOT:
            tree['resets'] = builder.counter(lambda: engine.clock.resets)
        return ObservationLayout(tree, builder.refresh)
