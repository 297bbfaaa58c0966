# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A screen without hardware (Xvfb), and a user in front of it (xdotool)."""

from contextlib import contextmanager
import os
from pathlib import Path
import shutil
import subprocess
import tempfile

from lifelines import run_process
from lifelines import start_process
import numpy as np

PROGRAMS = ('Xvfb', 'xdotool')
MISSING = [program for program in PROGRAMS if shutil.which(program) is None]
WIDTH, HEIGHT = 640, 480
_COMMAND = ['Xvfb', '-displayfd', '1', '-screen', '0', f'{WIDTH}x{HEIGHT}x24', '-nolisten', 'tcp']


class Screen:
    """:ivar environ: of programs whose windows it shows."""

    def __init__(self, display, framebuffer):
        self.environ = {**os.environ, 'DISPLAY': display}
        self._framebuffer = framebuffer

    def picture(self):
        """Return what it shows, (HEIGHT, WIDTH, 3) BGR."""
        dump = self._framebuffer.read_bytes()  # XWD: a header, colour cells, pixels
        header = int.from_bytes(dump[:4], 'big') + 12 * int.from_bytes(dump[76:80], 'big')
        pixels = np.frombuffer(dump, np.uint8, WIDTH * HEIGHT * 4, header)
        return pixels.reshape(HEIGHT, WIDTH, 4)[..., :3]

    def do(self, *words):
        """Let the user do something, in the words of xdotool; return what it prints."""
        done = run_process(
            ['xdotool', *map(str, words)], env=self.environ, capture_output=True, text=True
        )
        return done.stdout.split()


@contextmanager
def running_screen():
    """Run a screen as long as the context lasts."""
    with tempfile.TemporaryDirectory() as folder:
        server = start_process(
            [*_COMMAND, '-fbdir', folder],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            yield Screen(f':{server.stdout.readline().strip()}', Path(folder, 'Xvfb_screen0'))
        finally:
            server.terminate()
            server.wait()
            server.stdout.close()
