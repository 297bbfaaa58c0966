#!/usr/bin/env python3
# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Take the pictures of the browser page for README and docs, with a headless Chromium.

In the environment of `make setup`, after `make web`, with Debian's chromium installed:

    python docs/scripts/page_pictures.py [NAME ...]
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
import io
from pathlib import Path
import shutil
import subprocess
import sys
import time

from PIL import Image
from playwright.sync_api import Page as Tab
from playwright.sync_api import sync_playwright

from urlab_ros_bridge.client import Client
from urlab_ros_bridge.gateways.virtual_field.page.pages import Page
from urlab_ros_bridge.gateways.virtual_field.serving.server import WebXrConfig
from urlab_ros_bridge.gateways.virtual_field.serving.server import WebXrServer

IMAGES = Path(__file__).parents[1] / 'images'
DESK, PHONE = (1280, 800), (390, 800)
ARGUMENTS = [
    '--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader',
    '--ignore-gpu-blocklist',
]  # fmt: skip
# How long a picture may take where the processor draws (s).
PATIENCE = 600.0
QUALITY = 88
PORTS = ('rpc', 'state', 'camera', 'control', 'info')


@dataclass(frozen=True)
class Shot:
    """
    One picture.

    :ivar script: what is done on the page before; `seconds` are waited after it.
    """

    name: str
    world: str
    theme: str = 'light'
    size: tuple[int, int] = DESK
    keyframe: str = ''
    script: str = ''
    seconds: float = 2.0


LOOK = 'urlab.stage.camera.position.set({0}); urlab.views.controls.target.set({1}); '
SELECT = "urlab.select(urlab.world.bodies.find(({{local}}) => local === '{0}').id); "
SHOTS = (
    Shot(
        'page_rover', 'rover',
        script=LOOK.format('1.55, 1.15, 1.5', '0, 0.22, 0') + SELECT.format('left_wheel_link'),
    ),
    Shot(
        'page_bimanual', 'bimanual', 'dark', keyframe='home',
        script=LOOK.format('2.2, 1.75, 1.35', '0.15, 0.85, 0')
        + 'urlab.plots.show(); ' + SELECT.format('left_forearm'),
        seconds=22,
    ),
    Shot(
        'page_quadruped', 'quadruped', keyframe='stand',
        script=LOOK.format('1.3, 0.85, 1.25', '0, 0.25, 0')
        + "urlab.showPanel.toggle('contacts');",
    ),
    Shot('page_phone', 'rover', 'light', PHONE, script=LOOK.format('2.1, 1.7, 2.6', '0, 0.3, 0')),
)  # fmt: skip


@contextmanager
def page_of(world: str, keyframe: str) -> Iterator[str]:
    """Run a simulation and its gateway; yield where the page is."""
    words = [sys.executable, '-m', 'urlab_ros_bridge.cli.main', 'server', f'--world={world}']
    words += [f'--{name}-port=0' for name in PORTS]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        port = int(server.stdout.readline().split('rpc=')[1].split()[0].rpartition(':')[2])
        with Client(rpc_port=port, shared=True) as client:
            client.connect()
            client.reset(keyframe or None)
        page = Page()
        gateway = WebXrServer(WebXrConfig(rpc_port=port, port=0), page, page)
        gateway.start(60.0)
        try:
            yield gateway.url
        finally:
            gateway.stop()
    finally:
        server.terminate()
        server.wait(30)


def wait_until(tab: Tab, condition: str) -> None:
    """Wait for a condition by asking: the policy of the page allows no polling inside it."""
    deadline = time.monotonic() + PATIENCE
    while not tab.evaluate(f'() => Boolean({condition})'):
        if time.monotonic() > deadline:
            raise TimeoutError(f'not within {PATIENCE:g} s: {condition}')
        tab.wait_for_timeout(200)


def take(tab: Tab, shot: Shot, url: str) -> None:
    """Write one picture."""
    tab.set_default_timeout(PATIENCE * 1000)
    tab.goto(f'{url}/?quality=high&keep&theme={shot.theme}', wait_until='commit')
    wait_until(tab, 'window.urlab?.isReady')
    tab.wait_for_timeout(1000)
    tab.evaluate(f'() => {{ {shot.script} urlab.stage.touch(); }}')
    tab.wait_for_timeout(shot.seconds * 1000)
    tab.evaluate("() => urlab.connection.request('pause', { paused: true })")
    tab.evaluate("() => document.getElementById('hint').remove()")
    tab.evaluate('() => urlab.stage.touch()')
    wait_until(tab, f'urlab.stage.frames > {tab.evaluate("() => urlab.stage.frames")} + 1')
    picture = Image.open(io.BytesIO(tab.screenshot())).convert('RGB')
    picture.save(IMAGES / f'{shot.name}.webp', quality=QUALITY, method=6)
    print(f'{shot.name}.webp: {picture.width} x {picture.height}', flush=True)


def main() -> None:
    """Take those that are named, or all."""
    chosen = sys.argv[1:]
    chromium = shutil.which('chromium') or shutil.which('chromium-browser')
    with sync_playwright() as player:
        browser = player.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        for shot in SHOTS:
            if chosen and shot.name not in chosen:
                continue
            width, height = shot.size
            # A phone has more pixels to a point.
            scale = 1 if width > height else 2
            with page_of(shot.world, shot.keyframe) as url:
                tab = browser.new_page(
                    viewport={'width': width, 'height': height}, device_scale_factor=scale
                )
                take(tab, shot, url)
                tab.close()
        browser.close()


if __name__ == '__main__':
    main()
