# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A whole session of the editor over its socket, as a stock client has it."""

from pathlib import Path
import re
import threading
import time

import pytest

# A model as found elsewhere: includes, a folder for meshes, defaults, unnamed elements.
BODY = """
<mujoco>
  <compiler meshdir="parts" angle="degree"/>
  <default><default class="leg"><joint range="-60 60" limited="true"/></default></default>
  <asset><mesh name="hull" file="hull.obj" scale="0.1 0.1 0.1"/></asset>
  <worldbody>
    <body pos="0 0 0.3">
      <freejoint/>
      <geom type="mesh" mesh="hull"/>
      <body pos="0 0 -0.1">
        <joint class="leg" axis="0 1 0"/>
        <geom type="capsule" size="0.02" fromto="0 0 0 0 0 -0.15"/>
      </body>
    </body>
  </worldbody>
  <actuator><position joint="HingeJoint" kp="5"/></actuator>
</mujoco>
"""
OCTAHEDRON = """
v 1 0 0
v -1 0 0
v 0 1 0
v 0 -1 0
v 0 0 1
v 0 0 -1
f 1 3 5
f 3 2 5
f 2 4 5
f 4 1 5
f 3 1 6
f 2 3 6
f 4 2 6
f 1 4 6
"""


@pytest.fixture
def data(tmp_path):
    (tmp_path / 'bots' / 'parts').mkdir(parents=True)
    (tmp_path / 'bots' / 'parts' / 'hull.obj').write_text(OCTAHEDRON)
    body = BODY.replace('joint class="leg"', 'joint name="HingeJoint" class="leg"')
    (tmp_path / 'bots' / 'body.xml').write_text(body)
    (tmp_path / 'bots' / 'hopper.xml').write_text('<mujoco><include file="body.xml"/></mujoco>')
    return tmp_path


def build(caller):
    """Build a level: two foreign robots, a grid of crates, a floor and a light."""
    caller.ask('create_level', name='yard')
    blueprint = caller.ask('import_xml', path='bots/hopper.xml')['blueprint_class_path']
    for index in range(2):
        place = [2.0 * index, 0, 0]
        caller.ask('spawn_actor', blueprint=blueprint, actor_id=f'hop_{index}', location=place)
    caller.ask('spawn_actor', blueprint='plane', actor_id='floor', scale=[20, 20, 1])
    caller.ask('add_quick_convert', target='floor', static=True)
    grid = {'base_actor_id': 'crate', 'count_x': 2, 'count_y': 3, 'origin': [0, 4, 0.5]}
    caller.ask('spawn_grid', blueprint='box', physics='dynamic', **grid)
    caller.ask('spawn_light', kind='directional', rotation_euler=[0, 60, 0], actor_id='sun')


def test_a_whole_session(server, connect, data):
    running = server(editor=True, world='', data_dir=data)
    caller = connect(running, timeout=20)
    assert caller.hello()['manager_present'] is False
    assert caller.code('set_paused', paused=False) == 'no_active_manager'
    build(caller)
    reply = caller.ask('begin_pie')
    assert (reply['state'], reply['compile_error']) == ('ready', '')
    payload = reply['handshake_payload']
    assert payload['session_id'] == caller.session_id and payload['manager_present'] is True
    assert [item['prefix'] for item in payload['articulations']] == ['hop_0', 'hop_1']
    assert (
        len(payload['entities']) == 6 and payload['mjb'] == running.context.world.compiled_model()
    )

    step = caller.ask('step', n_steps=500, per_articulation={'hop_0': {'ctrl': [0.5]}})
    assert step['step'] == 500 and step['time'] == pytest.approx(1.0)
    for robot in step['per_articulation'].values():
        assert 0 < robot['qpos'][2] < 0.4  # it stands or lies on the floor
    assert step['entities']['crate_1_2']['xpos'] == pytest.approx([1, 6, 0.5], abs=0.01)
    assert step['per_articulation']['hop_0']['qpos'][7] > 0.3
    assert caller.ask('pie_status')['sim_time'] == pytest.approx(1.0)

    caller.ask('stop_pie')
    assert caller.code('step') == 'no_active_manager'
    saved = Path(caller.ask('save_level')['level_path'])
    before = caller.ask('snapshot')
    (data / 'bots' / 'body.xml').write_text(BODY.replace('type="mesh"', 'type="mush"'))
    broken = caller.ask('begin_pie')
    assert broken['state'] == 'compile_failed'
    assert 'mush' in broken['compile_error'] and 'handshake_payload' not in broken
    assert caller.hello()['manager_present'] is False
    (data / 'bots' / 'body.xml').write_text(
        BODY.replace('joint class="leg"', 'joint name="HingeJoint" class="leg"')
    )

    fresh = connect(server(editor=True, world='', data_dir=data), timeout=20)
    assert fresh.ask('load_level', level_path='yard')['level_path'] == str(saved)
    assert fresh.ask('snapshot') == before
    again = fresh.ask('begin_pie')['handshake_payload']
    by_file = connect(server(model=saved), timeout=20).hello()
    for hello in (again, by_file):
        assert [item['prefix'] for item in hello['articulations']] == ['hop_0', 'hop_1']
        assert hello['entities'] == payload['entities']
    # MuJoCo keeps the paths of files, and each server has copies in a folder of its own.
    first, second = (re.sub(rb'models/[\w-]+', b'', hello['mjb']) for hello in (again, payload))
    assert first == second
    # The viewport's camera is all that a server without an editor leaves out.
    assert [list(hello['global_cameras']) for hello in (again, by_file)] == [['viewport'], []]


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


def test_other_clients_are_served_while_the_editor_is_busy(server, connect, data):
    running = server(editor=True, world='', data_dir=data)
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
