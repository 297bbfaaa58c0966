# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sys

from urlab_ros_bridge.cli.docs import main

if __name__ == '__main__':
    sys.exit(main())
