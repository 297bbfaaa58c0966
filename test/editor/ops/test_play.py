# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Play by requests: compiling, moving actors while it runs, and stopping."""

import threading

import mujoco
import numpy as np
import pytest

from urlab_ros_bridge.editor.level import Level
from urlab_ros_bridge.editor.play import LevelPlayer
from urlab_ros_bridge.editor.transforms import from_euler
from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.simulation import SimulationHost


@pytest.fixture
def playing(desk):
    """Return a desk in play, paused: a robot, crates of every kind, a lamp."""
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


def test_a_compile_error_has_the_text_of_the_compiler(desk):
    desk.ask('import_xml', path='arm.xml')
    desk.ask('spawn_actor', blueprint='arm', actor_id='a')
    desk.write('arm.xml', '<mujoco><worldbody><geom type="box" size="1"/></worldbody></mujoco>')
    with pytest.raises(ValueError) as caught:
        mujoco.MjModel.from_xml_path(str(desk.folder / 'arm.xml'))
    assert desk.ask('begin_pie')['state'] == 'compile_failed'
    status = desk.ask('pie_status')
    assert status['state'] == 'compile_failed'
    assert str(caught.value).splitlines()[0] in status['compile_error']
    assert desk.code('step') == 'no_active_manager'
    desk.ask('destroy_actor', target='a')
    assert desk.ask('begin_pie')['state'] == 'ready'


class Slow:
    """A description that is returned once `go` is set."""

    def __init__(self):
        self.go = threading.Event()

    def __call__(self):
        assert self.go.wait(10)
        return Level().spec()


def test_a_caller_times_out_while_the_compilation_continues(tmp_path):
    play, slow = LevelPlayer(SimulationHost(ServerConfig(data_dir=tmp_path))), Slow()
    assert play.begin(slow, 'a', {}, 0.05) == 'timeout' and play.state == 'compiling'
    slow.go.set()
    # The second caller waits for the first compilation, its own description is not used.
    assert play.begin(lambda: 1 / 0, 'b', {}, 10) == 'ready'
    # An error in the code is a failed compilation too.
    play.stop()
    assert play.begin(lambda: 1 / 0, 'b', {}, 10) == 'compile_failed'
    play.close()


def test_a_plain_session_that_begins_play_steps_directly_as_after_a_hello(desk):
    desk.session_id = desk.ask('hello')['session_id']
    desk.play()
    assert desk.host.simulation.engine.run.mode == 'direct'
    assert desk.ask('step', n_steps=3)['step'] == 3


@pytest.mark.parametrize('name', ['robot', 'dynamic', 'mocap'])
def test_movable_actors_move_in_the_running_world_too(playing, name):
    quat = list(from_euler((0, 0, 180)))
    before = playing.ask('get_actor_bounds', target=name, in_pie=True)
    start = live(playing)[name]
    reply = playing.ask('set_actor_transform', target=name, location=[7, 8, 9])
    assert reply['requires_pie_restart'] is False
    after = playing.ask('get_actor_bounds', target=name, in_pie=True)
    shift = np.subtract([7, 8, 9], start['location'])
    for corner in ('min', 'max'):
        assert np.subtract(after[corner], before[corner]) == pytest.approx(shift, abs=1e-9)
    playing.ask('set_actor_transform', target=name, rotation_quat=quat)
    assert np.abs(live(playing)[name]['rotation_quat']) == pytest.approx(np.abs(quat), abs=1e-9)
    # After a restart it is at the location in the level, which is the same.
    playing.ask('stop_pie')
    playing.play()
    assert live(playing)[name]['location'] == pytest.approx([7, 8, 9])


def test_fixed_actors_change_at_the_next_start(playing):
    for op, fields in (
        ('set_actor_transform', {'target': 'static', 'location': [7, 8, 9]}),
        ('set_actor_transform', {'target': 'lamp', 'location': [7, 8, 9]}),
        ('spawn_actor', {'blueprint': 'box', 'actor_id': 'new'}),
        ('spawn_light', {}),
        ('duplicate_actor', {'target': 'static', 'new_actor_id': 'twin'}),
        ('destroy_actor', {'target': 'dynamic'}),
    ):
        assert playing.ask(op, **fields)['requires_pie_restart'] is True
    running, level = live(playing), playing.actors()
    assert (running['static']['location'], level['static']['location']) == ([0] * 3, [7, 8, 9])
    assert 'new' not in running and 'new' in level
    assert mujoco.mj_name2id(playing.world.model, mujoco.mjtObj.mjOBJ_BODY, 'dynamic') > 0
