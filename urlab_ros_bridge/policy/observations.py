# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Build the observation of a policy."""

from __future__ import annotations

import math

import numpy as np

from urlab_ros_bridge.policy.description import PolicyDescription
from urlab_ros_bridge.policy.terms import PolicyInputs
from urlab_ros_bridge.policy.terms import TERMS


class ObservationBuilder:
    """Builds observations, with the history that the description defines."""

    def __init__(self, description: PolicyDescription) -> None:
        self._description = description
        self._sections = description.observations
        self._kept: list[list[np.ndarray]] = [[] for _ in self._sections]

    def reset(self) -> None:
        """Clear the history."""
        for kept in self._kept:
            kept.clear()

    def observe(self, inputs: PolicyInputs) -> np.ndarray:
        """Add a step; return its observation, (n,) float32."""
        description = self._description
        for section, kept in zip(self._sections, self._kept, strict=True):
            value = TERMS[section.term].value(inputs, section.period)
            if section.clip is not None:
                value = np.clip(value, *section.clip)
            value = (value - section.offset) * section.scale
            steps = description.steps_of(section)
            kept.append(value)
            while len(kept) < steps:
                kept.append(value)
            del kept[:-steps]
        low, high = description.clip_observations or (-math.inf, math.inf)
        return np.clip(np.concatenate(self._parts()), low, high).astype(np.float32)

    def _parts(self) -> list[np.ndarray]:
        history = self._description.history
        way = 1 if history.newest == 'last' else -1
        if history.order == 'by_term':
            return [value for kept in self._kept for value in kept[::way]]
        steps = range(history.length)[::way]
        return [kept[step] for step in steps for kept in self._kept]


__all__ = ['ObservationBuilder']
