# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A Chiral client for asyncio, for any server that speaks the protocol."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections import deque
from collections.abc import Mapping
import logging
import secrets
import time
from typing import Any
from typing import TypeAlias
from urllib.parse import quote

import numpy as np
from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed
from websockets.exceptions import InvalidStatus
from websockets.exceptions import WebSocketException

from urlab_ros_bridge.gateways.chiral.errors import ChiralClosed
from urlab_ros_bridge.gateways.chiral.errors import ChiralTimeout
from urlab_ros_bridge.gateways.chiral.errors import MalformedMessage
from urlab_ros_bridge.gateways.chiral.errors import NotChiral
from urlab_ros_bridge.gateways.chiral.errors import SHOWN
from urlab_ros_bridge.gateways.chiral.errors import StaleObservation
from urlab_ros_bridge.gateways.chiral.protocol import codec
from urlab_ros_bridge.gateways.chiral.protocol.codec import Observation
from urlab_ros_bridge.gateways.chiral.protocol.framing import Buffer
from urlab_ros_bridge.gateways.chiral.protocol.framing import message_type
from urlab_ros_bridge.gateways.chiral.protocol.framing import split_frame
from urlab_ros_bridge.gateways.serving.close_codes import INVALID_DATA
from urlab_ros_bridge.gateways.serving.close_codes import TRY_AGAIN_LATER

# The library logs each request with its token.
_LIBRARY_LOG = logging.getLogger(f'{__name__}.protocol')
_LIBRARY_LOG.setLevel(logging.CRITICAL)

DEFAULT_URL = 'ws://127.0.0.1:8765'
RETRY_SECONDS = 0.2
HTTP_BUSY = 503
HTTP_BEGINS = b'HTTP/'
# How long to wait for a server to complete the closing handshake (s).
CLOSE_SECONDS = 1.0
MAX_REFUSAL = 300  # characters to show of a response that is not ours


class _Connection(ClientConnection):
    """Keeps the first bytes received, and aborts if they are not HTTP."""

    first = b''

    def data_received(self, data: bytes) -> None:
        if self.response is None and len(self.first) <= SHOWN:
            self.first += data[: SHOWN + 1]
            if not self.first.startswith(HTTP_BEGINS[: len(self.first)]):
                self.transport.abort()
                return
        super().data_received(data)


class AsyncChiralClient:
    """
    Drives a robot.

    Answers are matched by type, so that requests may overlap and one that timed out harms none
    after it.  When the connection breaks, `metadata` and `observe` connect again and repeat
    themselves; a reset or an action fails, since the robot is not where the caller thinks.  An
    action has no answer: when the connection breaks before that of a later request, or the server
    objects to it (an action of the wrong size), the next call raises `ChiralClosed`, once.

    :ivar latest: the newest observation, None before the first.
    """

    def __init__(
        self,
        url: str = DEFAULT_URL,
        *,
        token: str = '',
        timeout: float = 10.0,
        reset_timeout: float = 120.0,
        stale_after: float | None = None,
        reconnect: bool = True,
    ) -> None:
        """
        Describe the connection; nothing is sent before `connect`.

        :param timeout: seconds for connecting and for an answer; `reset_timeout` for a reset.
        :param stale_after: seconds without a new timestamp after which `observe` raises
            `StaleObservation`; None for servers whose time is frozen between actions.
        """
        self.url = url
        self.latest: Observation | None = None
        self._token = token
        self._timeout = timeout
        self._reset_timeout = reset_timeout
        self._stale_after = stale_after
        self._reconnect = reconnect
        self._socket: ClientConnection | None = None
        self._reader: asyncio.Task[None] | None = None
        self._waiting = Waiting()
        self._actions = self._arrived = 0  # sent, and those that the server has read for certain
        self._was_raised = False  # the caller knows why the connection ended
        self._unraised: Exception | None = None  # why it ended, when nothing waited then
        self._id = secrets.token_hex(16)
        self._dialled: _Connection | None = None
        self._changed_at = 0.0
        self._stamps: tuple[float, ...] = ()

    async def __aenter__(self) -> AsyncChiralClient:
        await self.connect()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def dropped(self) -> int:
        """Return how many answers arrived that no call was waiting for."""
        return self._waiting.dropped

    async def connect(self) -> None:
        """
        Connect; wait for a server that is not up yet.

        :raises ChiralTimeout: when none came up.
        :raises ChiralClosed: when it refused, with its reason.
        :raises NotChiral: when something else answered.
        """
        await self._connect(is_again=False)

    async def _connect(self, is_again: bool) -> None:
        # A server may need a moment to notice that the previous connection has ended.
        await self.close()
        deadline = time.monotonic() + self._timeout
        while True:
            try:
                self._socket = await asyncio.wait_for(self._dial(), self._timeout)
                break
            except InvalidStatus as error:
                body = bytes(error.response.body or b'')
                text = body.decode(errors='replace').strip()[:MAX_REFUSAL]
                status = error.response.status_code
                may_retry = is_again and status == HTTP_BUSY
                if not may_retry or time.monotonic() + RETRY_SECONDS > deadline:
                    message = f'{self.url} refused the connection: HTTP {status} {text}'
                    raise ChiralClosed(message, status) from error
                await asyncio.sleep(RETRY_SECONDS)
            except (OSError, EOFError, WebSocketException, TimeoutError) as error:
                sent = self._dialled.first if self._dialled is not None else b''
                if sent:
                    raise NotChiral(self.url, 'no WebSocket handshake', sent) from error
                if time.monotonic() + RETRY_SECONDS > deadline:
                    what, why = f'connect to {self.url}', str(error)
                    raise ChiralTimeout(what, self._timeout, why) from error
                await asyncio.sleep(RETRY_SECONDS)
        self._was_raised, self._unraised, self._arrived = False, None, self._actions
        self._waiting = Waiting()
        self._reader = asyncio.create_task(self._read(self._socket, self._waiting))

    async def close(self) -> None:
        """Disconnect."""
        socket, self._socket = self._socket, None
        if socket is not None:
            await socket.close()
        if self._reader is not None:
            await self._reader
            self._reader = None

    async def metadata(self) -> dict[str, Any]:
        """Return the metadata of the server."""
        header, _ = await self._repeatable(codec.METADATA)
        return codec.decode_metadata(header)

    async def reset(self, *, seed: int | None = None, keyframe: str | None = None) -> Observation:
        """
        Begin an episode.

        :param seed: extension of our gateway, as is `keyframe`; others ignore them.
        """
        fields = {'seed': seed, 'keyframe': keyframe}
        given = {key: value for key, value in fields.items() if value is not None}
        try:
            header, payload = await self._ask(codec.RESET, self._reset_timeout, given)
        except ChiralClosed:
            self._note_raised()
            raise
        return self._note_latest(codec.decode_observation(header, payload), fresh=True)

    async def observe(self) -> Observation:
        """
        Return the current observation.

        :raises StaleObservation: when there was nothing new for too long.
        """
        header, payload = await self._repeatable(codec.OBSERVE)
        seen = self._note_latest(codec.decode_observation(header, payload))
        age = time.monotonic() - self._changed_at
        if self._stale_after is not None and age > self._stale_after:
            raise StaleObservation(age, self._stale_after)
        return seen

    async def act(self, values: np.ndarray, timestamps: Mapping[str, float] | None = None) -> None:
        """
        Send an action; there is no answer.

        :raises ChiralClosed: when the connection has ended; see also the class.
        :param values: shape (D,), or a chunk (N, D).
        :param timestamps: of the images behind it; default: those of `latest`.
        """
        if timestamps is None:
            views = self.latest.cameras if self.latest is not None else ()
            timestamps = {view.name: view.timestamp for view in views}
        try:
            await self._send(codec.encode_action(np.asarray(values), timestamps))
        except ChiralClosed:
            self._note_raised()
            raise
        self._actions += 1

    async def step(self, values: np.ndarray) -> Observation:
        """Act, then observe: one control period of a server in lockstep."""
        await self.act(values)
        return await self.observe()

    async def _dial(self) -> ClientConnection:
        separator = '&' if '?' in self.url else '?'
        url = f'{self.url}{separator}token={quote(self._token)}' if self._token else self.url
        self._dialled = None

        def create(*args: Any, **options: Any) -> _Connection:
            self._dialled = _Connection(*args, **options)
            return self._dialled

        return await connect(
            url,
            compression=None,
            max_size=None,
            proxy=None,
            open_timeout=None,  # the caller has one
            close_timeout=CLOSE_SECONDS,
            logger=_LIBRARY_LOG,
            additional_headers={codec.CLIENT_ID: self._id},
            create_connection=create,  # type: ignore[arg-type]  # any factory will do
        )

    async def _read(self, socket: ClientConnection, waiting: Waiting) -> None:
        try:
            while True:
                message = await socket.recv()
                if isinstance(message, str):
                    raise NotChiral(self.url, 'a text message', message)
                waiting.feed(message)
        except ConnectionClosed as closed:
            waiting.fail(_closed(closed))
        except MalformedMessage as malformed:
            text = f'{malformed}; the server sent {message[:SHOWN]!r}'
            await self._give_up(socket, waiting, MalformedMessage(text))
        except NotChiral as error:
            await self._give_up(socket, waiting, error)

    async def _give_up(
        self, socket: ClientConnection, waiting: Waiting, error: MalformedMessage | NotChiral
    ) -> None:
        if not waiting.fail(error):
            self._unraised = error
        await socket.close(INVALID_DATA)

    async def _repeatable(self, kind: str) -> tuple[dict[str, Any], memoryview]:
        was_raised = self._was_raised
        try:
            return await self._ask(kind, self._timeout)
        except ChiralClosed as closed:
            # Also an action that was sent while this waited.
            may_be_lost = self._actions > self._arrived
            self._note_raised()
            if not self._reconnect or may_be_lost or (closed.is_permanent and not was_raised):
                raise
        deadline = time.monotonic() + self._timeout
        while True:
            await self._connect(is_again=True)
            try:
                return await self._ask(kind, self._timeout)
            except ChiralClosed as closed:
                self._note_raised()
                if closed.code != TRY_AGAIN_LATER or time.monotonic() > deadline:
                    raise
                await asyncio.sleep(RETRY_SECONDS)

    async def _ask(
        self, kind: str, timeout: float, fields: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Any], memoryview]:
        self._raise_unraised()
        waiting, actions = self._waiting, self._actions
        future = waiting.expect(codec.ANSWERS[kind])
        try:
            await self._send(codec.encode_request(kind, **(fields or {})))
            # Not wait_for: that would cancel the future's place in the queue with it.
            done, _ = await asyncio.wait([future], timeout=timeout)
            if not done:
                raise ChiralTimeout(kind, timeout)
            answer = future.result()
        finally:
            future.cancel()
        # The server reads what a connection sends in order.
        self._arrived = max(self._arrived, actions)
        return answer

    def _note_raised(self) -> None:
        """Note that the caller knows of the end of the connection, and of lost actions."""
        self._was_raised, self._arrived = True, self._actions

    async def _send(self, parts: list[Buffer]) -> None:
        if self._socket is None:
            raise ChiralClosed('not connected; call connect() first')
        try:
            await self._socket.send(b''.join(parts))
        except ConnectionClosed as closed:
            self._raise_unraised()
            raise _closed(closed) from closed

    def _raise_unraised(self) -> None:
        error, self._unraised = self._unraised, None
        if error is not None:
            raise error

    def _note_latest(self, seen: Observation, fresh: bool = False) -> Observation:
        stamps = (seen.timestamp, *(view.timestamp for view in seen.cameras))
        if fresh or stamps != self._stamps:
            self._stamps, self._changed_at = stamps, time.monotonic()
        self.latest = seen
        return seen


def _closed(error: ConnectionClosed) -> ChiralClosed:
    close = error.rcvd
    if error.rcvd_then_sent is False:
        return ChiralClosed('the client was closed')
    if close is None:
        return ChiralClosed(f'the connection was lost: {error}')
    reason = f'the server closed the connection: {close.code} {close.reason}'
    return ChiralClosed(reason, close.code)


Answer: TypeAlias = tuple[dict[str, Any], memoryview]


class Waiting:
    """
    Requests that are not answered yet.

    The wire has no request numbers.  A server answers the requests of a connection in order, so
    an answer belongs to the oldest request of its type.  A request that was given up keeps its
    place: its late answer is dropped instead of being taken for that of the next one.

    :ivar dropped: answers that were not waited for.
    """

    def __init__(self) -> None:
        self._queues: dict[str, deque[asyncio.Future[Answer]]] = defaultdict(deque)
        self.dropped = 0

    def expect(self, kind: str) -> asyncio.Future[Answer]:
        """Return the future of the next answer of a type that is not taken."""
        future = asyncio.get_running_loop().create_future()
        self._queues[kind].append(future)
        return future

    def feed(self, message: bytes) -> None:
        """
        Deliver an answer to its request.

        :raises MalformedMessage: when it is not a message.
        """
        header, payload = split_frame(message)
        queue = self._queues.get(message_type(header))
        future = queue.popleft() if queue else None
        if future is None or future.done():
            self.dropped += 1
        else:
            future.set_result((header, payload))

    def fail(self, error: Exception) -> bool:
        """Fail every waiting request; return whether there was one."""
        was_waited_for = False
        for queue in self._queues.values():
            for future in queue:
                if not future.done():
                    future.set_exception(error)
                    future.exception()  # its caller may have given up
                    was_waited_for = True
            queue.clear()
        return was_waited_for
