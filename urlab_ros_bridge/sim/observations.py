# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
From MjData to the observation blocks of a reply (Protocol Reference, "Observation levels").

This is on the path of every step: slots are slices wherever the model allows, and a vector becomes
a Python list in one call.
"""

from __future__ import annotations

import time
from typing import Any

from urlab_ros_bridge.sim.control import ArticulationControl
from urlab_ros_bridge.sim.engine import Engine
from urlab_ros_bridge.wire.stamp import ns_to_block


class ArticulationObserver:
    """Builds the blocks of one articulation."""

    def __init__(self, engine: Engine, control: ArticulationControl) -> None:
        articulation = control.articulation
        self._data = engine.world.data
        self._control = control
        self._articulation = articulation
        sensors = articulation.sensors
        self._first = min((sensor.start for sensor in sensors), default=0)
        self._last = max((sensor.stop for sensor in sensors), default=0)
        self._sensors = [
            (sensor.name, sensor.start - self._first, sensor.stop - self._first)
            for sensor in sensors
        ]

    def observe(self, level: str) -> dict[str, Any]:
        """Return the block at a level: minimal, standard or full."""
        data, articulation = self._data, self._articulation
        block: dict[str, Any] = {
            'qpos': data.qpos[articulation.qpos].tolist(),
            'qvel': data.qvel[articulation.qvel].tolist(),
        }
        if level != 'minimal':
            block['ctrl'] = data.ctrl[articulation.actuator_index].tolist()
            block['act'] = self._act()
            values = data.sensordata[self._first : self._last].tolist()
            block['sensors'] = {name: values[start:stop] for name, start, stop in self._sensors}
            report = self._control.twist_report()
            if report is not None:
                block.update(report)
        if level == 'full':
            block['bodies'] = {
                body.name: {
                    'xpos': data.xpos[body.id].tolist(),
                    'xquat': data.xquat[body.id].tolist(),
                }
                for body in articulation.bodies
            }
            block['actuator_force'] = data.actuator_force[articulation.actuator_index].tolist()
        return block

    def effort(self) -> list[float]:
        """Return the actuator torque or force of each hinge and slide joint."""
        return self._data.qfrc_actuator[self._articulation.scalar_dof].tolist()

    def _act(self) -> list[float]:
        """One entry per actuator, 0 for stateless ones (not MuJoCo's compact vector)."""
        act = [0.0] * self._articulation.nu
        for position, slot in self._articulation.act_slots:
            act[position] = float(self._data.act[slot])
        return act


class Observer:
    """Builds whole replies."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._articulations = {
            prefix: ArticulationObserver(engine, control)
            for prefix, control in engine.controls.items()
        }
        self._entities = engine.world.entities

    def header(self, step: int) -> dict[str, Any]:
        """Return time, step, sim_time and wall_time."""
        return {
            'time': self._engine.world.data.time,
            'step': step,
            'sim_time': ns_to_block(self._engine.stamp_ns),
            'wall_time': ns_to_block(time.time_ns()),
        }

    def observe(self, level: str, step: int) -> dict[str, Any]:
        """Return the body of a step, reset or forward reply.  Needs the engine's lock."""
        reply = self.header(step)
        reply['per_articulation'] = {
            prefix: observer.observe(level) for prefix, observer in self._articulations.items()
        }
        reply['entities'] = self.entities()
        return reply

    def snapshot(self) -> dict[str, Any]:
        """Return a state/full message: standard level, with the effort and mode extensions."""
        state = {'op': 'state_full', **self.observe('standard', self._engine.steps)}
        for prefix, observer in self._articulations.items():
            state['per_articulation'][prefix]['effort'] = observer.effort()
        state['mode'] = self._engine.mode
        return state

    def entities(self) -> dict[str, Any]:
        """Return pose (and state, when free) of every entity."""
        data = self._engine.world.data
        blocks = {}
        for name, entity in self._entities.items():
            block = blocks[name] = {
                'xpos': data.xpos[entity.body].tolist(),
                'xquat': data.xquat[entity.body].tolist(),
            }
            if entity.qpos is not None:
                block['qpos'] = data.qpos[entity.qpos].tolist()
                block['qvel'] = data.qvel[entity.qvel].tolist()
        return blocks
