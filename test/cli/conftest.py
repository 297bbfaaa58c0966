# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the command line."""

import signal

import pytest


@pytest.fixture(autouse=True)
def _hangups_count():
    """Have SIGHUP end programs that are started here, also in a test run under nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)
