# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0

import logging

from urlab_ros_bridge import limited_log
from urlab_ros_bridge.limited_log import LimitedLog


def test_what_is_beyond_the_limit_is_counted(monkeypatch, caplog):
    now = 0.0
    monkeypatch.setattr(limited_log.time, 'monotonic', lambda: now)
    log = LimitedLog(logging.getLogger('some.gateway'), per_second=1.0, burst=3)
    for number in range(10):
        log.warning('message %d', number)
    assert caplog.messages == [f'message {number}' for number in range(3)]
    now = 1.0
    for number in range(10, 20):
        log.warning('message %d', number)
    assert caplog.messages[3:] == ['message 10 (7 earlier messages omitted)']
