# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that compute beside a benchmark: its option ``--busy N``."""

from __future__ import annotations

import argparse
import multiprocessing


def _compute() -> None:
    while True:
        pass


def add_option(parser: argparse.ArgumentParser) -> None:
    """Declare ``--busy``."""
    parser.add_argument('--busy', type=int, default=0, help='busy loops beside all of it')


def start(count: int) -> None:
    """Start `count` busy loops, which end with the benchmark."""
    for _ in range(count):
        multiprocessing.Process(target=_compute, daemon=True).start()
