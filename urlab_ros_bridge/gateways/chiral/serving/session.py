# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
One client: its requests and the replies (Chiral Protocol Reference, "Message Types").

Each request has exactly one reply, in order; an action has none.  The protocol has no error
message, so an error closes the connection with a code and a reason.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
import logging
from typing import Any

from websockets.exceptions import ConnectionClosed

from urlab_ros_bridge.client.errors import ConnectionLost
from urlab_ros_bridge.client.errors import NotLive
from urlab_ros_bridge.gateways.chiral.errors import GatewayBroken
from urlab_ros_bridge.gateways.chiral.errors import NotAllowed
from urlab_ros_bridge.gateways.chiral.errors import PeerError
from urlab_ros_bridge.gateways.chiral.errors import SimulationLost
from urlab_ros_bridge.gateways.chiral.errors import UnknownType
from urlab_ros_bridge.gateways.chiral.protocol import codec
from urlab_ros_bridge.gateways.chiral.protocol.framing import message_type
from urlab_ros_bridge.gateways.chiral.protocol.framing import split_frame
from urlab_ros_bridge.gateways.chiral.serving.environment import ResetRequest
from urlab_ros_bridge.gateways.chiral.serving.environment import RobotEnvironment
from urlab_ros_bridge.gateways.serving.close_codes import INTERNAL_ERROR
from urlab_ros_bridge.gateways.serving.latest import LatestExecutor
from urlab_ros_bridge.gateways.serving.websocket_server import WebSocketConnection
from urlab_ros_bridge.gateways.simulation.connection import GONE
from urlab_ros_bridge.wire.errors import UrlabError

_LOG = logging.getLogger(__name__)


class ChiralSession:
    """
    Serves one connection until it ends.

    :param metadata: returns the data of a metadata answer.
    :param check: raises when the simulation is not the one that the session began with.
    :param is_driver: whether it may act and reset, or only watch.
    :param legacy: whether the older dialect is answered, in which an action is a step.
    """

    def __init__(
        self,
        connection: WebSocketConnection,
        env: RobotEnvironment,
        metadata: Callable[[], dict[str, Any]],
        check: Callable[[], None],
        *,
        is_driver: bool,
        legacy: bool,
    ) -> None:
        self._connection = connection
        self._env = env
        self._metadata = metadata
        self._check = check
        self._is_driver = is_driver
        self._observer = env.observer()
        self._requests = LatestExecutor(f'chiral-{connection.peer}')
        # Images made on request take long: actions must not wait behind them.
        self._slow_observations = not env.in_order and env.profile.frames == 'fresh'
        self._resetting = self._resets = 0
        self._known = (*codec.REQUESTS, codec.LEGACY_ACT) if legacy else codec.REQUESTS

    def run(self) -> None:
        """Serve until the connection ends; raises nothing."""
        try:
            for message in self._connection.messages():
                data = message.encode() if isinstance(message, str) else message
                self._guarded(partial(self._handle_message, data))()
        finally:
            self._requests.close()

    def _handle_message(self, message: bytes) -> None:
        header, payload = split_frame(message)
        kind = message_type(header)
        if kind not in self._known:
            raise UnknownType(kind, self._known)
        _HANDLERS[kind](self, header, payload)

    def _on_metadata(self, header: dict[str, Any], payload: memoryview) -> None:
        self._run(self._answer_metadata)

    def _on_observe(self, header: dict[str, Any], payload: memoryview) -> None:
        self._run(self._answer_observation, in_background=self._slow_observations)

    def _on_reset(self, header: dict[str, Any], payload: memoryview) -> None:
        self._require_driver(codec.RESET)
        request = ResetRequest.read(header)
        self._resetting += 1
        self._resets += 1
        self._run(lambda: self._answer_reset(request), in_background=not self._env.in_order)

    def _on_act(self, header: dict[str, Any], payload: memoryview) -> None:
        self._require_driver(codec.ACT)
        action = codec.decode_action(header, payload)
        if self._resetting:
            # Of the actions after this reset only the newest counts.
            act = self._guarded(lambda: self._act(action))
            self._requests.submit(act, key=('action', self._resets))
        else:
            self._act(action)

    def _on_legacy_act(self, header: dict[str, Any], payload: memoryview) -> None:
        self._require_driver(codec.LEGACY_ACT)
        action = codec.decode_action(header, payload)
        self._run(lambda: self._answer_legacy(action), in_background=self._slow_observations)

    def _run(self, job: Callable[[], None], *, in_background: bool = False) -> None:
        """Run a request after earlier ones; in the background, later actions overtake it."""
        if in_background or not self._requests.is_idle:
            self._requests.submit(self._guarded(job))
        else:
            self._guarded(job)()

    def _answer_metadata(self) -> None:
        data = self._metadata() | {'role': 'driver' if self._is_driver else 'viewer'}
        self._connection.send_parts(codec.encode_metadata(data))

    def _answer_observation(self) -> None:
        self._check()
        seen = self._env.observe(self._observer)
        self._check()  # the observation itself may have detected a restart
        self._connection.send_parts(codec.encode_observation(codec.ANSWERS[codec.OBSERVE], seen))

    def _answer_reset(self, request: ResetRequest) -> None:
        try:
            self._check()
            seen = self._env.reset(self._observer, request)
        finally:
            self._resetting -= 1
        self._connection.send_parts(codec.encode_observation(codec.ANSWERS[codec.RESET], seen))

    def _answer_legacy(self, action: codec.Action) -> None:
        self._act(action)
        seen = self._env.observe(self._observer)
        result = {key: seen.extra[key] for key in ('reward', 'terminated', 'truncated')}
        answer = codec.ANSWERS[codec.LEGACY_ACT]
        info = {key: seen.extra[key] for key in ('success', 'diverged')}
        self._connection.send_parts(codec.encode_observation(answer, seen, **result, info=info))

    def _act(self, action: codec.Action) -> None:
        self._check()
        self._env.act(action)

    def _require_driver(self, kind: str) -> None:
        if not self._is_driver:
            raise NotAllowed(kind)

    def _guarded(self, job: Callable[[], None]) -> Callable[[], None]:
        """Return `job` with its errors turned into the end of the connection."""

        def run() -> None:
            try:
                job()
            except ConnectionClosed:
                pass
            except PeerError as error:
                self._connection.end(error.code, str(error))
            except UrlabError as error:
                self._fail(error)
            except Exception as error:
                _LOG.exception('%s: a request failed', self._connection.peer)
                self._fail(GatewayBroken(f'{type(error).__name__} in the gateway'))

        return run

    def _fail(self, error: UrlabError) -> None:
        """Close for an internal error; a lost simulation takes precedence as the reason."""
        try:
            self._check()
            if isinstance(error, ConnectionLost):
                error = SimulationLost(f'{GONE}: {error}')
            elif isinstance(error, NotLive):
                error = SimulationLost(
                    f'another client took the simulation out of live mode, reconnect when it is '
                    f'back: {error}'
                )
        except PeerError as lost:
            error = lost
        _LOG.warning('%s: %s', self._connection.peer, error)
        code = error.code if isinstance(error, PeerError) else INTERNAL_ERROR
        self._connection.end(code, str(error))


# Not bound methods of a session: such a cycle would keep its images until garbage collection.
_HANDLERS: dict[str, Callable[[ChiralSession, dict[str, Any], memoryview], None]] = {
    codec.METADATA: ChiralSession._on_metadata,
    codec.RESET: ChiralSession._on_reset,
    codec.OBSERVE: ChiralSession._on_observe,
    codec.ACT: ChiralSession._on_act,
    codec.LEGACY_ACT: ChiralSession._on_legacy_act,
}
