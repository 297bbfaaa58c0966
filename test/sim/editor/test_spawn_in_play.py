# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Spawning into the world that an editor plays: it is not the level that changes."""

from urlab_ros_bridge.models import world_path

BOX = """<mujoco><worldbody><body><freejoint/><geom type="box" size="0.1 0.1 0.1"/></body>
  </worldbody></mujoco>"""


def names(caller, **fields):
    return [actor['name'] for actor in caller.ask('find_actors', **fields)['actors']]


def test_what_is_spawned_in_play_is_gone_with_it(server, connect):
    running = server(editor=True, world='', cameras='off')
    caller = connect(running)
    caller.ask('load_level', level_path=str(world_path('rover')))
    assert caller.code('spawn_entity', name='box', xml=BOX) == 'no_active_manager'
    assert caller.code('delete_entity', entity='rover') == 'no_active_manager'
    assert caller.ask('begin_pie')['state'] == 'ready'
    revision = caller.ask('status')['world_revision']
    assert (
        'box' in caller.ask('spawn_entity', name='box', xml=BOX)['handshake_payload']['entities']
    )
    caller.ask('delete_entity', entity='rover')
    assert caller.ask('status')['world_revision'] == revision + 2
    assert names(caller) == ['rover'], 'the level is as it was'
    assert {'box', 'pallet'} <= set(names(caller, in_pie=True))
    assert caller.ask('pie_status')['state'] == 'ready' and caller.ask('get_camera')['fov'] > 0
    caller.ask('stop_pie')
    assert caller.ask('status')['world_revision'] == revision + 2
    again = caller.ask('begin_pie')['handshake_payload']
    assert [block['prefix'] for block in again['articulations']] == ['rover']
    assert 'box' not in again['entities']
    assert caller.ask('status')['world_revision'] == revision + 3
