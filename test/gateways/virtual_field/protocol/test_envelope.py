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


@given(TEXTS, VALUES)
def test_a_written_message_is_read_back(kind, value):
    message = write_message(kind, {'value': value})
    assert read_envelope(message) == Envelope(kind, {'value': value})
    assert json.loads(message) == {'version': 1, 'type': kind, 'payload': {'value': value}}


@pytest.mark.parametrize(
    'message',
    [
        '[1, 2]',
        '{"version": 1, "type": "hello"}',
        '{"version": true, "type": "hello", "payload": {}}',
        '{"version": 1, "type": 5, "payload": {}}',
        '{"version": 1, "type": "x", "payload": []}',
        '{"version": 1, "type": "x", "payload": {"a": NaN}}',
        '{"version": 1, "type": "x", "payload": {"a": 1e999}}',
        '[' * 100_000,
        '"\\ud800"',
    ],
    ids=lambda message: message[:50],
)
def test_what_is_no_message_of_the_protocol_is_refused(message):
    with pytest.raises(BadMessage):
        read_envelope(message.encode())


def test_errors_can_be_sent_whatever_they_quote():
    assert json.loads(write_error('\ud800'))['payload'] == {'reason': '?'}
