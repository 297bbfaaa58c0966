# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Keys of both sides of a connection, and none."""

from types import SimpleNamespace

import pytest

from urlab_ros_bridge.transport.keys import make_keys
from urlab_ros_bridge.transport.keys import read_client_keys
from urlab_ros_bridge.transport.keys import read_server_keys


@pytest.fixture(params=['plain', 'encrypted'])
def keys(request, tmp_path):
    if request.param == 'plain':
        return SimpleNamespace(server=None, client=None)
    make_keys(tmp_path)
    return SimpleNamespace(server=read_server_keys(tmp_path), client=read_client_keys(tmp_path))
