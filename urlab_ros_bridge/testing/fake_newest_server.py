# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
A server without physics that speaks as the plugin does since v0.6.

It was written from the published facts about that version, to test clients against: its names of
modes, its one list of entities, its state stream of one message a tick, claims, and cameras that
stream only after they were switched on.  It has one session, as every stock server.
"""

from __future__ import annotations

from collections.abc import Iterable
import socket
import time
from typing import Any

from urlab_ros_bridge.testing.fake_robot import FakeRobot
from urlab_ros_bridge.testing.fake_server import FakeServer
from urlab_ros_bridge.testing.fake_server import Refused
from urlab_ros_bridge.wire.encoding.codec import pack
from urlab_ros_bridge.wire.rows import STATE_FULL_TOPIC

Reply = dict[str, Any]

_MODES = {'freerun': 'live', 'stepped': 'direct', 'statepushed': 'puppet'}
_NAMES = {mode: name for name, mode in _MODES.items()}
CLAIM_SECONDS = 5.0


class FakeNewestServer(FakeServer):
    """
    A server of scripted robots in the dialect of v0.6.

    :ivar owners: prefix -> who has claimed it.
    :ivar streaming: names of the cameras that were switched on.
    """

    def __init__(
        self,
        robots: FakeRobot | str | Iterable[FakeRobot] = 'robot',
        *,
        timestep: float = 0.01,
        mode: str = 'freerun',
        needs_claims: bool = True,
        cameras: Iterable[str] = (),
    ) -> None:
        """
        Start to serve on free ports.

        :param mode: freerun, stepped or statepushed.
        :param needs_claims: refuse commands of sessions that have not claimed the robot.
        :param cameras: names of cameras of the world; they have no images.
        """
        self.owners: dict[str, tuple[str, float]] = {}
        self.streaming: set[str] = set()
        self.frame_id = 0
        self._needs_claims = needs_claims
        self._cameras = tuple(cameras)
        super().__init__(robots, timestep=timestep, mode=_MODES[mode], extensions=())

    # -- the dialect --

    def _advance(self, count: int) -> None:
        super()._advance(count)
        self.frame_id += 1

    def _publish(self) -> None:
        """Send one message a tick, without rows."""
        self._send(STATE_FULL_TOPIC, pack({'op': 'state_full', **self._state('full')}))

    def _state(self, level: str) -> Reply:
        state = super()._state(level)
        prop = {'qpos': [1.0, 2.0, 0.5, 1.0, 0.0, 0.0, 0.0], 'qvel': [0.0] * 6}
        return {
            'time': state['time'],
            'step': state['step'],
            'sim_time': state['sim_time'],
            'wall_time': state['wall_time'],
            'frame_id': self.frame_id,
            'arts': {**state['per_articulation'], 'crate': prop},
            'scene': {'crate': {'xpos': prop['qpos'][:3], 'xquat': prop['qpos'][3:]}},
        }

    def _op_hello(self, request: Reply, session: Any) -> Reply:
        reply = super()._op_hello(request, session)
        robots = reply.pop('articulations')
        for robot in robots:
            robot['actor_name'] = f'BP_{robot["prefix"]}_C_0'
        crate = {
            'prefix': 'crate', 'actor_name': 'crate', 'actor_id': 'crate', 'actuator_types': {},
            'id': 7, 'has_free_base': True, 'free_joint': 'crate_free', 'free_joint_id': 9,
            'qpos_offset': 0, 'qvel_offset': 0,
        }  # fmt: skip
        reply['entities'] = [*robots, crate]
        reply['global_cameras'] = {
            name: {'mode': 'real', 'resolution': [32, 24], 'fovy': 45.0, 'zmq_topic': name}
            for name in self._cameras
        }
        reply['urlab_version'] = 'urlab/0.6.0-beta'
        reply['instance'] = {'host': socket.gethostname()}
        self.owners.clear()
        return reply

    def _op_set_mode(self, request: Reply, session: Any) -> Reply:
        name = request.get('mode')
        if not isinstance(name, str) or name not in _MODES:
            raise Refused('bad_mode', f'{name!r} is not one of {", ".join(_MODES)}')
        reply = super()._op_set_mode({**request, 'mode': _MODES[name]}, session)
        return {key: _NAMES[mode] for key, mode in reply.items()}

    def _op_step(self, request: Reply, session: Any) -> Reply:
        if 'mode' in request and request['mode'] not in _MODES:
            raise Refused('bad_mode', str(request['mode']))
        blocks = request.get('per_articulation') or {}
        for prefix, block in blocks.items():
            if prefix in self.robots and block:
                self._check_owner(prefix, request)
        return super()._op_step(request, session)

    # -- what came with it --

    def _op_set_twist(self, request: Reply, session: Any) -> Reply:
        self._check_owner(str(request.get('articulation')), request)
        return super()._op_set_twist(request, session)

    def _op_claim_control(self, request: Reply, _: Any) -> Reply:
        prefix, owner = self._robot(request['articulation']).prefix, _owner(request)
        other, until = self.owners.get(prefix, ('', 0.0))
        if other not in ('', owner) and time.monotonic() < until and not request.get('force'):
            raise Refused('control_claimed', f'{prefix} is claimed by {other}')
        self.owners[prefix] = owner, time.monotonic() + CLAIM_SECONDS
        return {'articulation': prefix, 'owner': owner, 'ttl_s': CLAIM_SECONDS}

    def _op_release_control(self, request: Reply, _: Any) -> Reply:
        prefix = self._robot(request['articulation']).prefix
        self.owners.pop(prefix, None)
        return {'articulation': prefix}

    def _op_set_camera_streaming(self, request: Reply, _: Any) -> Reply:
        reply: dict[str, Reply] = {}
        for name, given in request['cameras'].items():
            on = any(given.values()) if isinstance(given, dict) else bool(given)
            (self.streaming.add if on else self.streaming.discard)(name)
            reply[name] = {'streaming': on, 'zmq': on, 'shm': False}
            if on:
                reply[name] |= {
                    'zmq_endpoint': 'tcp://0.0.0.0:5558',
                    'zmq_topic': f'camera/{name}',
                }
        return {'cameras': reply}

    def _check_owner(self, prefix: str, request: Reply) -> None:
        other, until = self.owners.get(prefix, ('', 0.0))
        is_free = time.monotonic() >= until
        if (is_free and self._needs_claims) or (not is_free and other != _owner(request)):
            raise Refused('not_control_owner', f'{prefix}: claimed by {other or "nobody"}')


def _owner(request: Reply) -> str:
    return str(request.get('control_owner') or request.get('session_id'))


__all__ = ['FakeNewestServer']
