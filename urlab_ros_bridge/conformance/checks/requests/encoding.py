# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Wire encoding: msgpack by default, JSON for a session that asks, base64 companions."""

from __future__ import annotations

import base64
import binascii
import json

import msgpack

from urlab_ros_bridge.conformance.check import check
from urlab_ros_bridge.conformance.check import PLUGIN
from urlab_ros_bridge.conformance.check import PROTOCOL
from urlab_ros_bridge.conformance.fields import field
from urlab_ros_bridge.conformance.fields import short
from urlab_ros_bridge.conformance.peer import decode
from urlab_ros_bridge.conformance.peer import pack
from urlab_ros_bridge.conformance.peer import Peer
from urlab_ros_bridge.conformance.verdict import equal
from urlab_ros_bridge.conformance.verdict import expect
from urlab_ros_bridge.conformance.verdict import Failed
from urlab_ros_bridge.conformance.verdict import skip

ZMQ = ('zmq',)


def _is_msgpack(frame: bytes) -> bool:
    try:
        return isinstance(msgpack.unpackb(frame), dict)
    except Exception:
        return False


def _json(what: str, frame: bytes) -> dict:
    try:
        value = json.loads(frame.decode('utf-8'))
    except ValueError:
        raise Failed(f'{what} in JSON', short(frame[:24])) from None
    expect(isinstance(value, dict), f'{what} as a JSON object', short(value))
    return value


def _msgpack(what: str, frame: bytes) -> None:
    expect(_is_msgpack(frame), f'{what} in msgpack', short(frame[:24]))


def _meta(session_id: str) -> bytes:
    return pack({'op': 'meta', 'session_id': session_id})


def _reset(session_id: str) -> bytes:
    return pack({'op': 'reset', 'session_id': session_id})


@check(
    'encoding.msgpack_default', PROTOCOL, 'Wire encoding', 'Frames are msgpack by default',
    transports=ZMQ, world=False,
)  # fmt: skip
def msgpack_default(peer: Peer) -> None:
    """A hello without encoding, and what follows, is answered in msgpack."""
    frame = peer.zmq.exchange(pack({'op': 'hello'}))
    _msgpack('hello_ok', frame)
    session = field(decode(frame), 'session_id', 'text')
    _msgpack('the reply to meta', peer.zmq.exchange(_meta(session)))


@check(
    'encoding.one_frame', PROTOCOL, 'Wire encoding', 'Frames are msgpack by default',
    transports=ZMQ, world=False,
)  # fmt: skip
def one_frame(peer: Peer) -> None:
    """A reply is one frame."""
    equal('parts of a reply', len(peer.zmq.parts(_meta(peer.session_id))), 1)


@check(
    'encoding.binary_is_bin', PROTOCOL, 'Wire encoding',
    'ship as msgpack bin', transports=ZMQ,
)  # fmt: skip
def binary_is_bin(peer: Peer) -> None:
    """Under msgpack the model is a bin value."""
    field(peer.hello(), 'mjb', 'bytes')


@check(
    'encoding.json_on_request', PROTOCOL, 'JSON fallback',
    'request human-readable JSON for the rest of the session', transports=ZMQ, world=False,
)  # fmt: skip
def json_on_request(peer: Peer) -> None:
    """A hello with encoding json is answered in JSON, and so is what follows, errors too."""
    hello = _json('hello_ok', peer.zmq.exchange(pack({'op': 'hello', 'encoding': 'json'})))
    session = field(hello, 'session_id', 'text')
    _json('the reply to meta', peer.zmq.exchange(_meta(session)))
    error = peer.zmq.exchange(pack({'op': 'no_such_op', 'session_id': session}))
    equal('op of an error in JSON', _json('an error reply', error).get('op'), 'error')


@check(
    'encoding.json_numbers', PROTOCOL, 'JSON fallback',
    'request human-readable JSON for the rest of the session', transports=ZMQ,
)  # fmt: skip
def json_numbers(peer: Peer) -> None:
    """A reset_ok in JSON has the fields and numbers that it has in msgpack."""
    ours = peer.ask('reset')
    hello = _json('hello_ok', peer.zmq.exchange(pack({'op': 'hello', 'encoding': 'json'})))
    theirs = _json('reset_ok', peer.zmq.exchange(_reset(hello.get('session_id', ''))))
    equal('fields of reset_ok', sorted(theirs), sorted(ours))
    for prefix, block in field(theirs, 'per_articulation', 'object').items():
        equal(f'qpos of {prefix}', block['qpos'], ours['per_articulation'][prefix]['qpos'])


@check(
    'encoding.json_base64', PROTOCOL, 'JSON fallback',
    'binary fields also ship base64-encoded companions', transports=ZMQ,
)  # fmt: skip
def json_base64(peer: Peer) -> None:
    """Under JSON the model is base64 text in mjb_base64, equal to the bin of msgpack."""
    binary = field(peer.hello(), 'mjb', 'bytes')
    reply = _json('hello_ok', peer.zmq.exchange(pack({'op': 'hello', 'encoding': 'json'})))
    text = field(reply, 'mjb_base64', 'text')
    try:
        decoded = base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise Failed('base64 in mjb_base64', str(error)) from None
    equal('size of mjb_base64 decoded', len(decoded), len(binary))
    expect(decoded == binary, 'mjb_base64 to hold the bytes of mjb', 'other bytes')


@check(
    'encoding.reset_by_hello', PROTOCOL, 'JSON fallback',
    'The server resets to msgpack on each new hello', transports=ZMQ, world=False,
)  # fmt: skip
def reset_by_hello(peer: Peer) -> None:
    """After a JSON session, a hello without encoding brings msgpack back."""
    peer.zmq.exchange(pack({'op': 'hello', 'encoding': 'json'}))
    frame = peer.zmq.exchange(pack({'op': 'hello'}))
    _msgpack('hello_ok', frame)
    session = decode(frame).get('session_id', '')
    _msgpack('the reply to meta', peer.zmq.exchange(_meta(session)))
    error = peer.zmq.exchange(pack({'op': 'no_such_op', 'session_id': session}))
    _msgpack('an error reply', error)


@check(
    'encoding.per_session', PROTOCOL, 'JSON fallback', 'the JSON opt-in is per session',
    transports=ZMQ, world=False,
)  # fmt: skip
def per_session(peer: Peer) -> None:
    """JSON of one session does not leak into another that is open beside it (shared sessions)."""
    if not peer.extension('shared_session'):
        raise skip('the server has one session only (no extension shared_session)')
    ours = decode(peer.zmq.exchange(pack({'op': 'hello'}))).get('session_id', '')
    hello = pack({'op': 'hello', 'shared': True, 'encoding': 'json'})
    theirs = _json('hello_ok', peer.zmq.exchange(hello)).get('session_id', '')
    _msgpack('the reply of the msgpack session', peer.zmq.exchange(_meta(ours)))
    _json('the reply of the JSON session', peer.zmq.exchange(_meta(theirs)))
    _msgpack('the next reply of the msgpack session', peer.zmq.exchange(_meta(ours)))


@check(
    'encoding.json_requests', PROTOCOL, 'Errors', 'Frame failed to parse as JSON or msgpack',
    world=False,
)  # fmt: skip
def json_requests(peer: Peer) -> None:
    """A request may be JSON at any time; the reply keeps the encoding of the session."""
    request = {'op': 'meta', 'session_id': peer.session_id}
    for lead in ('', ' \n\t'):
        frame = peer.channel.exchange((lead + json.dumps(request)).encode())
        _msgpack('the reply to a JSON request', frame)
        equal('op', decode(frame).get('op'), 'meta_ok')


@check('encoding.any_number', PLUGIN, 'msgpack requests')
def any_number(peer: Peer) -> None:
    """Numbers of requests may be floats where whole numbers are meant, and null means absent."""
    peer.call('get_contacts', max_contacts=4.0, filter=None)
    peer.call('set_sim_speed', percent=100)
