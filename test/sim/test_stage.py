# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A server outlives its worlds: what answers while none runs, and how the next one begins."""

from time import monotonic
from time import sleep

import pytest
from spawn_models import BOX
import zmq

from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.model.world import load_world
from urlab_ros_bridge.sim.stage import build_context
from urlab_ros_bridge.sim.stage import Stage


def another(server, **config):
    config = ServerConfig(world='quadruped', **config)
    return build_context(config, server.stage.data, load_world(config))


def test_a_session_lives_on_in_the_next_world_and_counts_its_steps_anew(server, connect):
    running = server()
    caller = connect(running, encoding='json')
    assert caller.ask('step', n_steps=7)['step'] == 7
    running.stage.close()
    running.stage.open(another(running, paused=True))
    caller.ask('set_mode', mode='direct')
    reply = caller.ask('step', n_steps=2)
    assert list(reply['per_articulation']) == ['quadruped']
    assert (reply['step'], reply['time']) == (2, pytest.approx(2 * 0.002))


def test_the_model_shipped_is_that_of_the_running_world(server, connect):
    running = server()
    caller = connect(running)
    first = caller.hello()['mjb']
    running.stage.close()
    running.stage.open(another(running))
    second = caller.hello()
    assert second['mjb'] != first
    assert second['mjb'] == running.context.world.compiled_model()


def test_a_step_that_waits_answers_when_its_world_goes(server, connect):
    running = server(step_mode='direct', paused=True)
    caller = connect(running)
    caller.socket.send(b'{"op":"step","session_id":"%s"}' % caller.session_id.encode())
    assert not caller.socket.poll(300)
    running.stage.close()
    assert b'shutting_down' in caller.socket.recv()


def test_a_request_that_comes_while_the_server_stops_is_told_so(server, connect):
    running = server()
    caller = connect(running)
    running.stage.draining = True
    running.stage.close()
    assert caller.code('step') == 'shutting_down'


def test_time_goes_on_in_a_changed_world_however_soon_the_old_one_ends(server, connect):
    """The old world's loop may have ended before the new one is told to begin."""
    running = server()
    caller = connect(running)
    caller.ask('set_mode', mode='live')
    old, replace = running.context.live, running.stage._replace_services

    def late(before, after):
        old.join(20.0)
        assert not old.is_alive()
        replace(before, after)

    running.stage._replace_services = late
    caller.ask('spawn_entity', name='box', xml=BOX)
    data, deadline = running.context.world.data, monotonic() + 60.0
    time = data.time
    while data.time <= time:
        assert monotonic() < deadline, 'time stands still'
        sleep(0.01)


def test_a_world_whose_time_never_began_can_be_closed():
    config = ServerConfig(cameras='off')
    stage = Stage(config)
    stage.context = build_context(config, stage.data, load_world(config))
    stage.close()
    assert stage.context is None


def test_the_state_stream_goes_on_with_the_next_world(server):
    running = server()
    listener = zmq.Context.instance().socket(zmq.SUB)
    listener.setsockopt(zmq.RCVTIMEO, 5000)
    listener.subscribe(b'')
    listener.connect(running.endpoints['state'])
    try:
        while not listener.recv_multipart()[0].startswith(b'rover/'):
            pass
        running.stage.close()
        running.stage.open(another(running))
        while not listener.recv_multipart()[0].startswith(b'quadruped/'):
            pass
    finally:
        listener.close(linger=0)


def test_parts_are_closed_in_reverse_even_when_one_breaks():
    stage, told = Stage(ServerConfig()), []

    class Part:
        def __init__(self, name):
            self.name = name

        def close(self):
            told.append(self.name)
            if self.name == 'b':
                raise RuntimeError('stuck')

    for name in 'abc':
        stage.add_service(lambda context, name=name: Part(name))
    stage.open(build_context(stage.config, stage.data, load_world(stage.config)))
    with pytest.raises(RuntimeError, match='running already'):
        stage.open(stage.context)
    stage.close()
    stage.close()
    assert told == ['c', 'b', 'a'] and stage.context is None
