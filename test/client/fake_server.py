# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
A small server for client tests: real sockets, scripted answers.

`FakeServer` answers on a plain REP socket, as stock servers do, or on a ROUTER that echoes the
envelope.  It packs every number as float64 when told to, as stock servers do.
"""

from __future__ import annotations

from collections.abc import Callable
import threading
import time
from typing import Any

import zmq

from urlab_ros_bridge.wire.encoding.codec import pack
from urlab_ros_bridge.wire.encoding.codec import unpack

Handler = Callable[[dict[str, Any]], 'dict[str, Any] | bytes | None']


def floats(value: Any) -> Any:
    """Return `value` with every number as a float, like a stock msgpack reply."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return float(value)
    if isinstance(value, dict):
        return {key: floats(item) for key, item in value.items()}
    if isinstance(value, list):
        return [floats(item) for item in value]
    return value


def error(code: str, message: str = '') -> dict[str, Any]:
    return {'op': 'error', 'code': code, 'message': message}


def articulation(prefix: str = 'rover') -> dict[str, Any]:
    """Return an articulation block of a handshake with one camera."""
    return {
        'prefix': prefix,
        'actor_id': f'{prefix}_id',
        'default_control_mode': 'raw',
        'actuator_types': {'left': 'velocity'},
        'original_names': {'joints': {'Joint_1': 'left'}},
        'camera_topics': {
            'front': {
                'mode': 'depth',
                'resolution': [32, 24],
                'fovy': 58.0,
                'zmq_endpoint': 'tcp://0.0.0.0:5558',
                'zmq_topic': f'{prefix}/camera/front',
            }
        },
    }


class FakeServer:
    """
    A server with sessions; `ops` maps op names to handlers that may return None for "no answer".

    :ivar requests: every request that came in.
    """

    def __init__(
        self,
        ops: dict[str, Handler] | None = None,
        *,
        port: int = 0,
        router: bool = False,
        as_floats: bool = False,
        shared: bool = True,
        robots: tuple[str, ...] = ('rover',),
    ) -> None:
        self.ops = ops or {}
        self.requests: list[dict[str, Any]] = []
        self.as_floats = as_floats
        self.shared = shared
        self.robots = robots
        self.sessions: set[str] = set()
        self.encoding = 'msgpack'
        self._router = router
        self._socket = zmq.Context.instance().socket(zmq.ROUTER if router else zmq.REP)
        self._socket.linger = 0
        deadline = time.monotonic() + 5  # a killed predecessor may still hold the port
        while True:
            try:
                self._socket.bind(f'tcp://127.0.0.1:{port or "*"}')
                break
            except zmq.ZMQError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)
        self.port = int(self._socket.last_endpoint.decode().rpartition(':')[2])
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def __enter__(self) -> FakeServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(5)
        assert not self._thread.is_alive()

    def count(self, op: str) -> int:
        return sum(request.get('op') == op for request in self.requests)

    def _run(self) -> None:
        while not self._stop.is_set():
            if not self._socket.poll(20):
                continue
            *envelope, frame = self._socket.recv_multipart()
            reply = self._answer(unpack(frame))
            if isinstance(reply, dict):
                reply = pack(floats(reply) if self.as_floats else reply, self.encoding)
            if reply is not None:
                self._socket.send_multipart([*envelope, reply])
            elif not self._router:  # a REP socket cannot skip an answer: play dead
                self._stop.wait()
        self._socket.close(0)

    def _answer(self, request: dict[str, Any]) -> dict[str, Any] | bytes | None:
        self.requests.append(request)
        op = request.get('op')
        if op == 'hello' and 'hello' not in self.ops:
            return self.hello(request)
        if op not in ('hello', 'meta') and request.get('session_id') not in self.sessions:
            return error('session_expired', str(request.get('session_id')))
        handler = self.ops.get(op)
        return handler(request) if handler else error('unknown_op', str(op))

    def hello(self, request: dict[str, Any]) -> dict[str, Any]:
        session = f'session-{id(self)}-{len(self.requests)}'
        if not (self.shared and request.get('shared')):
            self.sessions.clear()
        self.sessions.add(session)
        self.encoding = request.get('encoding') or 'msgpack'
        reply = {
            'op': 'hello_ok',
            'session_id': session,
            'urlab_version': 'urlab/0.1',
            'mujoco_version': '3.3.0',
            'mujoco_version_int': 330,
            'manager_present': True,
            'shm_session_dir': '/nowhere/live',
            'mjb': b'\0mjb',
            'mjb_size': 4,
            'articulations': [articulation(robot) for robot in self.robots],
            'entities': {
                'pallet': {
                    'id': 12,
                    'has_free_base': True,
                    'qpos_offset': 7,
                    'qvel_offset': 6,
                    'free_joint_id': 3,
                }
            },
            'global_cameras': {},
        }
        if self.shared:
            reply.update(
                extensions=[
                    'shared_session',
                    'sim_time_row',
                    'keep_time',
                    'twist_timeout',
                    'step_while_paused',
                    'forward_observations',
                    'recording_overwrite',
                ],
                depth_unit='m',
                timestep=0.002,
                world='rover',
            )
        return reply


def step_ok(
    step: int = 1, time: float = 0.002, robots: tuple[str, ...] = ('rover',), op: str = 'step_ok'
) -> dict[str, Any]:
    """Return a step reply at level standard."""
    return {
        'op': op,
        'time': time,
        'step': step,
        'sim_time': {'sec': 0, 'nsec': int(time * 1e9)},
        'wall_time': {'sec': 1714125000, 'nsec': 123000000},
        'per_articulation': {
            robot: {
                'qpos': [float(i) for i in range(9)],
                'qvel': [0.5] * 8,
                'ctrl': [0.0, 1.0],
                'act': [0.0, 0.0],
                'sensors': {'gyro': [0.0, 0.0, 9.5]},
                'twist': {'linear': [1, 0, 0], 'angular': [0, 0, 0.5]},
                'actions': 3,
            }
            for robot in robots
        },
        'entities': {
            'pallet': {
                'xpos': [1, 2, 3],
                'xquat': [1, 0, 0, 0],
                'qpos': [1, 2, 3, 1, 0, 0, 0],
                'qvel': [0] * 6,
            }
        },
    }
