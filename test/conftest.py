# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What holds for all tests."""

import logging

from hypothesis import HealthCheck
from hypothesis import settings
import pytest

# How long an example takes says more about the machine than about what is tested.
settings.register_profile(
    'urlab', settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile('urlab')


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol():
    """Programs that run inside a test set up the project's logging; the next test has its own."""
    logger = logging.getLogger('urlab_ros_bridge')
    handlers, level, propagate = list(logger.handlers), logger.level, logger.propagate
    try:
        return (yield)
    finally:
        logger.handlers, logger.propagate = handlers, propagate
        logger.setLevel(level)


@pytest.fixture(scope='session', autouse=True)
def _data_of_tests(tmp_path_factory):
    """Servers that are given no data folder must not write into the user's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('XDG_DATA_HOME', str(tmp_path_factory.mktemp('data')))
        yield
