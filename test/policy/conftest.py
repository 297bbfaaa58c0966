# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The helpers of this folder become importable."""

from pathlib import Path
import sys

sys.path.insert(0, str(Path(__file__).parent))
