# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Domain randomisation by the typed client."""

import pytest

from urlab_ros_bridge.client.client import Client
from urlab_ros_bridge.client.errors import BadValue


def test_the_typed_client_randomizes_and_restores(server):
    running = server(world='quadruped')
    with Client('127.0.0.1', int(running.endpoints['rpc'].rpartition(':')[2]), shared=True) as c:
        items = {'mass': {'scale': [0.9, 1.1], 'articulation': 'quadruped', 'bodies': 'base*'}}
        done = c.randomize(items, seed=4)
        assert done.seed == 4 and [name[:14] for name in done.items['mass']] == ['quadruped_base']
        assert c.randomize(items, seed=4) == done
        assert c.randomize(restore=True).restored
        with pytest.raises(BadValue, match='available'):
            c.randomize({'weight': {}})
