# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The first message of a client, and the reply."""

from __future__ import annotations

from dataclasses import dataclass
import time
from typing import Any

from urlab_ros_bridge.gateways.virtual_field.errors import BadMessage
from urlab_ros_bridge.gateways.virtual_field.protocol.envelope import shown
from urlab_ros_bridge.gateways.virtual_field.protocol.envelope import VERSION
from urlab_ros_bridge.gateways.virtual_field.protocol.fields import PayloadFields

VR_CLIENT, SPECTATOR, PUBLISHER = 'vr_client', 'spectator', 'publisher'
ROLES = (VR_CLIENT, SPECTATOR, PUBLISHER)
# An extension for our own page: it is sent the scene as binary messages.
BINARY = 'binary'
EXTENSIONS = (BINARY,)
MAX_EXTENSIONS = 16
DEFAULT_ARMS = 2
MAX_ARMS = 64


@dataclass(frozen=True, slots=True)
class Hello:
    """
    The first message.

    :ivar arm_count: how many arms a vr_client asks for.
    :ivar user_id, owner_id: preferred ids, empty for none.
    :ivar extensions: those named by the client that are known here.
    """

    role: str
    client: str = ''
    arm_count: int = DEFAULT_ARMS
    character_mode: str = ''
    user_id: str = ''
    owner_id: str = ''
    extensions: tuple[str, ...] = ()


def read_hello(payload: dict[str, Any]) -> Hello:
    """
    Read the payload of a hello.

    A role that is absent or null is that of a vr_client, as with the original server.

    :raises BadMessage: for an unknown role, and for fields of the wrong kind.
    """
    fields = PayloadFields(payload)
    role = fields.text('role', VR_CLIENT)
    if role not in ROLES:
        raise BadMessage(f'unknown role {shown(role)}; valid: {", ".join(ROLES)}')
    count = fields.number('requested_arm_count', DEFAULT_ARMS, 1, MAX_ARMS)
    return Hello(
        role,
        fields.text('client', ''),
        int(count),
        fields.text('character_mode', ''),
        _identifier(fields, 'user_id'),
        _identifier(fields, 'owner_id'),
        _extensions(payload.get('extensions', [])),
    )


def acknowledge(
    hello: Hello, name: str, arm_ids: list[str], controlled: list[str]
) -> dict[str, Any]:
    """
    Return the payload of a hello_ack.

    :param name: the user id, of a publisher the owner id.
    """
    answer: dict[str, Any] = {'protocol': VERSION, 'server_time': time.time(), 'role': hello.role}
    if hello.role == PUBLISHER:
        answer['owner_id'] = name
    else:
        if hello.role == VR_CLIENT:
            answer['character_mode'] = hello.character_mode
        answer |= {'user_id': name, 'arm_ids': arm_ids, 'controlled_arm_ids': controlled}
    if hello.extensions:
        answer['extensions'] = list(hello.extensions)
    return answer


def _identifier(fields: PayloadFields, name: str) -> str:
    return '' if fields.values.get(name) in (None, '') else fields.name(name)


def _extensions(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) > MAX_EXTENSIONS:
        raise BadMessage(f'extensions must be a short list of names, got {shown(value)}')
    return tuple(name for name in EXTENSIONS if name in value)


__all__ = [
    'BINARY', 'EXTENSIONS', 'PUBLISHER', 'ROLES', 'SPECTATOR', 'VR_CLIENT', 'Hello', 'acknowledge',
    'read_hello',
]  # fmt: skip
