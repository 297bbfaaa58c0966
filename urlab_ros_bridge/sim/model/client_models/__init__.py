# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Models from clients: MJCF and URDF from untrusted sources.

Such a model is read by an allow-list, with files from folders that clients may read, and compiled
in a process with limits first (docs/entities.md, "Checks and limits of models").
"""

from urlab_ros_bridge.sim.model.client_models.files import BUNDLED
from urlab_ros_bridge.sim.model.client_models.limits import check_total
from urlab_ros_bridge.sim.model.client_models.limits import Sizes
from urlab_ros_bridge.sim.model.client_models.reader import ClientModel
from urlab_ros_bridge.sim.model.client_models.reader import ClientModels
from urlab_ros_bridge.sim.model.client_models.reader import integration_state
from urlab_ros_bridge.sim.model.client_models.trial import import_failed
from urlab_ros_bridge.sim.model.client_models.trial import Trial

__all__ = [
    'BUNDLED',
    'ClientModel',
    'ClientModels',
    'Sizes',
    'Trial',
    'check_total',
    'import_failed',
    'integration_state',
]
