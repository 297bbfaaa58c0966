# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Let the tests of this folder import random_messages."""

from pathlib import Path
import sys

sys.path.insert(0, str(Path(__file__).parent))
