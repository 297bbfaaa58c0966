# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
From a request frame to a reply frame; no sockets here, so every transport shares it.

Order of checks, as the stock dispatcher has it: bad_request, missing_op, hello and meta,
session_expired, unknown_op or not_in_editor, missing_field, no_active_manager, handler.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
from dataclasses import dataclass
import logging
from typing import Any
from typing import Protocol

from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.requests.fields import Fields
from urlab_ros_bridge.sim.requests.registry import Deferred
from urlab_ros_bridge.sim.requests.registry import Prepare
from urlab_ros_bridge.sim.requests.registry import Prepared
from urlab_ros_bridge.sim.requests.registry import RegisteredOp
from urlab_ros_bridge.sim.requests.registry import Registry
from urlab_ros_bridge.sim.requests.registry import Reply
from urlab_ros_bridge.sim.requests.sessions import ServerSession
from urlab_ros_bridge.sim.stage import Stage
from urlab_ros_bridge.sim.transports.repeated import RepeatedRequests
from urlab_ros_bridge.wire.encoding import codec
from urlab_ros_bridge.wire.errors import ERROR_CODES
from urlab_ros_bridge.wire.errors import list_names
from urlab_ros_bridge.wire.errors import WireError
from urlab_ros_bridge.wire.ops import EDITOR_ONLY
from urlab_ros_bridge.wire.ops import MANAGER_REQUIRED
from urlab_ros_bridge.wire.ops import OPS

# How long a request waits while a changed world takes its place; mostly that is milliseconds.
SETTLE_SECONDS = 15.0
# Of a frame up to this size the first step is done at once: of most requests it is the only one.
FIRST_STEP_BYTES = 1 << 16
_LOG = logging.getLogger(__name__)
PreSession = Callable[[Stage, Fields], tuple[ServerSession, dict[str, Any]]]


@dataclass(slots=True)
class Call:
    """
    A request that has passed every check and waits to be run.

    :ivar subject: what the op works on, see `registry.Handler`.
    :ivar prepared: with `vectors`, stands for `fields` when the request is one that repeats.
    """

    entry: RegisteredOp
    session: ServerSession
    fields: Fields
    seconds: float
    subject: Any
    prepared: Prepared | None = None
    vectors: Sequence[Sequence[float]] = ()


@dataclass(slots=True)
class FrameDecoding:
    """A frame that is being decoded, in steps of about a tenth of a millisecond."""

    frame: bytes
    editing: bool
    steps: codec.Steps


class RequestRunner(Protocol):
    """What a transport needs of a dispatcher."""

    def repeat(self, frame: bytes, most: float) -> bytes | None:
        """Answer a request that repeats, if that can be done at once; see `Dispatcher.repeat`."""

    def accept(self, frame: bytes) -> bytes | Call | FrameDecoding:
        """Return the reply if it is known already, else the call, or a reading to continue."""

    def run(self, call: Call) -> bytes:
        """Run a call, once the model's lock is free, and return the reply."""

    def try_to_run(self, call: Call, timeout: float) -> bytes | None:
        """Run a call; None when the model's lock is not free within `timeout` seconds."""


class Dispatcher:
    """Checks, runs and answers requests; thread-safe."""

    def __init__(
        self, stage: Stage, registry: Registry, pre_session: dict[str, PreSession]
    ) -> None:
        self._stage = stage
        self._registry = registry
        self._pre_session = pre_session
        self._repeated = RepeatedRequests()

    def accept(self, frame: bytes, *, editing: bool = True) -> bytes | Call | FrameDecoding:
        """
        Decode and check a frame: return the reply if it is known already, else the call.

        A frame that takes longer to decode gives a Reading: continue with `read_on`.

        :param editing: whether the frame came by a way that serves editor ops.
        """
        if not self._stage.settled.is_set():
            self._stage.settled.wait(SETTLE_SECONDS)
        try:
            call = self._again(frame)
            if call is not None:
                return call
            request = codec.unpack_request(frame)
        except WireError as error:
            return error_frame('bad_request', str(error), None)
        except OpError as error:
            return error_frame(error.code, str(error), None)
        except Exception:
            return self._broken(None)
        if isinstance(request, dict):
            return self._check(request, frame, editing)
        reading = FrameDecoding(frame, editing, request)
        return self.read_on(reading) if len(frame) <= FIRST_STEP_BYTES else reading

    def repeat(self, frame: bytes, most: float) -> bytes | None:
        """
        Answer a frame that differs from an earlier one in its setpoints only.

        This is the way of `accept` and `try_to_run` in few calls: beside programs that compute,
        caches are cold, and what counts is how much code there is.

        :param most: s that it may take.
        :return: None for any other frame, where the model is not free, or when the call takes
            longer.  Nothing was done then.
        """
        found = self._repeated.find(frame)
        if found is None or not self._stage.settled.is_set():
            return None
        (first, prepared), vectors = found
        context = self._stage.context
        if first.subject is not context or prepared.seconds() > most:
            return None
        entry, session, engine = first.entry, first.session, context.engine
        if not engine.lock.acquire(0.0):
            return None
        try:
            if engine.replaced or not self._stage.sessions.touch(session):
                return None
            body = prepared.run(vectors)
        except OpError as error:
            return error_frame(error.code, str(error), session)
        except Exception:
            return self._broken(session)
        finally:
            engine.lock.release()
        return body if isinstance(body, bytes) else self._packed(entry, session, body)

    def read_on(self, reading: FrameDecoding) -> bytes | Call | FrameDecoding:
        """Do the next step of a reading; return it again when that was not the last one."""
        try:
            next(reading.steps)
            return reading
        except StopIteration as end:
            return self._check(end.value, reading.frame, reading.editing)
        except WireError as error:
            return error_frame('bad_request', str(error), None)
        except Exception:
            return self._broken(None)

    def run(self, call: Call) -> bytes:
        """Run a call, once the model's lock is free, and return the reply."""
        if call.entry.locked:
            call.subject.engine.lock.acquire()
        return self._run(call)

    def try_to_run(self, call: Call, timeout: float) -> bytes | None:
        """Run a call; None when the model's lock is not free within `timeout` seconds."""
        if call.entry.locked and not call.subject.engine.lock.acquire(timeout):
            return None
        return self._run(call)

    def _run(self, call: Call) -> bytes:
        """Run a call that has the lock if it needs it; the lock is released."""
        entry, session = call.entry, call.session
        try:
            if entry.locked and call.subject.engine.replaced:
                raise OpError('session_expired', 'the world has changed; send hello again')
            if call.prepared is not None:
                body = call.prepared.run(call.vectors)
            else:
                body = entry.handler(call.subject, session, call.fields)
        except OpError as error:
            return error_frame(error.code, str(error), session)
        except Exception:
            return self._broken(session)
        finally:
            if entry.locked:
                call.subject.engine.lock.release()
        return self._packed(entry, session, body)

    def _packed(self, entry: RegisteredOp, session: ServerSession, body: Reply) -> bytes:
        """Return the reply of a handler as a frame."""
        if isinstance(body, bytes):
            return body
        try:
            if isinstance(body, Deferred):
                body = body.finish()
            return codec.pack({'op': f'{entry.op.name}_ok', **body}, session.encoding)
        except OpError as error:
            return error_frame(error.code, str(error), session)
        except Exception:
            return self._broken(session)

    def _check(self, request: dict[str, Any], frame: bytes, editing: bool) -> bytes | Call:
        """Return the reply to a decoded request if it is known already, else the call."""
        session = None
        try:
            op = request.get('op')
            if not isinstance(op, str):
                raise OpError('missing_op')
            fields = Fields(request)
            pre_session = self._pre_session.get(op)
            if pre_session is not None:
                session, reply = pre_session(self._stage, fields)
                return codec.pack({'op': f'{op}_ok', **reply}, session.encoding)
            session = self._stage.sessions.find(request.get('session_id'))
            entry = self._entry(op, editing)
            for name in entry.op.required:
                fields.need(name)
            subject = self._subject(entry)
            seconds = entry.seconds(subject, fields) if entry.seconds else 0.0
            call = Call(entry, session, fields, seconds, subject)
            if entry.prepare is not None and self._repeated.worth_learning(frame, request):
                self._learn(frame, request, call, entry.prepare)
            return call
        except OpError as error:
            return error_frame(error.code, str(error), session)
        except Exception:
            return self._broken(session)

    def _entry(self, op: str, editing: bool) -> RegisteredOp:
        known = OPS.get(op)
        if known is not None and known.category == EDITOR_ONLY:
            if self._stage.editor is None:
                raise OpError('not_in_editor', f'{op} needs an editor; this server simulates only')
            if not editing:
                raise OpError('wrong_transport', f'{op} is an editor op; send it over ZMQ')
        entry = self._registry.get(op)
        if entry is not None:
            return entry
        served = (item['name'] for item in self._registry.meta())
        raise OpError('unknown_op', f'{op:.60} ({list_names("op", served, 40)})')

    def _again(self, frame: bytes) -> Call | None:
        """Return the call of a frame that differs from an earlier one in its setpoints only."""
        found = self._repeated.find(frame)
        if found is None:
            return None
        (first, prepared), vectors = found
        if first.subject is not self._stage.context:
            self._repeated.forget()
            return None
        session = self._stage.sessions.find(first.session.id)
        return Call(
            first.entry,
            session,
            first.fields,
            prepared.seconds(),
            first.subject,
            prepared,
            vectors,
        )

    def _learn(self, frame: bytes, request: dict[str, Any], call: Call, prepare: Prepare) -> None:
        """Keep a request; one that is refused now will be refused by its handler again."""
        try:
            prepared = prepare(call.subject, call.session, call.fields)
        except OpError:
            return
        self._repeated.remember(frame, request, (call, prepared))

    def _subject(self, entry: RegisteredOp) -> Any:
        """Return what the op works on: the running world, the editor or the stage."""
        if entry.op.category == MANAGER_REQUIRED:
            context = self._stage.context
            if context is None:
                raise OpError('shutting_down' if self._stage.draining else 'no_active_manager')
            return self._stage if entry.staged else context
        return self._stage.editor if entry.op.category == EDITOR_ONLY else self._stage

    def _broken(self, session: ServerSession | None) -> bytes:
        _LOG.exception('an op failed inside the server')
        return error_frame('internal_error', '', session)


def error_frame(code: str, message: str, session: ServerSession | None) -> bytes:
    """Return an error reply; it has exactly op, code and message."""
    return codec.pack(
        {'op': 'error', 'code': code, 'message': message or ERROR_CODES[code]},
        session.encoding if session else 'msgpack',
    )
