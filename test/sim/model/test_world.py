# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Worlds of several robots, and the options that name them."""

import pytest

from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.errors import WorldError
from urlab_ros_bridge.sim.model.world import load_world

CAR = ('<mujoco><worldbody><body name="base"><freejoint/><geom size="0.1"/><body name="arm">'
       '<joint name="elbow" axis="0 1 0"/><geom size="0.05" pos="0 0 0.2"/></body></body>'
       '</worldbody><actuator><motor name="pull" joint="elbow"/></actuator>{rest}</mujoco>'
       )  # fmt: skip


START = """
scene: hall.xml
start_keyframe: up
articulations:
  - {prefix: left, model: car.xml, actor_id: robot_0, pose: {pos: [-1, 0, 1]}}
  - {prefix: right, model: plain.xml, pose: {pos: [1, 0, 1]}, controller: {kind: pd}}
"""


HALL = (
    '<mujoco><worldbody><body name="door"><joint name="hinge"/><geom size="0.1"/></body>'
    '</worldbody><keyframe><key name="up" time="3" qpos="0.5"/></keyframe></mujoco>'
)


@pytest.fixture
def upright(tmp_path):
    """Return the sidecar of a world in which the left robot and the scene start in a keyframe."""
    key = '<keyframe><key name="up" qpos="0 0 0.5 1 0 0 0 0.25" ctrl="0.7"/></keyframe>'
    (tmp_path / 'car.xml').write_text(CAR.format(rest=key))
    (tmp_path / 'plain.xml').write_text(CAR.format(rest=''))
    (tmp_path / 'hall.xml').write_text(HALL)
    path = tmp_path / 'upright.yaml'
    path.write_text(START)
    return path


def test_a_world_starts_in_its_keyframe_and_a_reset_returns_to_it(rig, upright):
    server = rig(model=upright, step_mode='direct')
    starts = {'left': [-1, 0, 1.5, 1, 0, 0, 0, 0.25], 'right': [1, 0, 1, 1, 0, 0, 0, 0]}

    def check(reply):
        assert reply['time'] == 0.0
        qpos = {prefix: block['qpos'] for prefix, block in reply['per_articulation'].items()}
        assert qpos == starts
        assert server.simulation.world.data.joint('hinge').qpos == 0.5

    check(server.ask('forward'))
    hello = server.ask('hello', shared=True)
    assert hello['start_qpos'] == [0.5, *starts['left'], *starts['right']]
    # The targets are those of the keyframe, and of a robot without it its reference.
    ctrl = server.ask('step', n_steps=5)['per_articulation']
    assert ctrl['left']['ctrl'] == [0.7]
    server.ask('step', n_steps=5, per_articulation={'left': {'ctrl': [0.1]}})
    check(server.ask('reset'))
    assert server.ask('step')['per_articulation']['left']['ctrl'] == [0.7]


@pytest.mark.parametrize('name', ['upp', 'left_up'])
def test_an_unknown_start_keyframe_is_named(upright, name):
    upright.write_text(START.replace('start_keyframe: up', f'start_keyframe: {name}'))
    with pytest.raises(WorldError, match=f"'{name}'.*up"):
        load_world(ServerConfig(model=upright))


def test_prefix_and_actor_id_rename_the_first_robot(upright):
    robots = load_world(ServerConfig(model=upright, prefix='west')).articulations
    ids = {prefix: robot.actor_id for prefix, robot in robots.items()}
    assert ids == {'west': 'robot_0', 'right': 'right'}
    loaded = load_world(ServerConfig(model=upright, actor_id='robot_7'))
    assert loaded.articulation('robot_7').prefix == 'left'


@pytest.mark.parametrize(
    'options',
    [{'prefix': 'a b'}, {'prefix': 'scene'}, {'prefix': 'right_hand'}, {'actor_id': 'right'}],
)
def test_unusable_names_are_refused(upright, options):
    with pytest.raises(WorldError, match=next(iter(options.values()))):
        load_world(ServerConfig(model=upright, **options))


@pytest.mark.parametrize('timestep', ['0', '-0.002', 'nan', '1e-300', '1e10'])
def test_a_timestep_with_which_time_does_not_pass_is_refused_naming_the_file(mjcf, timestep):
    path = mjcf(
        f'<mujoco><option timestep="{timestep}"/><worldbody><body><joint/><geom size="1"/></body>'
        '</worldbody></mujoco>'
    )
    with pytest.raises(WorldError, match=rf'{path.name}.*timestep'):
        load_world(ServerConfig(model=path))
