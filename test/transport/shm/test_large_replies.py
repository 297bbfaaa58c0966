# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Keeping replies that did not fit: handed out once, and not too many."""

from urlab_ros_bridge.transport.shm import server
from urlab_ros_bridge.transport.shm.server import LargeReplies
from urlab_ros_bridge.transport.shm.server import MAX_KEPT


def test_replies_are_handed_out_once_and_memory_is_bounded(monkeypatch):
    large = LargeReplies()
    for number in range(3 * MAX_KEPT):
        large.keep(b'%d' % number, b'reply')
    kept = [large.take(b'%d' % number) for number in range(3 * MAX_KEPT)]
    assert kept == [None] * (2 * MAX_KEPT) + [b'reply'] * MAX_KEPT
    assert large.take(b'%d' % number) is None
    monkeypatch.setattr(server, '_MAX_BYTES', 3)
    large.keep(b'request', b'reply')
    assert large.take(b'request') is None
