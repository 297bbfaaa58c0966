# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Addresses that sockets bind: which of them only this machine can reach."""

from __future__ import annotations

import ipaddress


def is_loopback(address: str) -> bool:
    """
    Return whether only this machine can reach a socket that binds `address`.

    >>> is_loopback('127.0.0.1'), is_loopback('0.0.0.0'), is_loopback('*'), is_loopback('eth0')
    (True, False, False, False)
    """
    if address in ('localhost', 'lo'):
        return True
    try:
        return ipaddress.ip_address(address.strip('[]')).is_loopback
    except ValueError:
        return False
