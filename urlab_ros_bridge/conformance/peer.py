# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The server under test, as the checks see it.

It only judges whether a reply can be decoded and has the requested op: what else
is wrong must show in the check that is about it, and in no other.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from dataclasses import replace
import json
from pathlib import Path
from typing import Any

import msgpack

from urlab_ros_bridge.conformance.channels.shm_raw import ShmChannel
from urlab_ros_bridge.conformance.channels.zmq_raw import no_keys
from urlab_ros_bridge.conformance.channels.zmq_raw import NoAnswer
from urlab_ros_bridge.conformance.channels.zmq_raw import Protect
from urlab_ros_bridge.conformance.channels.zmq_raw import REPLY_SECONDS
from urlab_ros_bridge.conformance.channels.zmq_raw import ZmqChannel
from urlab_ros_bridge.conformance.fields import is_integer
from urlab_ros_bridge.conformance.fields import short
from urlab_ros_bridge.conformance.model import load_model
from urlab_ros_bridge.conformance.model import ModelView
from urlab_ros_bridge.conformance.model import Robot
from urlab_ros_bridge.conformance.verdict import Failed
from urlab_ros_bridge.conformance.verdict import skip
from urlab_ros_bridge.wire.encoding.codec import unpack
from urlab_ros_bridge.wire.encoding.limits import MAX_REPLY_BYTES
from urlab_ros_bridge.wire.ops import CONTROL_PORT
from urlab_ros_bridge.wire.ops import INFO_PORT
from urlab_ros_bridge.wire.ops import STATE_PORT

BASELINE = {'observations': 'standard'}
PORTS = {'state': STATE_PORT, 'control': CONTROL_PORT, 'info': INFO_PORT}
LOOPBACK = ('127.0.0.1', 'localhost', '::1')


@dataclass(frozen=True, slots=True)
class Places:
    """
    Where the server listens.

    :ivar host: its address.
    :ivar rpc: endpoint of the requests.
    :ivar state: endpoint of the state stream, '' for none; None: from the server's hello, or
        else it is the usual port.  `control` and `info` likewise.
    """

    host: str
    rpc: str
    state: str | None = None
    control: str | None = None
    info: str | None = None

    @property
    def local(self) -> bool:
        """Return whether the server runs on this machine, as far as its address shows."""
        return self.host in LOOPBACK

    def completed(self, reported: object) -> Places:
        """
        Return the places with those that were not given.

        :param reported: `ports` of a hello_ok (extension), by name.
        """
        ports: Any = reported if isinstance(reported, dict) else PORTS
        found: dict[str, Any] = {}
        for name in PORTS:
            port = ports.get(name)
            if getattr(self, name) is None:
                found[name] = f'tcp://{self.host}:{int(port)}' if is_integer(port) else ''
        return replace(self, **found)


def decode(frame: bytes) -> dict[str, Any]:
    """
    Decode a reply strictly: a JSON object or a msgpack map, nothing repaired.

    :raises Failed: when it is neither, or beyond what `wire.encoding.limits` allows a reply.
    """
    try:
        unpack(frame, MAX_REPLY_BYTES)  # for its limits alone: it repairs
        value = json.loads(frame) if frame[:1] == b'{' else msgpack.unpackb(frame)
    except Exception as error:
        raise Failed('a reply in msgpack or JSON', f'{short(frame[:24])}: {error}') from None
    if not isinstance(value, dict):
        raise Failed('a map as reply', short(value))
    return value


class Peer:
    """
    A session with the server under test.

    :ivar zmq: channel for raw frames over ZMQ.
    :ivar channel: what requests go over now, ZMQ or SHM.
    :ivar hello_reply: the latest hello_ok in msgpack.
    :ivar stop: ends the server; None when the suite did not start it.
    :ivar protect: gives a socket the keys that the server asks for.
    """

    def __init__(
        self,
        places: Places,
        stop: Callable[[], None] | None = None,
        protect: Protect = no_keys,
    ) -> None:
        self.places = places
        self.stop = stop
        self.protect = protect
        self.zmq = ZmqChannel(places.rpc, protect)
        self.channel: ZmqChannel | ShmChannel = self.zmq
        self.session_id = ''
        self.hello_reply: dict[str, Any] = {}
        self.first_times: list[float] = []
        self.ended = False
        self._baseline = False
        self._model: ModelView | None = None

    def connect(self) -> None:
        """Say hello; of a server just started, also watch its first two steps."""
        self.places = self.places.completed(self.hello().get('ports'))
        if self.stop is not None and self.manager:
            for _ in range(2):
                with suppress(Failed, KeyError):
                    self.first_times.append(self.ask('step')['time'])

    def close(self) -> None:
        """Close all channels."""
        self.use_zmq()
        self.zmq.close()

    # Requests.

    def hello(self, **fields: Any) -> dict[str, Any]:
        """Open a session over ZMQ, as any client does; requests use it from then on."""
        fields = fields or dict(BASELINE)
        reply = self._ok('hello', decode(self.zmq.exchange(pack({'op': 'hello', **fields}))))
        self.session_id = reply.get('session_id', '')
        self._baseline = fields == BASELINE
        if 'mjb' in reply or not reply.get('manager_present', True):
            self.hello_reply = reply
        return reply

    def ask(self, op: str, timeout: float = REPLY_SECONDS, /, **fields: Any) -> dict[str, Any]:
        """Send a request with the session (unless given) and return whatever comes back."""
        request = {'op': op, 'session_id': self.session_id, **fields}
        return decode(self.channel.exchange(pack(request), timeout))

    def call(self, op: str, timeout: float = REPLY_SECONDS, /, **fields: Any) -> dict[str, Any]:
        """
        Send a request that must succeed; what does not fit into shared memory goes over ZMQ.

        :raises Failed: when the reply's op is another than ``<op>_ok``.
        """
        reply = self.ask(op, timeout, **fields)
        if reply.get('code') == 'reply_too_large' and self.channel is not self.zmq:
            request = {'op': op, 'session_id': self.session_id, **fields}
            reply = decode(self.zmq.exchange(pack(request), timeout))
        return self._ok(op, reply)

    def refused(
        self, code: str, op: str, timeout: float = REPLY_SECONDS, /, **fields: Any
    ) -> dict[str, Any]:
        """
        Send a request that must be refused with a code.

        :raises Failed: when it is not.
        """
        reply = self.ask(op, timeout, **fields)
        got = reply.get('code') if reply.get('op') == 'error' else reply.get('op')
        if got != code:
            raise Failed(f'{op} to be refused with {code}', got or short(reply))
        return reply

    @staticmethod
    def _ok(op: str, reply: dict[str, Any]) -> dict[str, Any]:
        if reply.get('op') != f'{op}_ok':
            said = (reply.get('op'), reply.get('code'), reply.get('message'))
            raise Failed(f'{op}_ok', ' '.join(str(word) for word in said if word) or short(reply))
        return reply

    # State between checks.

    def prepare(self, mode: str) -> None:
        """
        Bring the server into a known state: session, mode, running, reset.

        :raises Skipped: when the mode cannot be entered.
        """
        if not self._baseline or self.ask('set_paused', paused=False).get('op') == 'error':
            self.hello()
            self.ask('set_paused', paused=False)
        if mode:
            reply = self.ask('set_mode', mode=mode)
            if reply.get('code') == 'mode_locked_by_server':
                pinned = self.ask('status').get('mode')
                if pinned != mode:
                    raise skip(f'the server is pinned to {pinned or "another"} mode')
        self.ask('reset')

    def need_free_mode(self) -> None:
        """
        Make sure that the mode can be changed; it is direct afterwards.

        :raises Skipped: when the server pins it.
        """
        if self.ask('set_mode', mode='direct').get('code') == 'mode_locked_by_server':
            raise skip('the mode is pinned')

    def leave(self) -> None:
        """Leave the server as it is found most: live, running, reset, default speed."""
        with suppress(Failed):
            self.prepare('')
            self.ask('set_sim_speed', percent=100.0)
            self.ask('set_control_source', source='zmq')
            self.ask('replay_stop')
            self.ask('set_mode', mode='live')

    def use_shm(self) -> None:
        """
        Send requests through shared memory from now on.

        :raises Skipped: when the server offers none that is reachable here.
        """
        directory = self.hello_reply.get('shm_session_dir') or ''
        if not directory:
            raise skip('the handshake names no shared-memory directory')
        if not Path(directory).is_dir():
            raise skip(f'{directory} is not on this machine')
        if not (Path(directory) / 'req.shm').is_file():
            raise skip(f'{directory} has no req.shm')
        self.channel = ShmChannel(Path(directory))

    def use_zmq(self) -> None:
        """Send requests over ZMQ from now on."""
        if self.channel is not self.zmq:
            self.channel.close()
            self.channel = self.zmq

    # What the handshake says.

    @property
    def manager(self) -> bool:
        """Return whether a world runs."""
        return self.hello_reply.get('manager_present', True) is not False

    @property
    def stock(self) -> bool:
        """Return whether this looks like the plugin of June 2026."""
        reply = self.hello_reply
        return reply.get('urlab_version') == 'urlab/0.1' and 'extensions' not in reply

    def extension(self, name: str) -> bool:
        """Return whether the server lists an extension."""
        return name in (self.hello_reply.get('extensions') or [])

    @property
    def model(self) -> ModelView:
        """Return the model of the handshake, loaded once."""
        if self._model is None:
            self._model = load_model(self.hello_reply)
        return self._model

    @property
    def blocks(self) -> list[dict[str, Any]]:
        """Return the articulations of the handshake."""
        return list(self.hello_reply.get('articulations') or [])

    @property
    def timestep(self) -> float:
        """Return the physics timestep in seconds."""
        return float(self.model.mj.opt.timestep)

    def robot(self, wanted: Callable[[Robot, dict], Any], what: str) -> tuple[Robot, dict]:
        """
        Return the first articulation that satisfies a condition, with its handshake block.

        :raises Skipped: when none does; `what` names what was looked for.
        """
        for block in self.blocks:
            robot = self.model.robots[block['prefix']]
            if wanted(robot, block):
                return robot, block
        raise skip(f'no articulation {what}')


def pack(message: dict[str, Any]) -> bytes:
    """Encode a request as msgpack."""
    return msgpack.packb(message)


__all__ = ['NoAnswer', 'Peer', 'Places', 'decode', 'pack']
