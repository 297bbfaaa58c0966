# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A fake server with a small MuJoCo model as its robot, in the dialects that the bridge knows."""

from __future__ import annotations

import time

import mujoco
import numpy as np
from small_model import EXTENSIONS
from small_model import LIDAR
from small_model import PREFIX
from small_model import XML

from urlab_ros_bridge.testing import FakeServer
from urlab_ros_bridge.wire import rows
from urlab_ros_bridge.wire.stamp import ns_to_block
from urlab_ros_bridge.wire.stamp import seconds_to_ns

SLIDE = mujoco.mjtJoint.mjJNT_SLIDE.value
BEAT_SECONDS = 0.1


class SmallServer(FakeServer):
    """
    Serves the small model.

    :param extensions: what it can beyond the stock server; without ``sim_time_row`` it closes its
        ticks with state/full.
    :param send_rows: False: the dialect that knows snapshots only.
    :param rate: ticks a second of wall time in live mode.
    :param beat: repeat the state while nothing steps in direct mode, as real servers do.
    :ivar times: seconds of simulation at which `requests` arrived.
    """

    def __init__(
        self,
        extensions=EXTENSIONS,
        send_rows=True,
        rate=200.0,
        model_xml=XML,
        mode='live',
        beat=False,
        **options,
    ):
        self.model = mujoco.MjModel.from_xml_string(model_xml.format(p=PREFIX))
        self.data = mujoco.MjData(self.model)
        self.send_rows = send_rows
        self.beat, self._next_beat = beat, 0.0
        self.times = []
        mujoco.mj_forward(self.model, self.data)
        super().__init__((), timestep=1.0 / rate, mode=mode, extensions=extensions, **options)

    of = FakeServer.requests_of

    def handler(self, op):
        """Return the function that answers an op without a script: request -> fields."""
        session = next(iter(self._sessions.values()), None)
        return lambda request: self._handlers[op](request, session)

    def times_of(self, op):
        """Return when requests arrived, in seconds of simulation."""
        pairs = zip(self.requests, self.times, strict=False)
        return [when for request, when in pairs if request['op'] == op]

    # -- time --

    @property
    def time(self):
        return self.data.time

    @property
    def now(self):
        return seconds_to_ns(self.data.time)

    def _tick(self):
        if self.mode == 'live':
            super()._tick()
        elif self.beat and time.monotonic() > self._next_beat:
            self._publish()
            self._next_beat = time.monotonic() + BEAT_SECONDS

    def _advance(self, count):
        for _ in range(count):
            mujoco.mj_step(self.model, self.data)

    # -- requests --

    def _reply(self, frame):
        self.times.append(self.data.time)
        return super()._reply(frame)

    def _op_hello(self, request, session):
        buffer = np.empty(mujoco.mj_sizeModel(self.model), np.uint8)
        mujoco.mj_saveModel(self.model, None, buffer)
        robot = {
            'prefix': PREFIX,
            'actor_id': 'robot_0',
            'default_control_mode': 'raw',
            'actuator_types': {'shoulder': 'position', 'lift': 'motor'},
            'original_names': {},
            'camera_topics': {},
        }
        reply = super()._op_hello(request, session)
        if self.extensions:
            reply['timestep'] = self.model.opt.timestep
            robot |= {
                'twist_controller': {'kind': 'planar', 'limits': {}},
                'lidars': {'scan': LIDAR},
                'frames': {'base': 'base_link', 'imu': 'imu_link'},
                'covariances': {'orientation_stddev': 0.1, 'pose_stddev': [0.5] * 6},
            }
        return reply | {
            'mujoco_version': mujoco.__version__,
            'mjb': buffer.tobytes(),
            'articulations': [robot],
            'entities': {'box': {'id': 4, 'has_free_base': True}},
        }

    def _op_set_twist(self, request, session):
        self.data.qvel[:3] = request['linear']
        return {name: request[name] for name in ('articulation', 'linear', 'angular')}

    def _op_reset(self, request, session):
        kept = self.data.time
        mujoco.mj_resetData(self.model, self.data)
        if request.get('keep_time'):
            self.data.time = kept
        mujoco.mj_forward(self.model, self.data)
        return super()._op_reset(request, session)

    def _op_step(self, request, session):
        given = request.get('per_articulation', {}).get(PREFIX, {})
        if 'twist' in given:
            self.data.qvel[:3] = given['twist']['linear']
        if given.get('ctrl') is not None:
            self.data.ctrl[:] = given['ctrl']
        if self.mode == 'direct' or request.get('while_paused'):
            count = request.get('n_steps', 1)
            self._advance(count)
            self.step_count += count
            self._publish()
        return self._state(session.level)

    # -- state --

    def _state(self, level):
        data = self.data
        names = ('gyro', 'accel', 'quat', 'mag', 'touch', 'scan')
        robot = {
            'qpos': data.qpos[:9].tolist(),
            'qvel': data.qvel[:8].tolist(),
            'ctrl': data.ctrl.tolist(),
            'act': [],
            'sensors': {name: data.sensor(f'{PREFIX}_{name}').data.tolist() for name in names},
        }
        box = data.body('box')
        return {
            'time': data.time,
            'step': self.step_count,
            'sim_time': ns_to_block(self.now),
            'wall_time': ns_to_block(time.time_ns()),
            'per_articulation': {PREFIX: robot},
            'entities': {'box': {'xpos': box.xpos.tolist(), 'xquat': box.xquat.tolist()}},
        }

    def _publish(self):
        self.data.sensor(f'{PREFIX}_scan').data[:] = np.arange(8) - 1.0
        super()._publish()

    def _rows(self):
        if not self.send_rows:
            return
        data, model = self.data, self.model
        joints = [
            joint
            for joint in range(1, model.njnt)
            if model.joint(joint).name.startswith(PREFIX) and model.jnt_type[joint] >= SLIDE
        ]
        dofs = model.jnt_dofadr[joints]
        for joint, slot, dof in zip(joints, model.jnt_qposadr[joints], dofs, strict=True):
            row = rows.pack_joint(joint, data.qpos[slot], data.qvel[dof], data.qacc[dof])
            yield f'{PREFIX}/joint/{_local(model.joint(joint))}', row
        w, x, y, z = data.qpos[3:7]
        base = rows.BaseState(
            tuple(data.qpos[:3]), (x, y, z, w), tuple(data.qvel[:3]), tuple(data.qvel[3:6])
        )
        yield f'{PREFIX}/base_state/root', rows.pack_base_state(base)
        for index in range(model.nsensor):
            sensor = data.sensor(index)
            yield f'{PREFIX}/sensor/{_local(sensor)}', rows.pack_sensor(index, sensor.data)
        if 'effort_row' in self.extensions:
            yield f'{PREFIX}/effort', data.qfrc_actuator[dofs].astype('<f4').tobytes()
        yield 'scene/box/xpos', data.body('box').xpos.tobytes()
        yield 'scene/box/xquat', data.body('box').xquat.tobytes()


def _local(element):
    return element.name.removeprefix(f'{PREFIX}_')
