# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A session with the server: hello, requests, error replies, and reconnecting after a restart."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
import contextlib
from contextlib import contextmanager
import threading
import time
from typing import Any
from typing import TypeAlias
from typing import TypeVar

import numpy as np

from urlab_ros_bridge import __version__
from urlab_ros_bridge.client.errors import ClientError
from urlab_ros_bridge.client.errors import ExtensionMissing
from urlab_ros_bridge.client.errors import MalformedReply
from urlab_ros_bridge.client.errors import NotConnected
from urlab_ros_bridge.client.errors import ProtocolError
from urlab_ros_bridge.client.errors import remote_error
from urlab_ros_bridge.client.errors import RemoteError
from urlab_ros_bridge.client.errors import RequestTimeout
from urlab_ros_bridge.client.errors import SessionExpired
from urlab_ros_bridge.client.errors import UnreadableHandshake
from urlab_ros_bridge.client.errors import UnsendableValue
from urlab_ros_bridge.client.replies.handshake import Handshake
from urlab_ros_bridge.client.replies.handshake import parse_handshake
from urlab_ros_bridge.client.replies.reader import listed
from urlab_ros_bridge.client.replies.reader import read_field
from urlab_ros_bridge.client.replies.reader import read_reply
from urlab_ros_bridge.transport.keys import KeySource
from urlab_ros_bridge.transport.keys import read_client_keys
from urlab_ros_bridge.transport.link import CHANNEL
from urlab_ros_bridge.transport.link import RequestLink
from urlab_ros_bridge.wire.dialect import handshake_from_v06
from urlab_ros_bridge.wire.dialect import is_v06
from urlab_ros_bridge.wire.dialect import reply_from_v06
from urlab_ros_bridge.wire.dialect import request_to_v06
from urlab_ros_bridge.wire.encoding.codec import pack
from urlab_ros_bridge.wire.encoding.codec import unpack
from urlab_ros_bridge.wire.encoding.limits import MAX_REPLY_BYTES
from urlab_ros_bridge.wire.encoding.limits import MAX_REQUEST_BYTES
from urlab_ros_bridge.wire.errors import FrameTooLarge
from urlab_ros_bridge.wire.errors import WireError
from urlab_ros_bridge.wire.ops import PRE_SESSION_OPS
from urlab_ros_bridge.wire.ops import RPC_PORT
from urlab_ros_bridge.wire.ops import STATE_PORT

SHARED_SESSION = 'shared_session'
# Replies of stock servers that do not have the name of their op.
_OTHER_REPLIES = {'reset': 'step_ok', 'set_viewport_mode': 'set_mode_ok'}
_CLAIM, _RELEASE = 'claim_control', 'release_control'
_USUAL_TTL = 10.0  # s, where a server does not report one
# Fields of a block of `per_articulation` that command something.
_COMMANDS = ('ctrl', 'ctrl_map', 'twist', 'xfrc_applied')


def _commanded(message: dict[str, Any]) -> list[str]:
    """Return the prefixes of the articulations that a request commands."""
    op = message['op']
    if op == 'step':
        blocks = message.get('per_articulation') or {}
        return [
            prefix for prefix, block in blocks.items() if any(key in block for key in _COMMANDS)
        ]
    if op in ('set_twist', 'set_setpoints', 'configure_controller'):
        return [message['articulation']] if message.get('articulation') else []
    return []


T = TypeVar('T')
Vector: TypeAlias = Iterable[float] | np.ndarray


def floats(values: Vector | None) -> list[float] | None:
    """Return the numbers of a vector as a request carries them; None stays None."""
    if values is None:
        return None
    return values.tolist() if isinstance(values, np.ndarray) else [float(v) for v in values]


def plain(value: Any) -> Any:
    """Return `value` with numpy arrays and scalars, tuples and mappings as plain Python."""
    if hasattr(value, 'tolist'):
        return value.tolist()
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


class Session:
    """
    Requests over one connection, under one lock.

    A plain session is the one active session of the server, as in the protocol page: it expires
    the previous one and is expired by the next.  A shared session (extension) coexists with the
    others, and reconnects automatically when the server no longer knows it.

    Servers of plugin v0.6 are recognised by their handshake, and everything is translated here:
    callers see the dialect of the protocol page.

    :ivar generation: number of handshakes so far; it grows when the server was restarted.
    :ivar keys: its streams need them too; None without encryption.
    :ivar raise_on_divergence: whether `step` raises `SimulationDiverged` after the simulation has
        become unstable, once for each time; otherwise read `StepResult.divergence`.
    :ivar on_hello: called after every handshake, with the lock held; it may send requests.
    """

    def __init__(
        self,
        host: str = '127.0.0.1',
        rpc_port: int = RPC_PORT,
        *,
        state_port: int = STATE_PORT,
        shared: bool = False,
        name: str = '',
        observations: str = 'standard',
        encoding: str = 'msgpack',
        timeout: float = 5.0,
        on_hello: Callable[[Handshake], None] | None = None,
        transport: str = 'auto',
        keys: KeySource = None,
        raise_on_divergence: bool = True,
    ) -> None:
        """
        Describe the session; nothing is sent before `connect`.

        :param name: of this client in the server's status.
        :param observations: level of `step` replies: minimal, standard or full.
        :param encoding: msgpack, or json for debugging.
        :param timeout: seconds that a request waits by default.
        :param transport: of requests: ``zmq``; ``shm``; ``auto``: shared memory when the server is
            on this machine and offers this client a pair of regions, otherwise ZeroMQ.
        :param keys: folder of keys (`urlab keys`), for a server that was started with --keys.
        :raises KeysUnusable: when the folder contains no usable keys.
        """
        self.host = host
        self.rpc_port = rpc_port
        self.state_port = state_port
        self.shared = shared
        self.name = name or 'urlab_ros_bridge'
        self.observations = observations
        self.encoding = encoding
        self.timeout = timeout
        self.on_hello = on_hello
        self.raise_on_divergence = raise_on_divergence
        self._divergences = 0  # of this world, reported so far
        self.generation = 0
        self._handshake: Handshake | None = None
        self._is_v06 = False
        self._claims: _HeldClaims | None = None
        self._wants_claims = False  # or it is not known yet
        self._session_id = ''
        self._include_assets = False
        self._lock = threading.RLock()
        self.keys = read_client_keys(keys)
        self._transport = transport
        self._rpc = RequestLink(f'tcp://{host}:{rpc_port}', host, transport, self.keys)

    def __repr__(self) -> str:
        """Return address, transport and articulations."""
        parts = [self._rpc.endpoint]
        if self._handshake is None:
            parts.append('not connected')
        else:
            parts.append(f'{"shared " if self.shared else ""}session over {self.transport}')
            parts.append(f'articulations: {listed(self._handshake.articulations)}')
        return f'<{type(self).__name__} of {", ".join(parts)}>'

    def __enter__(self) -> Session:
        if self._handshake is None:
            self.connect()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def handshake(self) -> Handshake:
        """
        The latest handshake.

        :raises NotConnected: before `connect`.
        """
        if self._handshake is None:
            raise NotConnected('handshake')
        return self._handshake

    @property
    def transport(self) -> str:
        """Transport of requests at present: ``zmq`` or ``shm``."""
        return 'zmq' if self._rpc.shm is None else 'shm'

    def connect(
        self, timeout: float | None = None, include_assets: bool | None = None
    ) -> Handshake:
        """
        Open the session; a server that is not up yet is waited for, up to the timeout.

        :param include_assets: also request the model as XML with its files, now and at every later
            hello: `Handshake.mjcf_compiled` and `vfs_assets`; None: as the last time.
        :raises RequestTimeout: when no server answered.
        :raises UnreadableHandshake: when the server speaks an unknown version of the protocol.
        :raises ShmUnavailable: when shared memory was requested by name and cannot be used.
        """
        if include_assets is not None:
            self._include_assets = include_assets
        message: dict[str, Any] = {
            'op': 'hello',
            'client': self.name,
            'client_version': f'urlab_ros_bridge/{__version__}',
            'observations': self.observations,
            'encoding': self.encoding,
            'include_assets': self._include_assets,
            'camera_header': 'ucm1',
            'published_state': True,
            **self._rpc.hello_fields,
        }
        if self.shared:
            message['shared'] = True
            message['session_id'] = self._session_id or None  # its claims continue
        with self._lock:
            return self.absorb(self._exchange(message, timeout or self.timeout))

    def absorb(self, reply: dict[str, Any]) -> Handshake:
        """
        Adopt a handshake: the reply to hello, or the one inside the reply to begin_pie.

        :raises UnreadableHandshake: when it is malformed; the session is unchanged.
        """
        with self._lock:
            is_new = is_v06(reply)
            try:
                handshake = parse_handshake(handshake_from_v06(reply) if is_new else reply)
            except MalformedReply as error:
                version = str(reply.get('urlab_version') or '')[:40]
                raise UnreadableHandshake(self._rpc.endpoint, version, error) from error
            self._handshake = handshake
            self._is_v06 = is_new
            self._session_id = handshake.session_id
            self._claims, self._wants_claims = None, SHARED_SESSION not in handshake.extensions
            known = handshake.divergence
            self._divergences = 0 if known is None else known.count
            self.generation += 1
            self._rpc.attach(
                handshake.shm_session_dir,
                handshake.raw.get(CHANNEL),
                has_channels=CHANNEL in handshake.extensions,
            )
            if self.on_hello is not None:
                self.on_hello(handshake)
        return handshake

    def _claim_for(self, message: dict[str, Any]) -> None:
        """Claim what a request commands, on a server that knows claims but no shared sessions."""
        if not _commanded(message):
            return
        if self._claims is None:
            self._wants_claims = _CLAIM in self._op_names()
            if not self._wants_claims:
                return
            self._claims = _HeldClaims(self._send)
        self._claims.claim_for(message)

    def _op_names(self) -> set[str]:
        """Return the names that `meta` lists; empty on a server without it."""
        try:
            ops = self._send({'op': 'meta'}).get('ops')
        except RemoteError:
            return set()
        return {str(op.get('name')) for op in ops or () if isinstance(op, dict)}

    def _send(self, message: dict[str, Any]) -> dict[str, Any]:
        return self._exchange({**message, 'session_id': self._session_id}, self.timeout)

    def require(self, op: str, **extensions: bool) -> None:
        """
        Check that the server knows the fields of a request: a stock server would ignore them.

        :param extensions: name of an extension -> whether the request needs it.
        :raises ExtensionMissing: nothing was sent.
        """
        for extension, is_needed in extensions.items():
            if is_needed and extension not in self.handshake.extensions:
                raise ExtensionMissing(op, extension)

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Hold the lock over several requests that belong together."""
        with self._lock:
            yield

    def close(self) -> None:
        """End the session; a request that waits in another thread fails with `NotConnected`."""
        if self._claims is not None and self._lock.acquire(blocking=False):
            try:
                self._claims.release()
            finally:
                self._lock.release()
        self._rpc.cancel()
        with self._lock:
            self._rpc.close()
            self._handshake = self._claims = None
            self._session_id = ''
            self._rpc = RequestLink(self._rpc.endpoint, self.host, self._transport, self.keys)

    def request(self, op: str, timeout: float | None = None, **fields: Any) -> dict[str, Any]:
        """
        Send any op of the protocol and return its reply.

        :param timeout: seconds that the request waits; a field of this name: `request_fields`.
        :param fields: request fields; None means absent.
        :raises RemoteError: the subclass of the code of an error reply.
        :raises RequestTimeout: when no reply arrived in time.
        """
        return self.request_fields(op, fields, timeout)

    def request_fields(
        self, op: str, fields: Mapping[str, Any], timeout: float | None = None
    ) -> dict[str, Any]:
        """Send an op like `request`; the fields may have any names, also ``timeout``."""
        message = {'op': op}
        for name, value in fields.items():
            if value is not None:
                message[name] = value
        return self._request(message, self.timeout if timeout is None else timeout)

    def _ask(self, kind: type[T], op: str, timeout: float | None = None, /, **fields: Any) -> T:
        """Send an op and return its reply as the dataclass that describes it."""
        return read_reply(kind, self.request(op, timeout, **fields))

    def _ask_for(
        self, field: str, kind: type[T], op: str, timeout: float | None = None, /, **fields: Any
    ) -> T:
        """Send an op and return one field of its reply."""
        return read_field(self.request(op, timeout, **fields), field, kind)

    def _request(self, message: dict[str, Any], timeout: float) -> dict[str, Any]:
        lock = self._lock
        op = message['op']
        if not lock.acquire(timeout=timeout):
            raise RequestTimeout(op, f'{self._rpc.endpoint} (busy with another request)', timeout)
        try:
            if not self._session_id and op not in PRE_SESSION_OPS:
                raise NotConnected(op)
            message['session_id'] = self._session_id
            try:
                if self._wants_claims:
                    self._claim_for(message)
                return self._exchange(message, timeout)
            except SessionExpired:
                if not self._can_rejoin():
                    raise
            # The server refused the request before executing it, so repeating is safe.
            self.connect(timeout)
            message['session_id'] = self._session_id
            return self._exchange(message, timeout)
        finally:
            lock.release()

    def _can_rejoin(self) -> bool:
        """Return whether a new hello expires no other session: stock servers ignore `shared`."""
        return self.shared and SHARED_SESSION in self.handshake.extensions

    def _exchange(self, message: dict[str, Any], timeout: float) -> dict[str, Any]:
        op = message['op']
        if self._is_v06:
            message = request_to_v06(message)
        reply_frame = self._rpc.exchange(op, self._encode(message), timeout)
        try:
            reply = unpack(reply_frame, MAX_REPLY_BYTES)
        except WireError as error:
            raise ProtocolError(f'{op}: the reply cannot be read: {error}') from error
        answer = reply.get('op')
        if answer == 'error':
            raise remote_error(str(reply.get('code')), str(reply.get('message') or ''), op)
        if answer != f'{op}_ok' and _OTHER_REPLIES.get(op) != answer:
            raise ProtocolError(f"{op}: the reply's op is {answer!r}, expected {op + '_ok'!r}")
        if self._is_v06 and op != 'hello':
            return reply_from_v06(reply, self.handshake.articulations)
        return reply

    def _encode(self, message: dict[str, Any]) -> bytes:
        try:
            try:
                frame = pack(message, self.encoding)
            except TypeError:  # it contains numpy values, which is rare; plain ones are not copied
                frame = pack(plain(message), self.encoding)
        except (TypeError, ValueError, OverflowError) as error:
            raise UnsendableValue(message['op'], error) from error
        if len(frame) > MAX_REQUEST_BYTES:  # a server would end the connection
            raise FrameTooLarge(len(frame), MAX_REQUEST_BYTES, f'{message["op"]} request')
        return frame


class _HeldClaims:
    """
    The claims of one session, on servers that require them (since July 2026).

    The bundled server does not: there, several clients command a world side by side.

    :param ask: sends a request and returns its reply.
    """

    def __init__(self, ask: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        self._ask = ask
        self._renew_at: dict[str, float] = {}

    def claim_for(self, message: dict[str, Any]) -> None:
        """
        Claim what a request commands, or renew the claim in good time.

        :raises ControlClaimed: when another owner has it.
        """
        for prefix in _commanded(message):
            if time.monotonic() >= self._renew_at.get(prefix, 0.0):
                reply = self._ask({'op': _CLAIM, 'articulation': prefix})
                ttl = reply.get('ttl_s')
                lasts = float(ttl) if isinstance(ttl, int | float) and ttl > 0 else _USUAL_TTL
                self._renew_at[prefix] = time.monotonic() + lasts / 2

    def release(self) -> None:
        """Release all, as far as the server answers."""
        held, self._renew_at = self._renew_at, {}
        for prefix in held:
            with contextlib.suppress(ClientError):
                self._ask({'op': _RELEASE, 'articulation': prefix})
