# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Robots that are described, of all kinds."""

from pathlib import Path
import sys

import pytest

sys.path.insert(0, str(Path(__file__).parent))


def pytest_generate_tests(metafunc):
    """Run a test that asks for `described` with every robot."""
    if 'described' in metafunc.fixturenames:
        from described import ROBOTS

        metafunc.parametrize('described', ROBOTS, indirect=True)


@pytest.fixture(scope='session')
def described(request, tmp_path_factory):
    from described import Described

    return Described(request.param, tmp_path_factory.mktemp('meshes'))


@pytest.fixture(scope='session')
def describe(tmp_path_factory):
    """Return a function: name of a robot, settings -> description."""
    from described import Described

    return lambda name, **settings: Described(name, tmp_path_factory.mktemp('meshes'), **settings)
