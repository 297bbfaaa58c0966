# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""All mutants."""

import faults_of_mutators
import faults_of_observations
import faults_of_rows
import faults_of_sessions
import faults_of_steps
from mutant import Mutant

_MODULES = (
    faults_of_sessions,
    faults_of_observations,
    faults_of_steps,
    faults_of_mutators,
    faults_of_rows,
)
MUTANTS = tuple(
    value for module in _MODULES for value in vars(module).values() if isinstance(value, Mutant)
)
