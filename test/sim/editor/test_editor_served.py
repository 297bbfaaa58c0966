# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The editor of a running server, over its socket."""

import threading
import time

import pytest


def test_a_world_that_is_given_is_the_open_level_and_runs(server, connect):
    caller = connect(server(editor=True, world='rover'), timeout=20)
    assert caller.hello()['manager_present'] is True
    assert caller.ask('pie_status')['state'] == 'ready'
    assert [row['name'] for row in caller.ask('list_actors')['actors']] == ['rover']
    assert caller.ask('step', n_steps=2)['per_articulation'].keys() == {'rover'}
    caller.ask('stop_pie')
    assert caller.hello()['manager_present'] is False
    assert caller.ask('begin_pie')['state'] == 'ready'


def test_without_an_editor_its_ops_are_refused(server, connect):
    caller = connect(server())
    for op, fields in (('list_actors', {}), ('begin_pie', {}), ('draw_axes', {'location': [0]})):
        assert caller.code(op, **fields) == 'not_in_editor'
    assert caller.code('read_markers') == 'unknown_op'


def test_a_start_that_fails_leaves_nothing_behind(server, tmp_path):
    from urlab_ros_bridge.sim.errors import WorldError

    path = tmp_path / 'bad.xml'
    path.write_text('<mujoco><worldbody><geom size="0"/></worldbody></mujoco>')
    threads = threading.active_count()
    with pytest.raises(WorldError, match='size 0 must be positive'):
        server(editor=True, model=path)
    assert threading.active_count() <= threads


def test_other_clients_are_served_while_the_editor_is_busy(server, connect, tmp_path):
    running = server(editor=True, world='', data_dir=tmp_path)
    busy, other = (connect(running, timeout=20, shared=True) for _ in range(2))
    with running.stage.editor.lock:
        thread = threading.Thread(target=busy.ask, args=('list_actors',))
        thread.start()
        time.sleep(0.1)
        other.ask('status')
        other.ask('pie_status')
        assert thread.is_alive()
    thread.join(20)
    assert not thread.is_alive()
