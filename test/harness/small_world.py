# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A small model, and a server for it that speaks every dialect the bridge must know."""

from __future__ import annotations

import threading
import time

import mujoco
import numpy as np
from small_model import EXTENSIONS
from small_model import LIDAR
from small_model import PREFIX
from small_model import XML
from small_rows import send_rows
import zmq

from urlab_ros_bridge.wire import rows
from urlab_ros_bridge.wire.encoding import codec
from urlab_ros_bridge.wire.stamp import ns_to_block
from urlab_ros_bridge.wire.stamp import seconds_to_ns


class SmallServer:
    """
    Serves the small model.

    :param extensions: what it can beyond the stock server; without ``sim_time_row`` it closes its
        ticks with state/full.
    :param send_rows: False: the dialect that knows snapshots only.
    :param beat: repeat the state while nothing steps in direct mode, as real servers do.
    """

    def __init__(
        self,
        extensions=EXTENSIONS,
        send_rows=True,
        rate=200.0,
        model_xml=XML,
        ports=(0, 0),
        mode='live',
        beat=False,
    ):
        self.model = mujoco.MjModel.from_xml_string(model_xml.format(p=PREFIX))
        self.data = mujoco.MjData(self.model)
        self.extensions = extensions
        self.send_rows = send_rows
        self.beat = beat
        self.mode, self.paused, self.step_count = mode, False, 0
        self.period = 1.0 / rate
        self.requests = []
        self.times = []
        self.sessions = set()
        self.replies = {}
        self._context = zmq.Context()
        self._rep = self._bind(zmq.REP, ports[0])
        self._pub = self._bind(zmq.PUB, ports[1])
        self.ports = [
            socket.last_endpoint.rpartition(b':')[2].decode() for socket in (self._rep, self._pub)
        ]
        self.lock = threading.Lock()
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=run, daemon=True) for run in (self._serve, self._live)
        ]
        mujoco.mj_forward(self.model, self.data)
        for thread in self._threads:
            thread.start()

    def _bind(self, kind, port):
        socket = self._context.socket(kind)
        socket.linger = 0
        socket.bind(f'tcp://127.0.0.1:{port or "*"}')
        return socket

    def close(self):
        self._stop.set()
        for thread in self._threads:
            thread.join()
        self._context.destroy(0)

    def of(self, op):
        return [request for request in self.requests if request['op'] == op]

    def times_of(self, op):
        """Return when requests came, in seconds of simulation."""
        pairs = zip(self.requests, self.times, strict=False)
        return [when for request, when in pairs if request['op'] == op]

    # -- requests --

    def _serve(self):
        while not self._stop.is_set():
            if not self._rep.poll(50):
                continue
            request = codec.unpack(self._rep.recv())
            self.times.append(self.data.time)
            self.requests.append(request)
            with self.lock:
                self._rep.send(codec.pack(self._reply(request)))

    def _reply(self, request):
        op = request['op']
        if op in self.replies:
            return self.replies[op]
        if op not in ('hello', 'meta') and request.get('session_id') not in self.sessions:
            return {'op': 'error', 'code': 'session_expired', 'message': ''}
        handler = getattr(self, f'_op_{op}', None)
        if handler is None or (op == 'status' and 'status' not in self.extensions):
            return {'op': 'error', 'code': 'unknown_op', 'message': op}
        return {'op': f'{op}_ok', **handler(request)}

    def _op_hello(self, request):
        session = f'session-{len(self.requests)}'
        if not (request.get('shared') and 'shared_session' in self.extensions):
            self.sessions.clear()
        self.sessions.add(session)
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
        if self.extensions:
            robot |= {
                'twist_controller': {'kind': 'planar', 'limits': {}},
                'lidars': {'scan': LIDAR},
                'frames': {'base': 'base_link', 'imu': 'imu_link'},
                'covariances': {'orientation_stddev': 0.1, 'pose_stddev': [0.5] * 6},
            }
        return {
            'session_id': session,
            'urlab_version': 'urlab/0.1',
            'manager_present': True,
            'mujoco_version': mujoco.__version__,
            'mjb': buffer.tobytes(),
            'articulations': [robot],
            'extensions': list(self.extensions),
            'entities': {'box': {'id': 4, 'has_free_base': True}},
        }

    def _op_meta(self, request):
        names = ['step', 'reset', *(['status'] if 'status' in self.extensions else [])]
        return {
            'ops': [
                {'name': name, 'category': 'manager_required', 'namespace': ''} for name in names
            ]
        }

    def _op_status(self, request):
        return {
            'mode': self.mode,
            'pinned': False,
            'paused': self.paused,
            'speed': 100.0,
            'real_time_factor': 1.0,
            'tick_rate': 1.0 / self.period,
            'sessions': [],
            'sim_time': ns_to_block(self.now),
            'step': self.step_count,
            'cameras': 0,
        }

    def _op_set_mode(self, request):
        previous, self.mode = self.mode, request['mode']
        return {'previous_mode': previous, 'current_mode': self.mode}

    def _op_set_paused(self, request):
        self.paused = request['paused']
        return {'paused': self.paused}

    def _op_set_sim_speed(self, request):
        return {'percent': min(100.0, max(5.0, request['percent']))}

    def _op_set_twist(self, request):
        self.data.qvel[:3] = request['linear']
        return {
            'articulation': request['articulation'],
            'linear': request['linear'],
            'angular': request['angular'],
        }

    def _op_get_contacts(self, request):
        return {'n_contacts': 0, 'truncated': False, 'contacts': []}

    def _op_reset(self, request):
        name = request.get('keyframe_name')
        if name:
            return {'op': 'error', 'code': 'unknown_keyframe', 'message': name}
        kept = self.data.time
        mujoco.mj_resetData(self.model, self.data)
        if request.get('keep_time'):
            self.data.time = kept
        mujoco.mj_forward(self.model, self.data)
        self.step_count = 0
        self._publish()
        return self._state()

    def _op_step(self, request):
        given = request.get('per_articulation', {}).get(PREFIX, {})
        if 'twist' in given:
            self.data.qvel[:3] = given['twist']['linear']
        ctrl = given.get('ctrl')
        if ctrl is not None:
            self.data.ctrl[:] = ctrl
        if self.mode == 'direct' or request.get('while_paused'):
            for _ in range(request.get('n_steps', 1)):
                mujoco.mj_step(self.model, self.data)
            self.step_count += request.get('n_steps', 1)
            self._publish()
        return self._state()

    # -- state --

    @property
    def now(self):
        return seconds_to_ns(self.data.time)

    def _state(self):
        data = self.data
        values = {
            name: data.sensor(f'{PREFIX}_{name}').data.tolist()
            for name in ('gyro', 'accel', 'quat', 'mag', 'touch', 'scan')
        }
        return {
            'time': data.time,
            'step': self.step_count,
            'sim_time': ns_to_block(self.now),
            'wall_time': ns_to_block(time.time_ns()),
            'per_articulation': {
                PREFIX: {
                    'qpos': data.qpos[:9].tolist(),
                    'qvel': data.qvel[:8].tolist(),
                    'ctrl': data.ctrl.tolist(),
                    'act': [],
                    'sensors': values,
                }
            },
            'entities': {
                'box': {
                    'xpos': data.body('box').xpos.tolist(),
                    'xquat': data.body('box').xquat.tolist(),
                }
            },
        }

    def _live(self):
        beat = 0.0
        while not self._stop.is_set():
            time.sleep(self.period)
            with self.lock:
                if self.mode == 'live':
                    if not self.paused:
                        mujoco.mj_step(self.model, self.data)
                    self._publish()
                elif self.beat and self.mode == 'direct' and time.monotonic() > beat:
                    self._publish()
                    beat = time.monotonic() + 0.1

    def _send(self, topic, payload):
        self._pub.send_multipart([topic.encode(), payload])

    def _publish(self):
        data = self.data
        data.sensor(f'{PREFIX}_scan').data[:] = np.arange(8) - 1.0
        if self.send_rows and self.mode == 'live':
            send_rows(self)
        snapshot = {'op': 'state_full', **self._state()}
        self._send('state/full', codec.pack(snapshot))
        if 'sim_time_row' in self.extensions:
            self._send('sim_time', rows.pack_sim_time(self.now, self.step_count, time.time_ns()))
