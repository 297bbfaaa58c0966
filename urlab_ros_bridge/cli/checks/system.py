# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The machine: shared memory, processors, clock."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
import shutil
import statistics
import time

from urlab_ros_bridge.cli.checks.finding import Finding
from urlab_ros_bridge.cli.checks.finding import Severity

SHM = Path('/dev/shm')
# Names of the segments and port queues that Fast DDS makes, and of their locks.
FASTDDS_NAMES = ('fastrtps_', 'fastdds_')
LOCK_ENDINGS = ('_el', '_sl')
MUCH_LEAKED = 256 << 20
# config/fastdds.xml asks for 32 MiB a process; a container often has 64 MiB in all.
LITTLE_SPACE = 256 << 20
SLEEP_SECONDS = 0.002
SLOW_SLEEP = 0.010


def is_held(guard: Path) -> bool:
    """Return whether a process holds a lock on the file; an inaccessible file counts as locked."""
    try:
        with guard.open('rb') as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    return False


def leaked_segments(folder: Path = SHM) -> list[Path]:
    """
    Return the Fast DDS segments whose owners have died.

    A living owner holds a lock on the file NAME_el (exclusive) or NAME_sl (shared) beside the
    segment NAME; a segment whose lock files no process holds is left over from a killed process.
    """
    if not folder.is_dir():
        return []
    leaked = []
    for path in sorted(folder.iterdir()):
        if not path.name.startswith(FASTDDS_NAMES) or path.name.endswith(LOCK_ENDINGS):
            continue
        guards = [path.with_name(path.name + ending) for ending in LOCK_ENDINGS]
        existing = [guard for guard in guards if guard.exists()]
        if existing and not any(is_held(guard) for guard in existing):
            leaked.append(path)
    return leaked


def check_leaks() -> Finding:
    """Check for shared memory left behind by killed ROS processes."""
    leaked = leaked_segments()
    size = sum(path.stat().st_blocks * 512 for path in leaked)
    found = f'{len(leaked)} left over from killed processes, {size / 2**20:.0f} MiB'
    if not leaked:
        return Finding(Severity.OK, 'shared memory', 'nothing left over from killed processes')
    advice = 'to remove them: fastdds shm clean'
    return Finding(
        Severity.WARN if size > MUCH_LEAKED else Severity.OK,
        'shared memory',
        found,
        advice,
    )


def check_space(folder: Path = SHM) -> Finding:
    """Check that shared memory has space for camera images."""
    if not folder.is_dir():
        return Finding(
            Severity.WARN,
            str(folder),
            'does not exist',
            'ROS sends images over UDP, which is slower',
        )
    free = shutil.disk_usage(folder).free
    found = f'{free / 2**20:.0f} MiB free'
    if free < LITTLE_SPACE:
        advice = 'run "fastdds shm clean"; start a container with --shm-size=1g or --ipc=host'
        return Finding(Severity.WARN, str(folder), found, advice)
    return Finding(Severity.OK, str(folder), found)


def check_processors() -> Finding:
    """Check for two processors, for the simulation and the bridge."""
    count = len(os.sched_getaffinity(0))
    load = os.getloadavg()[0]
    found = f'{count}, load {load:.1f}'
    if count < 2:
        advice = 'real time may not be reached with one processor'
        return Finding(Severity.WARN, 'processors', found, advice)
    if load > 1.5 * count:
        return Finding(Severity.WARN, 'processors', found, 'busy: real time may not be reached')
    return Finding(Severity.OK, 'processors', found)


def check_clock() -> Finding:
    """Check the accuracy of short sleeps, which pace the live loop."""
    late = []
    for _ in range(50):
        before = time.monotonic()
        time.sleep(SLEEP_SECONDS)
        late.append(time.monotonic() - before - SLEEP_SECONDS)
    median = statistics.median(late)
    found = f'a sleep of {SLEEP_SECONDS * 1e3:g} ms is {median * 1e3:.2f} ms late (median)'
    if time.time() < 1.6e9:
        return Finding(Severity.WARN, 'clock', 'the date is before 2020', 'set the system clock')
    if median > SLOW_SLEEP:
        return Finding(Severity.WARN, 'clock', found, 'the machine is too busy for real time')
    return Finding(Severity.OK, 'clock', found)


def check_all() -> list[Finding]:
    """Check the machine."""
    return [check_processors(), check_clock(), check_space(), check_leaks()]
