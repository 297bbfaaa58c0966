# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Levels as data: names that never clash, and files that say the same as memory."""

from pathlib import Path

from example_counts import examples
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
import pytest
import yaml

from urlab_ros_bridge import models
from urlab_ros_bridge.editor.level import Level
from urlab_ros_bridge.editor.level import LevelActor
from urlab_ros_bridge.editor.transforms import from_euler
from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.sim.errors import WorldError
from urlab_ros_bridge.sim.model.assembly import assemble
from urlab_ros_bridge.sim.model.sidecar.readers import SidecarError
from urlab_ros_bridge.sim.model.sidecar.sidecar import load_sidecar
from urlab_ros_bridge.wire.names import prefix_problem

ROBOT = {
    'model': str(models.world_path('rover').with_name('rover_robot.xml')),
    'cameras': {'front_rgb': {'mode': 'real', 'resolution': [64, 48], 'rate': 5}},
}


SCENE = models.world_path('rover').with_suffix('.xml')


BOX = {'shape': 'box', 'scale': [1.0, 2.0, 3.0], 'physics': 'dynamic', 'mass': 4.0}


LIGHT = {'kind': 'spot', 'intensity': 100.0, 'color': [1.0, 0.5, 0.0]}


SETTINGS = {'robot': ROBOT, 'object': BOX, 'light': LIGHT}


def put(level, kind, wanted, pose=Pose()):  # noqa: B008  (a frozen value)
    name = level.free_name(kind, wanted)
    actor = LevelActor(kind, name, name, pose, SETTINGS[kind])
    level.add(actor)
    return actor


def test_a_saved_level_is_a_sidecar_that_compiles_to_the_same_world(tmp_path):
    level, path = Level(None, SCENE), tmp_path / 'hall.yaml'
    for index, kind in enumerate(['robot', 'robot', 'object', 'light']):
        put(level, kind, kind, Pose((index, 0.5, 0.1), from_euler((0, 10 * index, 90))))
    level.others = {'global_cameras': {'overview': {'rate': 5}}, 'noise_seed': 3}
    path.write_text(level.text(tmp_path))
    (here, _), (there, _) = assemble(level.spec()), assemble(load_sidecar(path))
    names = [[model.body(i).name for i in range(model.nbody)] for model in (here, there)]
    assert names[0] == names[1] and load_sidecar(path).noise_seed == 3
    assert (here.body_pos == there.body_pos).all() and (here.body_mass == there.body_mass).all()


wishes = st.text('ab_1', max_size=5) | st.sampled_from(['rover', 'pallet', 'scene', 'a_b', 'a'])


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.tuples(st.sampled_from(['robot', 'object', 'light']), wishes), max_size=8))
def test_names_of_actors_never_clash_whatever_is_wanted(wanted):
    level = Level(None, SCENE)
    for kind, name in wanted:
        put(level, kind, name)
    names = [actor.name for actor in level.actors]
    robots = [actor.name for actor in level.actors if actor.kind == 'robot']
    assert len(names) == len(wanted) == len(set(names))
    for index, robot in enumerate(robots):
        assert not prefix_problem(robot, robots[:index])
        assert not any(other.startswith(f'{robot}_') for other in names if other != robot)
    level.spec()  # the schema takes it


def test_an_mjcf_file_alone_is_a_level():
    level = Level.open(Path(ROBOT['model']))
    assert [(actor.kind, actor.name) for actor in level.actors] == [('robot', 'rover')]
    assert level.path is None and level.scene is None


TWIN = {'name': 'x', 'shape': 'box'}


@pytest.mark.parametrize(
    'content',
    [
        {'objects': [TWIN], 'lights': [{'name': 'x'}]},
        {'objects': [TWIN, {'name': 'y', 'actor_id': 'x', 'shape': 'box'}]},
        {'objects': [TWIN, TWIN]},
    ],
)
def test_two_actors_of_one_name_or_id_in_a_file_are_refused(tmp_path, content):
    path = tmp_path / 'a.yaml'
    path.write_text(yaml.safe_dump(content))
    with pytest.raises((WorldError, SidecarError), match="'x'"):
        Level.open(path)
