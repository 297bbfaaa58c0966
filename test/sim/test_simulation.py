# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A server outlives its worlds: sessions and time continue in the next one."""

import pytest
from spawn_models import BOX
from waiting import wait_until

from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.model.world import load_world
from urlab_ros_bridge.sim.simulation import build_simulation


def another(server, **config):
    config = ServerConfig(world='quadruped', **config)
    return build_simulation(config, server.host.data, load_world(config))


def test_a_session_survives_a_change_of_world_and_its_steps_start_at_zero(server, connect):
    running = server()
    caller = connect(running, encoding='json')
    assert caller.ask('step', n_steps=7)['step'] == 7
    running.host.close()
    running.host.open(another(running, paused=True))
    caller.ask('set_mode', mode='direct')
    reply = caller.ask('step', n_steps=2)
    assert list(reply['per_articulation']) == ['quadruped']
    assert (reply['step'], reply['time']) == (2, pytest.approx(2 * 0.002))


def test_time_continues_in_a_changed_world_even_if_the_old_loop_ended_first(server, connect):
    """The old world's loop may have ended before the new one starts."""
    running = server()
    caller = connect(running)
    caller.ask('set_mode', mode='live')
    old, replace = running.simulation.live, running.host._replace_services

    def late(before, after):
        old.join(20.0)
        assert not old.is_alive()
        replace(before, after)

    running.host._replace_services = late
    caller.ask('spawn_entity', name='box', xml=BOX)
    data = running.simulation.world.data
    before = data.time
    wait_until(lambda: data.time > before)
