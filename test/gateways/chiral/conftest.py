# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""An observation like that of the protocol page."""

import numpy as np
import pytest

from urlab_ros_bridge.gateways.chiral.codec import CameraView
from urlab_ros_bridge.gateways.chiral.codec import Observation


@pytest.fixture
def page_observation():
    """Return 480x640 colour and depth, and seven streams of seven numbers."""
    random = np.random.default_rng(5)
    image = random.integers(0, 256, (480, 640, 3), np.uint8)
    depth = random.random((480, 640), np.float32)
    camera = CameraView('wrist_cam', 1.234, np.eye(3), np.eye(4), image, depth)
    return Observation(0.05, [camera], {f'stream_{i}': np.ones(7, np.float32) for i in range(7)})
