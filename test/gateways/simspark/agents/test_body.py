# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Body sensors of a player, compared with MuJoCo."""

from pathlib import Path

import mujoco
import numpy as np
import pytest
from simspark_client.clients import perceptor_of

from test.gateways.simspark.stage import SteppedWorld
from urlab_ros_bridge.gateways.simspark.agents.agent import AgentOptions
from urlab_ros_bridge.gateways.simspark.agents.agents import Agents

EXACT = 6e-4
NAMES = (
    'hj1', 'hj2', *(f'{side}aj{i}' for side in 'lr' for i in range(1, 5)),
    *(f'{side}lj{i}' for side in 'lr' for i in range(1, 7)),
)  # fmt: skip


def sim_axes(vector):
    """Return x right, y forward of x forward, y left."""
    x, y, z = vector
    return np.array([-y, x, z])


def test_angles_are_degrees_under_the_standard_names(home_game, settled_agent, soccer):
    joints = settled_agent.percepts.joints
    assert tuple(joints) == NAMES
    for index in range(soccer.model.njnt):
        name = soccer.model.joint(index).name
        if name.startswith('left_1_') and name != 'left_1_base':
            angle = np.degrees(soccer.data.joint(name).qpos[0])
            assert joints[perceptor_of(name.removeprefix('left_1_'))] == pytest.approx(
                angle, abs=EXACT
            )


def test_gyro_and_accelerometer_are_those_of_the_torso(play, soccer):
    game = play()
    agent = game.join()
    game.place('left_1', (-3, 1, 0.6), (0.3, 0.2, 0.4, np.sqrt(1 - 0.29)))
    game.send(agent, '(he1 3)(lae1 -4)(rle3 2)')
    model, data = soccer.model, soccer.data
    game.cycles(1)
    torso = data.body('left_1_base_link')
    for _ in range(15):
        before = data.qvel[model.joint('left_1_base').dofadr[0] :][:3].copy()
        turned = torso.xquat.copy()
        game.cycles(1)
        felt = agent.percepts
        # The turn since the last percepts: agents add readings up.
        turn = np.zeros(3)
        mujoco.mju_subQuat(turn, torso.xquat, turned)
        np.testing.assert_allclose(felt.gyro, sim_axes(np.degrees(turn / 0.02)), atol=EXACT)
        # What the accelerometer sums up to: the change of velocity, without gravity's share.
        axes = torso.xmat.reshape(3, 3)
        gained = data.qvel[model.joint('left_1_base').dofadr[0] :][:3] - before
        proper = axes.T @ (gained / 0.02 + [0, 0, 9.81])
        np.testing.assert_allclose(felt.acceleration, sim_axes(proper), atol=EXACT)


def test_feet_report_position_and_size_of_their_contact_forces(home_game, settled_agent, soccer):
    """Against the contacts of MuJoCo: the place weighted by the forces, and their sum."""
    model, before = soccer.model, mujoco.MjData(soccer.model)
    home_game.send(settled_agent, '(lle5 0.3)(rle5 0.3)(lle2 0.2)(rle2 0.2)')
    pressed = 0
    for _ in range(20):
        soccer.link.step(home_game.targets, 9)
        mujoco.mj_copyData(before, model, soccer.data)
        mujoco.mj_forward(model, before)
        soccer.scene.update(soccer.link.step(home_game.targets, 1))
        home_game.turn()
        felt = settled_agent.percepts.forces
        for foot, site in (('lf', 'left_1_lf'), ('rf', 'left_1_rf')):
            body = model.body(f'left_1_{foot[0]}foot').id
            total, weighted, wrench = np.zeros(3), np.zeros(3), np.zeros(6)
            weights = 0.0
            for index, contact in enumerate(before.contact):
                bodies = [int(model.geom_bodyid[geom]) for geom in contact.geom]
                if body in bodies:
                    mujoco.mj_contactForce(model, before, index, wrench)
                    force = contact.frame.reshape(3, 3).T @ wrench[:3]
                    # MuJoCo's force pushes the second geom.
                    total += force if bodies[1] == body else -force
                    weights += np.linalg.norm(force)
                    weighted += np.linalg.norm(force) * contact.pos
            if not total.any():
                assert foot not in felt
                continue
            pressed += 1
            axes = before.site(site).xmat.reshape(3, 3)
            expected = sim_axes(axes.T @ total)
            # The axes are those of the end of the last step, the forces those that led there.
            np.testing.assert_allclose(
                felt[foot].force, expected, atol=0.02 + 0.02 * np.abs(expected).max()
            )
            place = axes.T @ (weighted / weights - before.site(site).xpos)
            np.testing.assert_allclose(felt[foot].place, sim_axes(place), atol=0.004)
    assert pressed > 10
    home_game.place('left_1', (-3, 1, 1.5), (0, 0, 0, 1))  # feet in the air
    home_game.cycles(2)
    assert not settled_agent.percepts.forces and '(FRP' not in settled_agent.text


@pytest.fixture(scope='module')
def arm():
    world = SteppedWorld(model=Path(__file__).with_name('arm.xml'))
    yield world
    world.close()


def test_any_articulation_can_be_an_agent(arm, caplog):
    game = arm.play(Agents(AgentOptions(vision_cycles=1)))
    (name,) = arm.scene.robots
    agent = game.join(scene=name)
    game.send(agent, '(shoulder 0.5 -1)(spin 1)(slide 1)(nothing 1)(shoulder 1)')
    for name in ('spin', 'slide', "'nothing'", 'shoulder takes 2 speeds, not 1'):
        assert name in caplog.text
    game.cycles(50)
    felt = agent.percepts
    assert not felt.seen.points and not felt.seen.lines  # there is no field
    assert set(felt.universal) == {'shoulder'} and set(felt.joints) == {'spin'}
    pitch, yaw = felt.universal['shoulder']
    assert pitch == pytest.approx(np.degrees(arm.data.joint('arm_pitch').qpos[0]), abs=EXACT)
    assert yaw == pytest.approx(np.degrees(arm.data.joint('arm_yaw%1').qpos[0]), abs=EXACT)
    # Velocity actuators follow the speeds, as far as a body that floats lets them.
    assert pitch > 5 and yaw < -10
    assert felt.touched == {'tip': False}
    # The site is turned by a quarter; the torso is what counts.
    velocity = np.zeros(6)
    mujoco.mj_objectVelocity(
        arm.model, arm.data, mujoco.mjtObj.mjOBJ_XBODY, arm.model.body('arm_base').id, velocity, 1
    )
    expected = sim_axes(np.degrees(velocity[:3]))
    np.testing.assert_allclose(felt.gyro, expected, atol=2 + 0.05 * np.abs(expected).max())
    game.send(agent, '(pitch 2)')
    game.cycles(3)
    assert arm.data.joint('arm_pitch').qvel[0] > 1
