# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Simulations as processes of their own."""

from contextlib import contextmanager
from pathlib import Path

from urlab_programs import ANY_PORTS
from urlab_programs import port_of
from urlab_programs import program


@contextmanager
def simulation(world, *words, cameras=False):
    """Run a world, of this name or of a file; yield its RPC port."""
    option = 'model' if isinstance(world, Path) else 'world'
    if not cameras:
        words = ('--cameras=off', *words)
    with program('server', f'--{option}={world}', *ANY_PORTS, *words) as (_, line):
        yield port_of(line)
