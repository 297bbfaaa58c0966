# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The processes that the benchmarks of the bridge start, and their CPU time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import os
from pathlib import Path
import subprocess
import sys
from typing import Any

import zmq

from urlab_ros_bridge.testing.domains import take_domain

# Parameters of a bridge that publishes every tick.
FULL_RATE = dict.fromkeys(('odom_rate', 'joint_state_rate', 'sensor_rate', 'entity_rate'), 0.0)


def free_port() -> int:
    """Return a port that there are no subscribers on."""
    with zmq.Context() as context, context.socket(zmq.REP) as socket:
        return socket.bind_to_random_port('tcp://127.0.0.1')


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of all threads of a process, in nanosecond resolution."""
    tasks = Path(f'/proc/{pid}/task').iterdir()
    return sum(int((task / 'schedstat').read_text().split()[0]) for task in tasks) / 1e9


def take_own_domain() -> int:
    """
    Return the ROS domain of this process and of those that it starts.

    Unless ROS_DOMAIN_ID says which, it is one that no test and no other benchmark uses meanwhile.
    """
    if not os.environ.get('ROS_DOMAIN_ID'):
        os.environ['ROS_DOMAIN_ID'] = str(take_domain().number)
    return int(os.environ['ROS_DOMAIN_ID'])


@contextmanager
def child(*command: str, **options: Any) -> Iterator[subprocess.Popen]:
    """Run Python with these arguments until the end of the block, and let it end in peace."""
    process = subprocess.Popen(
        [sys.executable, *command], **{'stdout': subprocess.DEVNULL, **options}
    )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


__all__ = ['child', 'cpu_seconds', 'free_port', 'take_own_domain']
