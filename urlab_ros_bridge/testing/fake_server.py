# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
A server without physics, for tests without MuJoCo.

It speaks the protocol as far as clients of robots need it: sessions, modes, step, reset,
commands, and the state stream with rows, snapshots and the closing row.  Its robots do what a
script says; without one they move as commanded, at once.

One thread answers and another lets time pass; a lock is held by the one that does, so a request
never meets a half-made state.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
import threading
import time
from types import MappingProxyType
from typing import Any
from typing import Self
import uuid

import zmq

from urlab_ros_bridge.testing.fake_robot import FakeRobot
from urlab_ros_bridge.wire.encoding.codec import pack
from urlab_ros_bridge.wire.encoding.codec import unpack
from urlab_ros_bridge.wire.encoding.limits import MAX_REQUEST_BYTES
from urlab_ros_bridge.wire.errors import ERROR_CODES
from urlab_ros_bridge.wire.errors import list_names
from urlab_ros_bridge.wire.errors import UnknownName
from urlab_ros_bridge.wire.errors import WireError
from urlab_ros_bridge.wire.ops import AUTO
from urlab_ros_bridge.wire.ops import CONTROL_SOURCES
from urlab_ros_bridge.wire.ops import EDITOR_ONLY
from urlab_ros_bridge.wire.ops import MODE_ALIASES
from urlab_ros_bridge.wire.ops import OBSERVATION_LEVELS
from urlab_ros_bridge.wire.ops import OPS
from urlab_ros_bridge.wire.rows import pack_sim_time
from urlab_ros_bridge.wire.rows import SIM_TIME_TOPIC
from urlab_ros_bridge.wire.rows import STATE_FULL_TOPIC
from urlab_ros_bridge.wire.stamp import ns_to_block
from urlab_ros_bridge.wire.stamp import seconds_to_ns

EXTENSIONS = ('shared_session', 'sim_time_row', 'keep_time', 'twist_timeout', 'status')
MAX_STEPS = 100_000
SPEEDS = (5.0, 100.0)  # percent, as stock servers clamp it
_IDLE_MILLISECONDS = 50

Reply = dict[str, Any]
# What a script answers: a reply, a frame that is sent as it is, or nothing at all.
Answer = Reply | bytes | None

# Rules of the conformance suite that hold on this server.
CLAIMS: tuple[str, ...] = (
    'encoding.msgpack_default', 'encoding.one_frame', 'encoding.json_on_request',
    'encoding.json_numbers', 'encoding.reset_by_hello', 'encoding.json_requests',
    'encoding.any_number', 'error.shape', 'error.bad_request', 'error.missing_op',
    'error.unknown_op', 'error.missing_field', 'error.not_in_editor', 'error.unknown_fields',
    'session.uuid', 'session.pre_session', 'session.required', 'session.mismatch',
    'session.replaced', 'session.expired_is_inert', 'session.level_of_hello',
    'session.hello_keeps_state', 'hello.default_control_mode', 'hello.actuator_types',
    'hello.original_names', 'hello.prefixed_names', 'assets.opt_in', 'meta.entries',
    'meta.reply_fields', 'observe.minimal', 'observe.standard', 'observe.full',
    'observe.per_request', 'stamp.blocks', 'stamp.sim_time', 'stamp.nanoseconds', 'stamp.rounded',
    'stamp.wall_time', 'stamp.wall_time_moves', 'step.reply', 'step.direct.split',
    'step.direct.deterministic', 'step.direct.default_control_mode', 'step.live.free_runs',
    'step.live.n_steps', 'reset.step_counter', 'reset.shape', 'reset.unknown_keyframe',
    'reset.seed', 'forward.time', 'set_mode.reply', 'set_mode.auto', 'set_mode.bad_mode',
    'set_mode.keeps_state', 'set_mode.resumes', 'set_paused.reply', 'set_paused.stops_time',
    'set_sim_speed.reply', 'set_sim_speed.clamps', 'set_sim_speed.paces',
    'set_control_source.reply', 'set_control_source.unknown', 'set_control_source.bad_value',
    'set_twist.unknown', 'rows.two_parts', 'rows.order',
)  # fmt: skip


class Refused(Exception):
    """An error reply."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass
class _Session:
    """One session."""

    shared: bool
    client: str
    encoding: str = 'msgpack'
    level: str = 'standard'
    begun: float = field(default_factory=time.monotonic)


class FakeServer:
    """
    A server of scripted robots.

    :ivar robots: by prefix; change them within `with server.lock`.
    :ivar requests: everything that was asked, in order.
    :ivar lock: held while a request is answered and while time passes.
    :ivar ports: TCP ports of ``rpc`` and ``state``.
    """

    EXTENSIONS = EXTENSIONS

    def __init__(
        self,
        robots: FakeRobot | str | Iterable[FakeRobot] = 'robot',
        *,
        timestep: float = 0.01,
        mode: str = AUTO,
        extensions: Iterable[str] = EXTENSIONS,
        ports: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        """
        Start to serve.

        :param robots: one or several; a text is the prefix of one with a free base.
        :param timestep: s of simulation time; in live mode also between two ticks.
        :param mode: live, direct or puppet, or auto: live until a plain client says hello.
        :param extensions: what it has beyond stock servers; () is a stock one.
        :param ports: TCP ports of ``rpc`` and ``state``, such as those of a server that has been
            closed; free ones where none is given.
        """
        if mode != AUTO and mode not in MODE_ALIASES:
            raise UnknownName('mode', mode, [AUTO, *MODE_ALIASES])
        self.robots = _by_prefix(robots)
        self.requests: list[dict[str, Any]] = []
        self.lock = threading.RLock()
        self.extensions = tuple(extensions)
        self.timestep = timestep
        self.mode = 'live' if mode == AUTO else MODE_ALIASES[mode]
        self.paused = False
        self.step_count = 0
        self._auto = mode == AUTO
        self._origin, self._ticks = 0.0, 0
        self._speed = 100.0
        self._sources: dict[str, str] = {}
        self._sessions: dict[str, _Session] = {}
        self._refusals: dict[str, list[tuple[str, str]]] = {}
        self._answers: dict[str, Callable[[Reply], Answer]] = {}
        self._handlers = self._find_handlers()
        self._context = zmq.Context()
        # Unlike a REP socket, it can leave a request without a reply.
        self._requests = self._bound(zmq.ROUTER, ports.get('rpc', 0))
        self._stream = self._bound(zmq.PUB, ports.get('state', 0))
        self.ports = {'rpc': _port(self._requests), 'state': _port(self._stream)}
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=run, name='fake server', daemon=True)
            for run in (self._serve, self._let_time_pass)
        ]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def time(self) -> float:
        """Simulated time in s."""
        return self._origin + self._ticks * self.timestep

    def requests_of(self, op: str) -> list[dict[str, Any]]:
        """Return what was asked with an op, in order."""
        with self.lock:
            return [request for request in self.requests if request.get('op') == op]

    def refuse(self, op: str, code: str, message: str = '', times: int = 1) -> None:
        """
        Answer the next requests of an op with an error.

        :raises UnknownName: for a code or an op that the protocol does not know.
        """
        if code not in ERROR_CODES:
            raise UnknownName('error code', code, ERROR_CODES)
        if op not in OPS and op != 'hello':
            raise UnknownName('op', op, ['hello', *OPS])
        with self.lock:
            self._refusals.setdefault(op, []).extend([(code, message)] * times)

    def answer(self, op: str, answer: Answer | Callable[[Reply], Answer]) -> None:
        """
        Answer all further requests of an op as a script says.

        :param answer: the fields of the reply, or a whole one with its ``op``; bytes, which are
            sent as they are; None for no reply at all; or a function that returns one of these,
            given the request.
        """
        with self.lock:
            self._answers[op] = answer if callable(answer) else lambda _: answer

    def stall(self, seconds: float) -> None:
        """Answer nothing and let no time pass for a while (s of wall time), as a held process."""

        def hold() -> None:
            with self.lock:
                held.set()
                self._stop.wait(seconds)

        held = threading.Event()
        threading.Thread(target=hold, daemon=True).start()
        held.wait()

    def close(self) -> None:
        """End the server."""
        self._stop.set()
        for thread in self._threads:
            thread.join()
        self._context.destroy(0)

    def _find_handlers(self) -> dict[str, Callable[[Reply, _Session], Reply]]:
        """Return the methods that answer, by op; a stock server has fewer."""
        names = [name for name in dir(self) if name.startswith('_op_')]
        found = {name.removeprefix('_op_'): getattr(self, name) for name in names}
        if 'status' not in self.extensions:
            for name in ('status', 'get_entities'):
                del found[name]
        return found

    # -- the threads --

    def _bound(self, kind: int, port: int) -> zmq.Socket[bytes]:
        socket = self._context.socket(kind)
        socket.linger = 0
        socket.maxmsgsize = MAX_REQUEST_BYTES
        socket.bind(f'tcp://127.0.0.1:{port or "*"}')
        return socket

    def _serve(self) -> None:
        while not self._stop.is_set():
            if not self._requests.poll(_IDLE_MILLISECONDS):
                continue
            *envelope, frame = self._requests.recv_multipart()
            with self.lock:
                reply = self._reply(frame)
                if reply is not None:
                    self._requests.send_multipart([*envelope, reply])

    def _let_time_pass(self) -> None:
        due = time.monotonic()
        while not self._stop.wait(max(0.0, due - time.monotonic())):
            with self.lock:
                self._tick()
                period = self.timestep * 100.0 / self._speed
            # After a stall the time that was lost is not made up for.
            due = max(due + period, time.monotonic() - period)

    def _tick(self) -> None:
        if self.mode == 'live' and not self.paused:
            self._advance(1)
        self._publish()

    def _reply(self, frame: bytes) -> bytes | None:
        encoding = 'msgpack'
        try:
            try:
                request = unpack(frame)
            except WireError as error:
                raise Refused('bad_request', str(error)) from None
            session = self._sessions.get(_text(request.get('session_id')))
            encoding = session.encoding if session else encoding
            op = request.get('op')
            if not isinstance(op, str) or not op:
                raise Refused('missing_op', 'the request has no op')
            self.requests.append(request)
            if op == 'hello' and request.get('encoding') == 'json':
                encoding = 'json'
            answer = self._handled(op, request, session)
            if not isinstance(answer, dict):
                return answer
            reply = {'op': f'{op}_ok', **answer}
        except Refused as refused:
            reply = {'op': 'error', 'code': refused.code, 'message': str(refused)}
        return pack(reply, encoding)

    def _handled(self, op: str, request: Reply, session: _Session | None) -> Answer:
        """Answer in the order in which stock servers check a request."""
        if self._refusals.get(op):
            raise Refused(*self._refusals[op].pop(0))
        if op in self._answers and (session or op in ('hello', 'meta')):
            return self._answers[op](request)
        if op in ('hello', 'meta'):
            return self._handlers[op](request, session or _Session(False, ''))
        if session is None:
            raise Refused('session_expired', _text(request.get('session_id')))
        handler = self._handlers.get(op)
        if handler is None:
            editor = op in OPS and OPS[op].category == EDITOR_ONLY
            raise Refused('not_in_editor' if editor else 'unknown_op', op)
        for name in OPS[op].required:
            if request.get(name) is None:
                raise Refused('missing_field', name)
        return handler(request, session)

    def _advance(self, count: int) -> None:
        for _ in range(count):
            for robot in self.robots.values():
                robot.advance(self.time, self.timestep)
            self._ticks += 1

    def _send(self, topic: str, payload: bytes) -> None:
        self._stream.send_multipart([topic.encode(), payload])

    def _rows(self) -> Iterator[tuple[str, bytes]]:
        for robot in self.robots.values():
            yield from robot.rows()

    def _publish(self) -> None:
        if self.mode == 'live':
            for topic, payload in self._rows():
                self._send(topic, payload)
        self._send(STATE_FULL_TOPIC, pack({'op': 'state_full', **self._state('standard')}))
        if 'sim_time_row' in self.extensions:
            now = seconds_to_ns(self.time)
            self._send(SIM_TIME_TOPIC, pack_sim_time(now, self.step_count, time.time_ns()))

    def _state(self, level: str) -> Reply:
        return {
            'time': self.time,
            'step': self.step_count,
            'sim_time': ns_to_block(seconds_to_ns(self.time)),
            'wall_time': ns_to_block(time.time_ns()),
            'per_articulation': {
                prefix: robot.observation(level) for prefix, robot in self.robots.items()
            },
            'entities': {},
        }

    # -- ops --

    def _op_hello(self, request: Reply, _: _Session) -> Reply:
        shared = bool(request.get('shared')) and 'shared_session' in self.extensions
        if not shared:
            plain = [name for name, each in self._sessions.items() if not each.shared]
            for name in plain:
                del self._sessions[name]
            self.step_count = 0
            if self._auto:
                self.mode, self._auto = 'direct', False
        session = _Session(shared, _text(request.get('client')))
        session.encoding = 'json' if request.get('encoding') == 'json' else 'msgpack'
        if request.get('observations') in OBSERVATION_LEVELS:
            session.level = request['observations']
        name = str(uuid.uuid4())
        self._sessions[name] = session
        reply: Reply = {
            'session_id': name,
            'urlab_version': 'urlab/0.1',
            'mujoco_version': '',
            'manager_present': True,
            'articulations': [robot.handshake() for robot in self.robots.values()],
            'entities': {},
            'global_cameras': {},
        }
        if self.extensions:
            ports = {**self.ports, 'control': 0, 'info': 0}
            reply |= {'extensions': [*self.extensions], 'ports': ports, 'depth_unit': 'm'}
            reply |= {'timestep': self.timestep, 'world': 'fake'}
        return reply

    def _op_meta(self, *_: object) -> Reply:
        return {'ops': [OPS[name].meta() for name in self._handlers if name in OPS]}

    def _op_status(self, *_: object) -> Reply:
        now = time.monotonic()
        return {
            'mode': self.mode,
            'pinned': False,
            'paused': self.paused,
            'speed': self._speed,
            'real_time_factor': self._speed / 100.0,
            'tick_rate': self._speed / 100.0 / self.timestep,
            'sim_time': ns_to_block(seconds_to_ns(self.time)),
            'step': self.step_count,
            'sessions': [
                {'id': name, 'shared': each.shared, 'client': each.client, 'age': now - each.begun}
                for name, each in self._sessions.items()
            ],
            'cameras': 0,
            'world_revision': 1,
            'recording': {},
            'control_stream': {},
        }

    def _op_step(self, request: Reply, session: _Session) -> Reply:
        for prefix, given in _mapping(request, 'per_articulation').items():
            if prefix in self.robots:  # others are ignored, as stock servers do
                self._take_controls(self.robots[prefix], given)
        if self.mode == 'direct':
            if self.paused:  # others wait for five seconds before they say so
                raise Refused('step_timeout', 'the simulation is paused')
            count = max(1, int(_number(request, 'n_steps', 1)))
            if count > MAX_STEPS:
                raise Refused('bad_value', f'n_steps: {count} is more than {MAX_STEPS}')
            self._advance(count)
            self.step_count += count
            self._publish()
        elif self.mode == 'puppet':
            self._origin, self._ticks = _number(request, 'time', 0.0), 0
            self.step_count += 1
            self._publish()
        level = request.get('observations')
        return self._state(level if level in OBSERVATION_LEVELS else session.level)

    def _take_controls(self, robot: FakeRobot, given: Any) -> None:
        if not isinstance(given, Mapping):
            raise Refused('bad_value', f'per_articulation: {given!r:.40} is not a map')
        ctrl = given.get('ctrl') or ()
        pairs = [*zip(robot.joints, ctrl, strict=False)]
        pairs += _mapping(given, 'ctrl_map').items() if self.mode == 'direct' else ()
        for name, value in pairs:
            if name in robot.joints:
                robot.targets[name] = _number({name: value}, name, 0.0)

    def _op_reset(self, request: Reply, session: _Session) -> Reply:
        if request.get('keyframe_name'):
            raise Refused('unknown_keyframe', _text(request['keyframe_name']))
        for robot in self.robots.values():
            robot.reset()
        for prefix, values in _mapping(request, 'per_articulation_qpos').items():
            for name in values if prefix in self.robots else ():
                robot = self.robots[prefix]
                if name in robot.joints:
                    robot.positions[name] = robot.targets[name] = _number(values, name, 0.0)
        if not (request.get('keep_time') and 'keep_time' in self.extensions):
            self._origin, self._ticks = 0.0, 0
        self.step_count = 0
        self._publish()
        return self._state(session.level)

    def _op_forward(self, request: Reply, session: _Session) -> Reply:
        level = request.get('observations')
        return self._state(level if level in OBSERVATION_LEVELS else session.level)

    def _op_set_mode(self, request: Reply, _: _Session) -> Reply:
        given = _text(request.get('mode')).lower()
        if given not in (*MODE_ALIASES, AUTO):
            raise Refused('bad_mode', f'{given!r}{list_names("mode", [*MODE_ALIASES, AUTO])}')
        previous = self.mode
        self.mode, self._auto = MODE_ALIASES.get(given, 'live'), given == AUTO
        if self.mode != 'live':
            self.paused = False
        return {'previous_mode': previous, 'current_mode': self.mode}

    def _op_set_paused(self, request: Reply, _: _Session) -> Reply:
        if not isinstance(request['paused'], bool):
            raise Refused('bad_value', f'paused: {request["paused"]!r:.40} is not true or false')
        self.paused = request['paused']
        return {'paused': self.paused}

    def _op_set_sim_speed(self, request: Reply, _: _Session) -> Reply:
        low, high = SPEEDS
        self._speed = min(high, max(low, _number(request, 'percent', high)))
        return {'percent': self._speed}

    def _op_set_control_source(self, request: Reply, _: _Session) -> Reply:
        source, prefix = _text(request.get('source')), request.get('articulation')
        if not source:
            raise Refused('missing_field', 'source')
        if source not in CONTROL_SOURCES:
            raise Refused('bad_value', f'source: {source!r} is not one of {CONTROL_SOURCES}')
        if prefix is None:
            return {'source': source, 'scope': 'global'}
        self._robot(prefix)
        return {'source': source, 'scope': 'articulation', 'articulation': prefix}

    def _op_set_twist(self, request: Reply, _: _Session) -> Reply:
        robot = self._robot(request.get('articulation'))
        if not robot.free_base:
            raise Refused('no_twist_controller', robot.prefix)
        linear, angular = (_three(request, name) for name in ('linear', 'angular'))
        until = None
        if request.get('timeout') is not None and 'twist_timeout' in self.extensions:
            until = self.time + _number(request, 'timeout', 0.0)
        robot.command(linear, angular, until)
        return {'articulation': robot.prefix, 'linear': linear, 'angular': angular}

    def _op_get_entities(self, request: Reply, _: _Session) -> Reply:
        wanted = request.get('entities')
        names = [*self.robots] if wanted is None else wanted
        for name in names:
            if name not in self.robots:
                raise Refused('unknown_body', f'{name}{list_names("entity", self.robots)}')
        return {
            'entities': [self.robots[name].entity() for name in names],
            'sim_time': ns_to_block(seconds_to_ns(self.time)),
        }

    def _op_list_keyframes(self, *_: object) -> Reply:
        return {'keyframes': []}

    def _op_get_contacts(self, *_: object) -> Reply:
        return {'n_contacts': 0, 'truncated': False, 'contacts': []}

    def _robot(self, prefix: object) -> FakeRobot:
        if not isinstance(prefix, str) or prefix not in self.robots:
            raise Refused('unknown_articulation', _text(prefix))
        return self.robots[prefix]


def _by_prefix(robots: FakeRobot | str | Iterable[FakeRobot]) -> dict[str, FakeRobot]:
    if isinstance(robots, str):
        robots = FakeRobot(robots)
    found = [robots] if isinstance(robots, FakeRobot) else robots
    return {robot.prefix: robot for robot in found}


def _port(socket: zmq.Socket[bytes]) -> int:
    endpoint = socket.get(zmq.LAST_ENDPOINT)
    assert isinstance(endpoint, bytes)
    return int(endpoint.rpartition(b':')[2])


def _text(value: object) -> str:
    return value if isinstance(value, str) else ''


def _mapping(request: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = request.get(name) or {}
    if not isinstance(value, Mapping):
        raise Refused('bad_value', f'{name}: {value!r:.40} is not a map')
    return value


def _number(request: Mapping[str, Any], name: str, default: float) -> float:
    value = request.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or value - value != 0:
        raise Refused('bad_value', f'{name}: {value!r:.40} is not a finite number')
    return float(value)


def _three(request: Mapping[str, Any], name: str) -> list[float]:
    value = request.get(name)
    if value is None:
        return [0.0, 0.0, 0.0]
    if not isinstance(value, list) or len(value) != 3:
        raise Refused('bad_value', f'{name}: {value!r:.40} is not three numbers')
    return [_number({name: each}, name, 0.0) for each in value]


__all__ = ['CLAIMS', 'EXTENSIONS', 'FakeRobot', 'FakeServer', 'Refused']
