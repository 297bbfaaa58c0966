# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The editor of a running server, over its socket."""


def test_a_world_that_is_given_is_the_open_level_and_runs(server, connect):
    caller = connect(server(editor=True, world='rover'), timeout=20)
    assert caller.hello()['manager_present'] is True
    assert caller.ask('pie_status')['state'] == 'ready'
    assert [row['name'] for row in caller.ask('list_actors')['actors']] == ['rover']
    assert caller.ask('step', n_steps=2)['per_articulation'].keys() == {'rover'}
    caller.ask('stop_pie')
    assert caller.hello()['manager_present'] is False
    assert caller.ask('begin_pie')['state'] == 'ready'
