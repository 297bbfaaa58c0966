# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Work that nothing can interrupt."""

import threading

import pytest

from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.requests.background import abandonable


def test_the_result_or_error_of_background_work_is_passed_on():
    assert abandonable(lambda: 7, lambda: False) == 7
    for error in (ValueError('x'), TimeoutError('y'), OpError('bad_value', 'z')):

        def fail(error=error):
            raise error

        with pytest.raises(type(error), match=str(error)):
            abandonable(fail, lambda: False)


def test_a_stopping_server_does_not_wait_for_background_work():
    never, draining = threading.Event(), threading.Event()
    threading.Timer(0.2, draining.set).start()
    with pytest.raises(OpError, match='began to shut down'):
        abandonable(never.wait, draining.is_set)
    never.set()
