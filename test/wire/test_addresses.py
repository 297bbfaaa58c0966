# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Which addresses only this machine can reach."""

from urlab_ros_bridge.wire.addresses import is_loopback


def test_loopback_addresses_are_known():
    for address in ('127.0.0.1', '[::1]', 'localhost', 'lo'):
        assert is_loopback(address) is True
    for address in ('0.0.0.0', '*', 'eth0'):
        assert is_loopback(address) is False
