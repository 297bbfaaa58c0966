# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Domain randomisation by the typed client, and what cameras show of it."""

import numpy as np
import pytest

from urlab_ros_bridge.client.client import Client
from urlab_ros_bridge.client.errors import BadValue
from urlab_ros_bridge.sim.cameras.renderer import environment


def test_the_typed_client(server):
    running = server(world='quadruped')
    with Client('127.0.0.1', int(running.endpoints['rpc'].rpartition(':')[2]), shared=True) as c:
        items = {'mass': {'scale': [0.9, 1.1], 'articulation': 'quadruped', 'bodies': 'base*'}}
        done = c.randomize(items, seed=4)
        assert done.seed == 4 and [name[:14] for name in done.items['mass']] == ['quadruped_base']
        assert c.randomize(items, seed=4) == done
        assert c.randomize(restore=True).restored
        with pytest.raises(BadValue, match='available'):
            c.randomize({'weight': {}})


@pytest.mark.parametrize('item', [None, {}, [], 0, 1.5, '', 'x', True, {'scale': None}, {'': 1}])
def test_an_item_that_says_nothing_is_refused(rover, item):
    for kind in ('mass', 'friction', 'color'):
        code = rover.code('randomize', items={kind: item})
        assert code in ('bad_value', 'missing_field')


@pytest.mark.skipif(
    all(environment.missing_library(name) for name in environment.BACKENDS),
    reason='OpenGL is not installed',
)
def test_cameras_show_it_from_the_next_frame_on(server):
    running = server()
    with Client(rpc_port=int(running.endpoints['rpc'].rpartition(':')[2]), timeout=30.0) as client:

        def picture():
            frame = client.step(include_cameras={'front_rgb': 'sync'}, timeout=30.0)
            return np.array(frame.cameras['front_rgb'].pixels, float)

        visual = {'color': {'value': [0.0, 1.0]}, 'light_position': {'offset': [-0.5, 0.5]}}
        client.randomize(visual, seed=1)
        changed = picture()
        client.randomize(restore=True)
        plain = picture()
        assert np.abs(changed - plain).mean() > 5
        client.randomize(visual, seed=1)
        assert np.abs(picture() - changed).mean() < 0.5
