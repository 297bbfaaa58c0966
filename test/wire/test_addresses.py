# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Which addresses only this machine can reach."""

import pytest

from urlab_ros_bridge.wire.addresses import is_loopback


@pytest.mark.parametrize(
    ('address', 'expected'),
    [
        ('127.0.0.1', True),
        ('[::1]', True),
        ('localhost', True),
        ('lo', True),
        ('0.0.0.0', False),
        ('*', False),
        ('eth0', False),
    ],
)
def test_loopback_addresses_are_known(address, expected):
    assert is_loopback(address) is expected
