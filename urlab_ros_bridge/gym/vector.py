# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Many environments side by side, each with a server of its own, stepped at the same time."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import gymnasium
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
import numpy as np

from urlab_ros_bridge.gym.env import UrlabEnv


class UrlabVectorEnv(gymnasium.vector.VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    """
    `num_envs` simulations; requests wait in threads while the servers compute.

    An episode that has ended starts over with the next step (`AutoresetMode.NEXT_STEP`).
    """

    metadata = {**UrlabEnv.metadata, 'autoreset_mode': AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(
        self, num_envs: int = 1, max_episode_steps: int | None = None, **arguments: Any
    ) -> None:
        """
        Start the servers.

        :param max_episode_steps: truncates; None: never.
        :param arguments: as for `UrlabEnv`.
        """
        self.num_envs = num_envs
        self.render_mode = arguments.get('render_mode')
        self._limit = max_episode_steps
        self._pool = ThreadPoolExecutor(num_envs, 'urlab-gym')
        # Processes end with the thread that starts them, so this one does.
        self.envs: list[UrlabEnv] = []
        try:
            for _ in range(num_envs):
                self.envs.append(UrlabEnv(**arguments))
        except BaseException:
            self.close()
            raise
        self.single_observation_space = self.envs[0].observation_space
        self.single_action_space = self.envs[0].action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._seen = np.stack([env.begun for env in self.envs])
        self._ended = np.zeros(num_envs, bool)
        self._lengths = np.zeros(num_envs, int)

    def reset(
        self,
        *,
        seed: int | list[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """
        Begin an episode in each environment, or in those of ``options['reset_mask']``.

        :param seed: of the first one, the others count up; or one for each.
        """
        options = dict(options or {})
        mask = options.pop('reset_mask', np.ones(self.num_envs, bool))
        seeds: list[int | None] = [None] * self.num_envs
        if seed is not None:
            counted = range(seed, seed + self.num_envs) if isinstance(seed, int) else seed
            seeds = [*counted]

        def begin(index: int) -> tuple[np.ndarray, dict[str, Any]] | None:
            if not mask[index]:
                return None
            return self.envs[index].reset(seed=seeds[index], options=options)

        seen = self._seen.copy()
        infos: dict[str, Any] = {}
        for index, outcome in enumerate(self._each(begin)):
            if outcome is not None:
                seen[index] = outcome[0]
                infos = self._add_info(infos, outcome[1], index)
        self._ended[mask] = False
        self._lengths[mask] = 0
        self._seen = seen
        return seen.copy(), infos

    def step(
        self, actions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Do an action in each environment; where an episode has ended, begin another instead."""
        ended = self._ended.copy()

        def step_one(index: int) -> tuple[Any, ...]:
            env = self.envs[index]
            if ended[index]:
                seen, info = env.reset()
                return seen, 0.0, False, False, info
            return env.step(actions[index])

        outcomes = self._each(step_one)
        self._lengths = np.where(ended, 0, self._lengths + 1)
        seen = np.stack([outcome[0] for outcome in outcomes])
        rewards = np.array([outcome[1] for outcome in outcomes], np.float64)
        terminated = np.array([outcome[2] for outcome in outcomes], bool)
        truncated = np.array([outcome[3] for outcome in outcomes], bool)
        if self._limit is not None:
            truncated |= (self._lengths >= self._limit) & ~ended
        infos: dict[str, Any] = {}
        for index, outcome in enumerate(outcomes):
            infos = self._add_info(infos, outcome[4], index)
        self._ended = terminated | truncated
        self._seen = seen
        return seen.copy(), rewards, terminated, truncated, infos

    def close_extras(self, **kwargs: Any) -> None:
        """End the servers."""
        for env in self.envs:
            env.close()
        self._pool.shutdown()

    def _each(self, job: Callable[[int], Any]) -> list[Any]:
        return list(self._pool.map(job, range(self.num_envs)))


__all__ = ['UrlabVectorEnv']
