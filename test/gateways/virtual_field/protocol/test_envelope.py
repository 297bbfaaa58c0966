# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The envelope of messages, and the reasons of its errors."""

import json

from hypothesis import given
from hypothesis import strategies as st
import pytest

from urlab_ros_bridge.gateways.virtual_field.errors import BadMessage
from urlab_ros_bridge.gateways.virtual_field.protocol.envelope import Envelope
from urlab_ros_bridge.gateways.virtual_field.protocol.envelope import read_envelope
from urlab_ros_bridge.gateways.virtual_field.protocol.envelope import write_error
from urlab_ros_bridge.gateways.virtual_field.protocol.envelope import write_message

TEXTS = st.text(st.characters(exclude_categories=['Cs']))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | TEXTS
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)  # fmt: skip
_KEYS = 'message must contain version, type, and payload'


@given(TEXTS, VALUES)
def test_a_written_message_is_read_back(kind, value):
    message = write_message(kind, {'value': value})
    assert read_envelope(message) == Envelope(kind, {'value': value})
    assert json.loads(message) == {'version': 1, 'type': kind, 'payload': {'value': value}}


@pytest.mark.parametrize(
    ('message', 'reason'),
    [
        ('[1, 2]', _KEYS),
        ('{"version": 1, "type": "hello"}', _KEYS),
        ('{"version": 2, "type": "hello", "payload": {}}', 'unsupported protocol version 2'),
        ('{"version": true, "type": "hello", "payload": {}}', 'unsupported protocol version True'),
        ('{"version": 1, "type": 5, "payload": {}}', 'message type must be a string'),
        ('{"version": 1, "type": "x", "payload": []}', 'message payload must be a dictionary'),
        ('{"version": 1, "type": "x", "payload": {"a": NaN}}', 'this is not JSON'),
        ('{"version": 1, "type": "x", "payload": {"a": 1e999}}', 'this is not JSON'),
        ('[' * 100_000, 'this is not JSON'),
        ('"\\ud800"', 'this is not JSON'),
    ],
)
def test_reasons(message, reason):
    with pytest.raises(BadMessage) as caught:
        read_envelope(message.encode())
    assert str(caught.value).startswith(reason)


def test_errors_can_be_sent_whatever_they_quote():
    assert json.loads(write_error('\ud800'))['payload'] == {'reason': '?'}
