# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The renderer is killed, stopped, or loses its GL context."""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
import os
import signal
import time
from typing import TYPE_CHECKING

from waiting import wait_until

if TYPE_CHECKING:
    from run_soak import Soak


def renderer_of(soak: Soak) -> int:
    """Return the renderer, which has drawn an image."""
    soak.wait_for_data('camera direct')
    renderer = soak.programs.renderer()
    assert renderer is not None, 'there are images and no renderer'
    return renderer


@contextlib.contextmanager
def replaced(soak: Soak) -> Iterator[int]:
    """Yield the renderer; after the block another one must draw."""
    renderer = renderer_of(soak)
    yield renderer
    wait_until(lambda: soak.programs.renderer() not in (None, renderer), why='no new renderer')


def killed(soak: Soak) -> None:
    """kill -9 of the renderer."""
    with replaced(soak) as renderer:
        os.kill(renderer, signal.SIGKILL)


def stopped(soak: Soak) -> None:
    """SIGSTOP of the renderer for a while; nobody but those who watch images may notice."""
    renderer = renderer_of(soak)
    os.kill(renderer, signal.SIGSTOP)
    try:
        with soak.client() as client:
            # More changes of what images show than the way to the renderer has room for.
            for number in range(320):
                client.randomize({'color': {'scale': [0.9, 1.1]}}, seed=number)
            client.randomize(restore=True)
        soak.wait_for_data(*{w.name for w in soak.watchers} - {'camera direct', 'camera proxied'})
    finally:
        os.kill(renderer, signal.SIGCONT)


def context_lost(soak: Soak) -> None:
    """Every OpenGL context is lost, and for a while no new one can be made."""
    with replaced(soak):
        soak.programs.no_graphics.touch()
        try:
            time.sleep(soak.window)
        finally:
            soak.programs.no_graphics.unlink()


FAULTS = {
    'kill -9 of the renderer': killed,
    'SIGSTOP of the renderer': stopped,
    'loss of the GL context': context_lost,
}
