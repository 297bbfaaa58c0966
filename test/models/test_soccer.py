# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The soccer world: dimensions, players that stand, a ball that rolls and goals that hold it."""

import mujoco
import numpy as np
import pytest

from urlab_ros_bridge.gateways.simspark.agents.joints import MAX_SPEED
from urlab_ros_bridge.models import world_path
from urlab_ros_bridge.models.soccer import PITCHES
from urlab_ros_bridge.models.soccer import scene_text
from urlab_ros_bridge.models.soccer import sidecar_text

ARM = ('ae1', 'ae2', 'ae3', 'ae4')
LEG = ('le1', 'le2', 'le3', 'le4', 'le5', 'le6')
LIMBS = [f'{side}{name}' for part in (ARM, LEG) for side in 'lr' for name in part]
JOINTS = ('he1', 'he2', *LIMBS)
# Degrees, of the left side; those of rolls and yaws are turned round on the right.
RANGES = {
    'he1': (-120, 120), 'he2': (-45, 45), 'lae1': (-120, 120), 'lae2': (-1, 95),
    'lae3': (-120, 120), 'lae4': (-90, 1), 'lle1': (-90, 1), 'lle2': (-25, 45),
    'lle3': (-25, 100), 'lle4': (-130, 1), 'lle5': (-45, 75), 'lle6': (-45, 25),
}  # fmt: skip
TURNED = ('ae2', 'ae4', 'le2', 'le6')


@pytest.fixture(scope='module')
def model(build_world):
    return build_world('soccer')


def test_the_files_are_what_the_generator_writes():
    folder = world_path('soccer').parent
    assert (folder / 'soccer.xml').read_text() == scene_text(PITCHES['page'])
    assert (folder / 'soccer.yaml').read_text() == sidecar_text(PITCHES['page'], 1)


@pytest.mark.parametrize('field', PITCHES)
def test_lines_and_goals_have_the_dimensions_of_the_rules(field):
    scene = mujoco.MjSpec.from_string(scene_text(PITCHES[field])).compile()
    data = mujoco.MjData(scene)
    mujoco.mj_forward(scene, data)
    number = {scene.numeric(i).name: scene.numeric(i).data[0] for i in range(scene.nnumeric)}
    length, width = number['field_length'], number['field_width']
    assert (length, width) == {'page': (18, 12), 'league': (30, 20)}[field]
    corner = np.array((length / 2, width / 2, 0))
    goal = np.array((length / 2, number['goal_width'] / 2, number['goal_height']))
    for name, x, y in (('1L', -1, 1), ('2L', -1, -1), ('1R', 1, 1), ('2R', 1, -1)):
        np.testing.assert_allclose(scene.site(f'F{name}').pos, corner * (x, y, 1))
        np.testing.assert_allclose(scene.site(f'G{name}').pos, goal * (x, y, 1))
    white = scene.material('white').id
    places = data.geom_xpos[scene.geom_matid == white, :2]
    np.testing.assert_allclose([places.min(axis=0), places.max(axis=0)], [-corner[:2], corner[:2]])
    # A ray from above meets the centre circle where the distance of free kicks says.
    hit = np.zeros(1, np.int32)
    for turn in np.linspace(0, 2 * np.pi, 60):
        place = number['free_kick_distance'] * np.array([np.cos(turn), np.sin(turn)])
        eye, down = np.array([*place, 5]), np.array([0.0, 0, -1])
        mujoco.mj_ray(scene, data, eye, down, None, 1, -1, hit)
        assert scene.geom_matid[hit[0]] == white
    assert scene.body('ball').mass[0] == pytest.approx(number['ball_mass'])
    assert scene.geom('ball').size[0] == number['ball_radius']


def test_joints_actuators_and_ranges_are_the_standard_ones(model):
    actuators = [model.actuator(i).name for i in range(model.nu)]
    for player in ('left_1', 'right_1'):
        assert [n for n in actuators if n.startswith(player)] == [f'{player}_{n}' for n in JOINTS]
        for name in JOINTS:
            bounds = RANGES[name if name[0] == 'h' else f'l{name[1:]}']
            if name[0] == 'r' and name[1:] in TURNED:
                bounds = -bounds[1], -bounds[0]
            joint, actuator = (get(f'{player}_{name}') for get in (model.joint, model.actuator))
            np.testing.assert_allclose(np.degrees(joint.range), bounds)
            # A setpoint that leads a joint at full speed is beyond its stop at the end.
            beyond = (actuator.ctrlrange - joint.range) * [-1, 1]
            assert (beyond >= 0.031 * MAX_SPEED).all() and (beyond < 0.8).all(), name
            np.testing.assert_allclose(actuator.forcerange, [-10, 10])
        assert 4.4 < model.body(f'{player}_base_link').subtreemass[0] < 4.7


@pytest.mark.parametrize('key', ['left_1_home', ''])
def test_players_stand_at_home_and_with_all_joints_at_zero(model, at_key, key):
    data = at_key(model, key) if key else mujoco.MjData(model)
    data.joint('ball_free').qpos[0] = 3.0  # they may stand where the ball lies
    mujoco.mj_forward(model, data)
    players = ('left_1', 'right_1')
    start = {name: data.body(f'{name}_base_link').xpos.copy() for name in players}
    mujoco.mj_step(model, data, round(10.0 / model.opt.timestep))
    assert np.abs(data.qvel).max() < 1e-3
    for name in players:
        base = data.body(f'{name}_base_link')
        assert np.linalg.norm(base.xpos - start[name]) < 0.01
        assert base.xmat[8] > np.cos(np.radians(2))
        weight = 9.81 * model.body(f'{name}_base_link').subtreemass[0]
        loads = [data.sensor(f'{name}_{side}f_touch').data[0] for side in 'lr']
        assert sum(loads) == pytest.approx(weight, rel=0.01)
        for side, load in zip('lr', loads, strict=True):
            found, *force = data.sensor(f'{name}_{side}f_contact').data[:4]
            assert found > 0 and np.linalg.norm(force) == pytest.approx(load, rel=0.01)


def test_a_rolling_ball_slows_down_and_a_goal_holds_a_hard_shot(model):
    data = mujoco.MjData(model)
    dof = model.joint('ball_free').dofadr[0]
    data.qvel[dof + 1] = 1.0
    mujoco.mj_step(model, data, round(8.0 / model.opt.timestep))
    assert np.abs(data.qvel[dof : dof + 6]).max() < 1e-2
    assert 1.0 < data.body('ball').xpos[1] < 3.0
    for height, speed in ((0.1, 14.0), (0.6, 9.0)):
        data = mujoco.MjData(model)
        address = model.joint('ball_free').qposadr[0]
        data.qpos[address : address + 3] = [8.0, 0.3, height]
        data.qvel[dof] = speed
        mujoco.mj_step(model, data, round(0.5 / model.opt.timestep))
        assert 9.2 < data.body('ball').xpos[0] < 9.6
