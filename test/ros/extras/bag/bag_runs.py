# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Begin and end bags, and read them."""

from pathlib import Path

from bag_reader import BagFile
from bag_reader import check_with_rosbags
from bridge_harness import wait_until


def advance(server, seconds):
    goal = server.data.time + seconds
    wait_until(lambda: server.data.time >= goal)


def begin(bridge, name='run', **fields):
    path, _ = bridge.recorder.begin(name, **fields)
    return Path(path)


def end(bridge):
    summary = bridge.recorder.end()
    files = [BagFile(Path(summary.path) / name) for name in summary.files]
    assert summary.messages == sum(len(file.messages) for file in files)
    check_with_rosbags(Path(summary.path), files)
    return files


def contiguous(part, whole):
    """Return whether a list is a run of another one."""
    return any(whole[n : n + len(part)] == part for n in range(len(whole) - len(part) + 1))
