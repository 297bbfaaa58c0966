# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0

import json
import struct

import pytest

from urlab_ros_bridge.gateways.virtual_field.page import messages


def test_a_number_that_is_not_finite_is_null_in_json():
    data = messages.text({'a': float('inf'), 'b': [float('nan'), 1.5], 'c': {'d': -float('inf')}})
    assert data[0] == messages.TEXT
    assert json.loads(data[1:]) == {'a': None, 'b': [None, 1.5], 'c': {'d': None}}


@pytest.mark.parametrize(
    'data',
    [
        b'\x09', b'\x02[]', b'\x05\0\0\0', b'\x02{"op": 3}', b'\x02{"op": "x", "id": true}',
        b'\x02{"op": "x", "id": 1%s}' % (b'0' * 400), b'\x02' + b'[' * 60000,
        b'\x02{"op": "x"}' + b' ' * messages.MAX_TEXT,
    ],
    ids=lambda data: repr(data[:30]),
)  # fmt: skip
def test_what_is_no_message_of_a_page_is_refused(data):
    with pytest.raises(messages.BadPageMessage):
        messages.read_message(data)


def test_requests_and_acknowledgements_are_read():
    assert messages.read_message(struct.pack('<B3xI', messages.ACK, 7)) == 7
    said = messages.read_message(b'\x02{"op": "step", "id": 4, "count": 3}')
    assert said == messages.Request('step', 4, {'count': 3})
