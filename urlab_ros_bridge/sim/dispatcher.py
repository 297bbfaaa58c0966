# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
From a request frame to a reply frame, for every transport.

Order of checks, as the stock dispatcher has it: bad_request, missing_op, hello and meta,
session_expired, unknown_op or not_in_editor, wrong_transport, missing_field, no_active_manager,
handler.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import logging
import socket
from typing import Any

from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.physics.lock import ModelLock
from urlab_ros_bridge.sim.requests.fields import Fields
from urlab_ros_bridge.sim.requests.registry import RegisteredOp
from urlab_ros_bridge.sim.requests.registry import Registry
from urlab_ros_bridge.sim.requests.sessions import ServerSession
from urlab_ros_bridge.sim.simulation import SimulationHost
from urlab_ros_bridge.wire.dialect import reply_to_v06
from urlab_ros_bridge.wire.dialect import request_from_v06
from urlab_ros_bridge.wire.dialect import V06
from urlab_ros_bridge.wire.encoding import codec
from urlab_ros_bridge.wire.encoding.codec import pack_error
from urlab_ros_bridge.wire.errors import WireError
from urlab_ros_bridge.wire.ops import MANAGER_REQUIRED

# How long a request waits while a changed world takes its place; mostly that is milliseconds.
SETTLE_SECONDS = 15.0
_LOG = logging.getLogger(__name__)
PreSession = Callable[[SimulationHost, Fields], tuple[ServerSession, dict[str, Any]]]


@dataclass(slots=True)
class AcceptedCall:
    """
    A request that has passed every check; see `transport.router.Call`.

    :ivar subject: what the op works on, see `registry.Handler`.
    :ivar seconds: an estimate of how long it takes.
    :ivar v06_host: name of this machine, for a reply in the dialect of v0.6; None: in the page's.
    """

    entry: RegisteredOp
    session: ServerSession
    fields: Fields
    seconds: float
    subject: Any
    v06_host: str | None = None

    @property
    def session_key(self) -> str:
        """Return the id of the session."""
        return self.session.id

    @property
    def urgent(self) -> bool:
        """Return whether the call goes before others, as pausing does."""
        return self.entry.urgent

    def run(self) -> bytes:
        """Run the call, once the model's lock is free, and return the reply."""
        if self.entry.locked:
            self._lock().acquire(session=self._queued_as())
        return self._run()

    def try_to_run(self, timeout: float) -> bytes | None:
        """Run the call; None when the model's lock is not free within `timeout` seconds."""
        if self.entry.locked and not self._lock().acquire(
            timeout=timeout, session=self._queued_as()
        ):
            return None
        return self._run()

    def refuse(self, code: str, message: str) -> bytes:
        """Return an error reply in place of running the call."""
        return pack_error(code, message, self.session.encoding)

    def _lock(self) -> ModelLock:
        lock: ModelLock = self.subject.engine.lock
        return lock

    def _queued_as(self) -> ServerSession | None:
        """Return the session that queues for the lock; urgent calls go before all sessions."""
        return None if self.entry.urgent else self.session

    def _run(self) -> bytes:
        """Run a call that has the lock if it needs it; the lock is released."""
        entry, session = self.entry, self.session
        try:
            try:
                if entry.locked and self.subject.engine.run.replaced:
                    raise OpError('session_expired', 'the world has changed; send hello again')
                body = entry.handler(self.subject, session, self.fields)
            finally:
                if entry.locked:
                    self.subject.engine.lock.release()
            if isinstance(body, bytes):
                return body
            if callable(body):
                body = body()
            return _pack(entry.op.name, body, session, self.v06_host)
        except OpError as error:
            return error_frame(error, session)
        except Exception:
            return internal_error(session)


class Dispatcher:
    """Checks requests and finds who handles them; thread-safe."""

    def __init__(
        self, host: SimulationHost, registry: Registry, pre_session: dict[str, PreSession]
    ) -> None:
        self._host = host
        self._registry = registry
        self._pre_session = pre_session
        self._v06_host = socket.gethostname() if host.config.dialect == V06 else None

    def accept(self, frame: bytes, *, over_zmq: bool = True) -> bytes | AcceptedCall:
        """
        Decode and check a request: return the reply if it is known already, else the call.

        :param over_zmq: whether the frame came over ZeroMQ, where all ops are served.
        """
        if not self._host.settled.is_set():
            self._host.settled.wait(SETTLE_SECONDS)
        session = None
        try:
            request = codec.unpack(frame)
            if self._v06_host is not None:
                request = request_from_v06(request)
            op = request.get('op')
            if not isinstance(op, str):
                raise OpError('missing_op')
            fields = Fields(request)
            pre_session = self._pre_session.get(op)
            if pre_session is not None:
                session, reply = pre_session(self._host, fields)
                return _pack(op, reply, session, self._v06_host)
            session = self._host.sessions.find(request.get('session_id'))
            entry = self._registry.find(op)
            if entry.zmq_only and not over_zmq:
                raise OpError('wrong_transport', f'{op} is not served here; send it over ZMQ')
            for name in entry.op.required:
                fields.need(name)
            subject = self._subject(entry)
            if entry.locked:
                fields.e_stops = subject.engine.run.e_stops
            seconds = entry.seconds(subject, fields) if entry.seconds else 0.0
            return AcceptedCall(entry, session, fields, seconds, subject, self._v06_host)
        except WireError as error:
            return pack_error('bad_request', str(error))
        except OpError as error:
            return error_frame(error, session)
        except Exception:
            return internal_error(session)

    def _subject(self, entry: RegisteredOp) -> Any:
        """Return what the op works on: the running simulation or the host."""
        if entry.op.category != MANAGER_REQUIRED:
            return self._host
        simulation = self._host.running()
        return self._host if entry.changes_world else simulation


def _pack(op: str, body: dict[str, Any], session: ServerSession, host: str | None) -> bytes:
    """Return a reply frame; see `AcceptedCall.v06_host`."""
    reply = {'op': f'{op}_ok', **body}
    return codec.pack(reply if host is None else reply_to_v06(reply, host), session.encoding)


def error_frame(error: OpError, session: ServerSession | None) -> bytes:
    """Return the error reply of a request."""
    return pack_error(error.code, str(error), session.encoding if session else 'msgpack')


def internal_error(session: ServerSession | None) -> bytes:
    """Log the exception that is being handled; return the error reply of its request."""
    _LOG.exception('an op failed inside the server')
    return error_frame(OpError('internal_error'), session)
