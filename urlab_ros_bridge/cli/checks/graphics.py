# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Rendering of cameras without a screen."""

from __future__ import annotations

import os
import sys

from urlab_ros_bridge.cli.checks.finding import Finding
from urlab_ros_bridge.cli.checks.finding import is_absent
from urlab_ros_bridge.cli.checks.finding import run_python
from urlab_ros_bridge.cli.checks.finding import Severity
from urlab_ros_bridge.cli.checks.finding import TOO_SLOW
from urlab_ros_bridge.interpreters import find_python

BACKENDS = ('egl', 'osmesa')
RENDER_SECONDS = 60.0
_MISSING = (
    'cameras cannot be rendered; on Debian and Ubuntu run: apt-get install libegl1 libgl1 '
    'libopengl0 libegl-mesa0 libgl1-mesa-dri'
)
_SLOW = (
    'rendering is too slow; no library is missing. The machine is busy, or renders in software on '
    'few processors: use fewer cameras, or smaller ones'
)

# Renders a red sphere, checks for red in the middle of the image, and measures the time.
_RENDER = """
import time
import mujoco
model = mujoco.MjModel.from_xml_string(
    "<mujoco><visual><headlight ambient='.6 .6 .6'/><global offwidth='640' offheight='480'/>"
    "</visual><worldbody><geom size='1' rgba='1 0 0 1'/>"
    "<camera name='c' pos='0 -3 0' xyaxes='1 0 0 0 0 1'/></worldbody></mujoco>")
data = mujoco.MjData(model)
mujoco.mj_forward(model, data)
with mujoco.Renderer(model, 480, 640) as renderer:
    times = []
    for _ in range(3):
        before = time.perf_counter()
        renderer.update_scene(data, 'c')
        red, green, blue = (int(value) for value in renderer.render()[240, 320])
        times.append(time.perf_counter() - before)
assert red > 60 and red > 2 * green, f'the image is wrong: {red, green, blue}'
print(f'renders 640x480 in {1e3 * min(times):.1f} ms')
"""


def _short(text: str) -> str:
    return text if len(text) <= 90 else text[:87] + '...'


def check_backend(backend: str) -> tuple[bool, str]:
    """Render images with a backend; return whether they are correct, and a report."""
    works, output = run_python(
        _RENDER,
        {'MUJOCO_GL': backend, 'PYOPENGL_PLATFORM': backend},
        RENDER_SECONDS,
        find_python(('mujoco',)) or sys.executable,
    )
    return works, _short(output)


def check_all() -> list[Finding]:
    """Check the OpenGL backends of MuJoCo; one that works is enough."""
    chosen = os.environ.get('MUJOCO_GL', '')
    results = {backend: check_backend(backend) for backend in BACKENDS}
    if all(is_absent(output, 'mujoco') for _, output in results.values()):
        return [Finding(Severity.WARN, 'GL', 'not checked: MuJoCo is not installed')]
    usable = [backend for backend, (works, _) in results.items() if works]
    findings = []
    for backend, (works, output) in results.items():
        level, advice = Severity.OK, ''
        if not works and not usable:
            level = Severity.FAIL
            advice = _SLOW if TOO_SLOW.format(RENDER_SECONDS) in output else _MISSING
        elif not works:
            output = f'not usable ({output}); not needed, {usable[0]} is'
        findings.append(Finding(level, f'GL {backend}', output, advice))
    if chosen and chosen in results and chosen not in usable and usable:
        findings.append(
            Finding(
                Severity.FAIL,
                'MUJOCO_GL',
                f'{chosen} does not work here',
                f'export MUJOCO_GL={usable[0]}',
            )
        )
    return findings
