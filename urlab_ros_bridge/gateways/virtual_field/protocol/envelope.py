# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The envelope around every message: `version`, `type`, `payload`.

Reasons of errors are those of the original server, which stock clients show as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import orjson

from urlab_ros_bridge.gateways.virtual_field.errors import BadMessage

VERSION = 1


@dataclass(frozen=True, slots=True)
class Envelope:
    """One message; `payload` is as the peer wrote it."""

    type: str
    payload: dict[str, Any]


def read_envelope(data: bytes) -> Envelope:
    """
    Decode a message; what passes has finite numbers only.

    :raises BadMessage: for bytes that are not an envelope of version 1.
    """
    try:
        message = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise BadMessage(f'this is not JSON: {error}') from None
    if not isinstance(message, dict) or not {'version', 'type', 'payload'} <= message.keys():
        raise BadMessage('message must contain version, type, and payload')
    version, kind, payload = message['version'], message['type'], message['payload']
    if isinstance(version, bool) or version != VERSION:
        raise BadMessage(f'unsupported protocol version {shown(version)}')
    if not isinstance(kind, str):
        raise BadMessage('message type must be a string')
    if not isinstance(payload, dict):
        raise BadMessage('message payload must be a dictionary')
    return Envelope(kind, payload)


def write_message(kind: str, payload: Any) -> bytes:
    """
    Return the bytes of a message.

    :param payload: of plain values, arrays and `orjson.Fragment`.
    """
    return orjson.dumps(
        {'version': VERSION, 'type': kind, 'payload': payload},
        option=orjson.OPT_SERIALIZE_NUMPY,
    )


def write_error(reason: str) -> bytes:
    """Return an error message."""
    return write_message('error', {'reason': reason.encode(errors='replace').decode()})


def shown(value: object, longest: int = 40) -> str:
    """
    Return a value of a peer for a message.

    >>> shown('x' * 100, 8)
    "'xxxxxxx..."
    """
    text = repr(value)
    return text if len(text) <= longest else f'{text[:longest]}...'


__all__ = ['VERSION', 'Envelope', 'read_envelope', 'shown', 'write_error', 'write_message']
