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

import watchers

if TYPE_CHECKING:
    from run_soak import Soak

PATIENCE = 60.0  # s


def image(soak: Soak) -> float:
    """Return the simulated time of the next image (s), however long the way there is."""
    port, deadline = soak.programs.ports['rpc'], time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        images = contextlib.closing(watchers.camera_images(port, int))
        with contextlib.suppress(TimeoutError), images as each:
            return next(each)[1]
    raise AssertionError('no images came any more')


def renderer_of(soak: Soak) -> int:
    """Return the renderer, which has drawn a image."""
    image(soak)
    renderer = soak.programs.renderer()
    assert renderer is not None, 'there are images and no renderer'
    return renderer


@contextlib.contextmanager
def replaced(soak: Soak) -> Iterator[int]:
    """Yield the renderer; after the block another one must draw later images."""
    renderer, before = renderer_of(soak), image(soak)
    yield renderer
    soak.ended = time.monotonic()
    deadline = soak.ended + PATIENCE
    while (after := image(soak)) and soak.programs.renderer() in (None, renderer):
        assert time.monotonic() < deadline, 'the renderer is still the same'
    assert after > before, f'a image of {after} after one of {before}'


def killed(soak: Soak) -> None:
    """kill -9 of the renderer."""
    with replaced(soak) as renderer:
        os.kill(renderer, signal.SIGKILL)


def stopped(soak: Soak) -> None:
    """SIGSTOP of the renderer for a while; nobody but those who watch images may notice."""
    renderer, begun = renderer_of(soak), time.monotonic()
    os.kill(renderer, signal.SIGSTOP)
    try:
        with soak.client() as client:
            # More changes of what images show than the way to the renderer has room for.
            for number in range(320):
                client.randomize({'color': {'scale': [0.9, 1.1]}}, seed=number)
            client.randomize(restore=True)
        time.sleep(soak.window)
        late = [
            w.name for w in soak.watchers if not w.name.startswith('camera') and w.newest < begun
        ]
        assert not late, f'{late} got nothing while the renderer was stopped'
    finally:
        os.kill(renderer, signal.SIGCONT)
    assert image(soak)


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
# Those after which there is another renderer.
DEADLY = (killed, context_lost)
