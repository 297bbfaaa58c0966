# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The Gymnasium environment: what gymnasium itself checks, and repeatable episodes."""

import numpy as np
import pytest
from unstable_world import write_unstable_world

gymnasium = pytest.importorskip('gymnasium')

from gymnasium.utils.env_checker import check_env  # noqa: E402

from urlab_ros_bridge.gym.env import BadEnvironment  # noqa: E402
from urlab_ros_bridge.wire.errors import UnknownName  # noqa: E402

ID = 'urlab_ros_bridge.gym:Urlab-v0'


def forward(step):
    return step.after.qpos[0] - step.before.qpos[0]


def far(step):
    return step.time > 0.195


@pytest.fixture(scope='module')
def rover():
    env = gymnasium.make(
        ID, world='rover', reward=forward, terminated=far, render_mode='rgb_array'
    )
    yield env
    env.close()


@pytest.mark.filterwarnings('error', 'ignore:.*Box observation space.*infinity')
def test_gymnasium_has_no_complaint(rover):
    check_env(rover.unwrapped, skip_render_check=True)


def episode(env, seed, steps=10):
    seen = [env.reset(seed=seed)[0]]
    env.action_space.seed(seed)
    rewards = []
    for _ in range(steps):
        observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
        seen.append(observation)
        rewards.append(reward)
        if terminated:
            break
    assert not truncated
    return np.array(seen), np.array(rewards), terminated, info


def test_equal_seeds_repeat_bit_for_bit_and_hooks_set_reward_and_end(rover):
    first, other, again = (episode(rover, seed) for seed in (1, 2, 1))
    assert np.array_equal(first[0], again[0]) and np.array_equal(first[1], again[1])
    assert not np.array_equal(first[0], other[0])
    seen, rewards, terminated, info = first
    assert terminated and len(rewards) == 10 and info['sim_time'] == pytest.approx(0.2)
    np.testing.assert_allclose(rewards, np.diff(seen[:, 0]), atol=1e-12)


def test_a_time_limit_truncates_and_actuators_are_actions(keep):
    env = keep(gymnasium.make(ID, world='quadruped', period=0.04, max_episode_steps=3))
    env.reset(seed=0, options={'keyframe': 'quadruped_stand'})
    assert env.action_space.shape == (3,)  # it trots: a twist
    ended = [env.step(env.action_space.low)[2:4] for _ in range(3)]
    assert ended == [(False, False), (False, False), (False, True)]
    with pytest.raises(BadEnvironment, match='finite'):
        env.unwrapped.step(np.array([np.nan, 0, 0]))
    with pytest.raises(UnknownName, match='keyframe'):
        env.reset(options={'key': 1})


def test_rendering_shows_the_current_state_and_takes_no_simulation_time(rover):
    env = rover.unwrapped
    env.reset(seed=1)
    before = env.client.forward().time
    first = env.render()
    assert first.ndim == 3 and first.shape[2] == 3 and first.dtype == np.uint8
    assert first.std() > 1.0  # it shows something
    assert np.array_equal(env.render(), first)
    assert env.client.forward().time == before
    for _ in range(25):
        env.step(np.array([1.0, 1.0]))
    assert not np.array_equal(env.render(), first)


def test_each_of_many_parallel_environments_equals_a_single_one(rover, keep):
    options = {'world': 'rover', 'reward': forward, 'terminated': far}
    vector = keep(gymnasium.make_vec(ID, num_envs=2, **options))
    seen, _ = vector.reset(seed=5)
    actions = np.tile(rover.action_space.high, (2, 1))
    outcomes = [vector.step(actions) for _ in range(11)]
    for index in range(2):
        assert np.array_equal(seen[index], rover.reset(seed=5 + index)[0])
        for number, many in enumerate(outcomes[:10]):
            one = rover.step(actions[index])
            assert np.array_equal(many[0][index], one[0])
            assert many[1][index] == one[1]
            assert many[2][index] == one[2] == (number == 9)
        # Then the next episode begins, with a step that does nothing.
        seen_next, reward, *ended, _ = outcomes[10]
        assert reward[index] == 0.0 and not any(each[index] for each in ended)
        assert np.array_equal(seen_next[index], rover.reset()[0])


def test_an_unstable_episode_is_truncated_and_the_next_one_is_sound(tmp_path, keep):
    world, mode = str(write_unstable_world(tmp_path)), 'vector_entry_point'
    hooks = {'reward': lambda step: 1.0, 'terminated': far}
    env = keep(gymnasium.make_vec(ID, num_envs=2, vectorization_mode=mode, world=world, **hooks))
    seen, info = env.reset(seed=1)
    assert not info['diverged'].any()
    rest = seen.copy()
    seen, rewards, terminated, truncated, info = env.step(np.array([[0.0], [0.5]]))
    # The state after MuJoCo's reset is valid but not part of the episode.
    assert truncated.tolist() == info['diverged'].tolist() == [False, True]
    assert rewards.tolist() == [1.0, 0.0] and not terminated.any()
    assert np.array_equal(seen[1], rest[1])
    # The next step begins an episode where one has ended.
    _, rewards, terminated, truncated, info = env.step(np.zeros((2, 1)))
    assert not (truncated | terminated | info['diverged']).any()
    assert env.step(np.zeros((2, 1)))[1].tolist() == [1.0, 1.0]
