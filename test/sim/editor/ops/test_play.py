# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Play by requests: compiling, moving things meanwhile, and coming back."""

from dispatching import dispatch
from example_counts import examples
from hypothesis import given
from hypothesis import HealthCheck
from hypothesis import settings
from hypothesis import strategies as st
import mujoco
import numpy as np
import pytest

from urlab_ros_bridge.sim.editor.transforms import from_euler
from urlab_ros_bridge.wire.encoding import codec
from urlab_ros_bridge.wire.errors import ERROR_CODES
from urlab_ros_bridge.wire.ops import EDITOR_ONLY
from urlab_ros_bridge.wire.ops import OPS


@pytest.fixture
def playing(desk):
    """Return a desk in play, time held still: a robot, crates of every kind, a lamp."""
    desk = type(desk)(desk.folder, paused=True)
    desk.ask('create_level', name='hall', scene='rover')
    desk.ask('import_xml', path='arm.xml')
    pose = {'location': [3, -2, 0], 'rotation_euler': [0, 0, 90]}
    desk.ask('spawn_actor', blueprint='arm', actor_id='robot', **pose)
    for physics in ('static', 'dynamic', 'mocap'):
        desk.ask('spawn_actor', blueprint='box', actor_id=physics, physics=physics)
    desk.ask('spawn_light', actor_id='lamp')
    desk.play()
    yield desk
    desk.editor.close()


def live(desk):
    return {row['name']: row for row in desk.ask('find_actors', in_pie=True)['actors']}


def test_before_play_there_is_no_manager(desk):
    assert desk.code('step') == 'no_active_manager'
    assert desk.ask('pie_status') == {'op': 'pie_status_ok', 'state': 'off', 'compile_error': ''}
    desk.ask('stop_pie')


def test_play_answers_with_the_handshake_of_the_same_session(playing):
    reply = playing.ask('begin_pie')
    payload = reply['handshake_payload']
    hello = playing.ask('hello', shared=True)
    playing.session_id = hello['session_id']
    assert payload['op'] == 'hello_ok' and payload['session_id'] != hello['session_id']
    assert {**payload, 'session_id': ''} == {**hello, 'session_id': ''}
    assert [item['prefix'] for item in payload['articulations']] == ['robot']
    assert {'dynamic', 'mocap', 'pallet'} <= set(payload['entities'])
    assert playing.ask('pie_status')['sim_time'] == 0.0


def test_a_model_that_does_not_compile_says_so_in_the_compilers_words(desk):
    desk.ask('import_xml', path='arm.xml')
    desk.ask('spawn_actor', blueprint='arm', actor_id='a')
    desk.write('arm.xml', '<mujoco><worldbody><geom type="box" size="1"/></worldbody></mujoco>')
    with pytest.raises(ValueError) as caught:
        mujoco.MjModel.from_xml_path(str(desk.folder / 'arm.xml'))
    reply = desk.ask('begin_pie')
    assert reply['state'] == 'compile_failed' and 'handshake_payload' not in reply
    assert str(caught.value).splitlines()[0] in reply['compile_error']
    status = desk.ask('pie_status')
    assert (status['state'], status['compile_error']) == (
        'compile_failed',
        reply['compile_error'],
    )
    assert desk.code('step') == 'no_active_manager'
    desk.ask('destroy_actor', target='a')
    assert desk.ask('begin_pie')['state'] == 'ready'


def test_a_plain_session_that_begins_play_steps_directly_as_after_a_hello(desk):
    desk.session_id = desk.ask('hello')['session_id']
    desk.play()
    assert desk.stage.context.engine.run.mode == 'direct'
    assert desk.ask('step', n_steps=3)['step'] == 3


@pytest.mark.parametrize('name', ['robot', 'dynamic', 'mocap'])
def test_what_can_move_is_moved_in_the_running_world_too(playing, name):
    quat = list(from_euler((0, 0, 180)))
    before = playing.ask('get_actor_bounds', target=name, in_pie=True)
    start = live(playing)[name]
    reply = playing.ask('set_actor_transform', target=name, location=[7, 8, 9])
    assert reply['requires_pie_restart'] is False
    after = playing.ask('get_actor_bounds', target=name, in_pie=True)
    shift = np.subtract([7, 8, 9], start['location'])
    assert np.subtract(after['min'], before['min']) == pytest.approx(shift, abs=1e-9)
    assert np.subtract(after['max'], before['max']) == pytest.approx(shift, abs=1e-9)
    playing.ask('set_actor_transform', target=name, rotation_quat=quat)
    now = live(playing)[name]
    assert now['location'] == pytest.approx([7, 8, 9])
    assert np.abs(now['rotation_quat']) == pytest.approx(np.abs(quat), abs=1e-9)
    # Beginning anew puts it where the level has it now: the same place.
    running = live(playing)[name]
    playing.ask('stop_pie')
    playing.play()
    assert live(playing)[name]['location'] == pytest.approx(running['location'])


def test_what_cannot_move_waits_for_the_next_start(playing):
    for name in ('static', 'lamp'):
        reply = playing.ask('set_actor_transform', target=name, location=[7, 8, 9])
        assert reply['requires_pie_restart'] is True
    assert live(playing)['static']['location'] == [0, 0, 0]
    assert playing.actors()['static']['location'] == [7, 8, 9]
    for op, fields in (
        ('spawn_actor', {'blueprint': 'box', 'actor_id': 'new'}),
        ('spawn_light', {}),
        ('duplicate_actor', {'target': 'static', 'new_actor_id': 'twin'}),
        ('destroy_actor', {'target': 'dynamic'}),
    ):
        assert playing.ask(op, **fields)['requires_pie_restart'] is True
    assert 'new' not in live(playing) and 'new' in playing.actors()
    assert mujoco.mj_name2id(playing.world.model, mujoco.mjtObj.mjOBJ_BODY, 'dynamic') > 0


def test_bodies_of_the_scene_file_move_in_play_but_are_not_edited(playing):
    rows = live(playing)
    assert rows['pallet']['class'] == 'SceneBody' and rows['pallet']['actor_id'] == ''
    for name in ('pallet', 'target'):
        playing.ask('set_actor_transform', target=name, location=[1, 1, 2])
        assert live(playing)[name]['location'] == pytest.approx([1, 1, 2])
        assert playing.ask('get_actor_bounds', target=name)['center'][:2] == pytest.approx(
            [1, 1], abs=0.01
        )
    assert playing.code('destroy_actor', target='pallet') == 'destroy_failed'
    assert playing.code('duplicate_actor', target='pallet', new_actor_id='x') == 'duplicate_failed'
    assert playing.code('add_quick_convert', target='pallet') == 'add_quick_convert_failed'
    assert 'pallet' not in playing.actors()
    playing.ask('stop_pie')
    assert playing.code('set_actor_transform', target='pallet') == 'unknown_actor'


def test_begin_with_a_level_path_opens_it_and_begins_anew(playing):
    playing.ask('save_level')
    first = playing.stage.context
    reply = playing.ask('begin_pie', level_path='hall')
    assert reply['state'] == 'ready' and playing.stage.context is not first
    assert playing.code('begin_pie', level_path='nowhere') == 'load_level_failed'
    assert playing.ask('pie_status')['state'] == 'ready'


simple = st.none() | st.booleans() | st.floats() | st.integers(-(2**40), 2**40)
junk = st.recursive(
    simple | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)
EDITOR_OPS = sorted(op.name for op in OPS.values() if op.category == EDITOR_ONLY)
PLAUSIBLE = ['box', 'a', 'b', [1, 2, 3], [0, 0, 0, 1], 2, 0.5, True]


@settings(
    max_examples=examples(300),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.data())
def test_any_fields_give_a_reply_or_an_error_of_the_table(desk, data):
    op = OPS[data.draw(st.sampled_from(EDITOR_OPS))]
    names = {*op.required, *op.optional} - {'timeout_s'}
    fields = {name: data.draw(st.sampled_from(PLAUSIBLE) | junk) for name in sorted(names)}
    request = {'op': op.name, 'session_id': desk.session_id, **fields}
    reply = codec.unpack(dispatch(desk.dispatcher, codec.pack(request)), 1 << 30)
    if reply['op'] == 'error':
        assert reply['code'] in ERROR_CODES and reply['code'] != 'internal_error', request
    else:
        assert reply['op'].endswith('_ok')
