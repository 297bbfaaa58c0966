# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Work that nothing can interrupt."""

import threading

import pytest

from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.requests.background import abandonable


def test_its_result_or_its_error_is_handed_on():
    assert abandonable(lambda: 7, lambda: False) == 7
    for error in (ValueError('x'), TimeoutError('y'), OpError('bad_value', 'z')):

        def fail(error=error):
            raise error

        with pytest.raises(type(error), match=str(error)):
            abandonable(fail, lambda: False)


def test_nobody_waits_for_it_when_the_server_stops():
    never, draining = threading.Event(), threading.Event()
    threading.Timer(0.2, draining.set).start()
    with pytest.raises(OpError, match='began to shut down'):
        abandonable(never.wait, draining.is_set)
    never.set()
