# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium with software rendering, and visits of the page."""

from contextlib import contextmanager
import importlib.util
import io
from pathlib import Path
import shutil
import time

import numpy as np
from PIL import Image
import pytest

from urlab_ros_bridge.gateways.virtual_field.page.files import WEB

SIZE = {'width': 420, 'height': 320}
PHONE = {'size': {'width': 390, 'height': 760}, 'has_touch': True, 'is_mobile': True}
PATIENCE = 120.0  # s
CHROMIUM = shutil.which('chromium') or shutil.which('chromium-browser')
ARGUMENTS = [
    '--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader',
    '--ignore-gpu-blocklist', '--disable-background-timer-throttling', '--disable-dev-shm-usage',
    '--disable-gpu-compositing',  # half of all it does, where a processor draws
]  # fmt: skip
# A processor draws, and the page draws as often as it may: some images a second show as much.
SELDOM = """
const draw = requestAnimationFrame.bind(window);
window.requestAnimationFrame = (then) => setTimeout(() => draw(then), 250);
"""

READY = 'window.urlab?.isReady'

# What tests need that open the page.
NEEDED = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason='no chromium: apt-get install chromium'),
    pytest.mark.skipif(
        importlib.util.find_spec('playwright') is None, reason='no playwright: make setup'
    ),
    pytest.mark.skipif(not (WEB / 'vendor/three').is_dir(), reason='no three.js: make web'),
]


@contextmanager
def chromium():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as player:
        browser = player.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


class Visitor:
    """
    A page that has drawn its world; its end is an error if the console said something was wrong.

    :ivar errors: what the console said was wrong, but for connections that were refused.
    """

    def __init__(self, browser, url, query='', scripts=(), size=SIZE, ready=READY, **options):
        """
        Open the page and wait for its first image.

        :param size: of the window, that of a small phone.
        :param scripts: what the browser runs before those of the page: texts and files.
        :param ready: what is waited for in place of its first image.
        """
        self.errors = []
        self.tab = browser.new_page(viewport=size, **options)
        self.tab.set_default_timeout(PATIENCE * 1000)
        self.tab.on('console', self._listen)
        self.tab.on('pageerror', lambda error: self.errors.append(str(error)))
        for script in (SELDOM, *scripts):
            is_file = isinstance(script, Path)
            self.tab.add_init_script(**{'path' if is_file else 'script': script})
        # Pictures are kept, so that a screenshot shows what was drawn last.
        self.tab.goto(f'{url}/?keep&theme=light{query}', wait_until='commit')
        self.until(ready)
        self.take_control()

    def __enter__(self):
        return self

    def __exit__(self, failed, *_):
        self.tab.close()
        assert failed or self.errors == []

    def take_control(self):
        """Take control of the robots, which another page of the gateway may have."""
        self.tab.evaluate("() => urlab.connection.request('control_take').catch(() => {})")

    def reload(self):
        """Load the page again, and wait for its first image."""
        self.tab.reload(wait_until='commit')
        self.until(READY)

    def _listen(self, message):
        if message.type == 'error' and 'WebSocket' not in message.text:
            self.errors.append(message.text)

    def js(self, expression):
        """Return the value of an expression; the policy of the page allows no eval in it."""
        return self.tab.evaluate(f'() => {{ return {expression}; }}')

    def drag_by_finger(self, start, end, condition):
        """Drag a finger from a pixel to another, and let go once a condition is true."""
        fingers = self.tab.context.new_cdp_session(self.tab)
        (x, y), (to_x, to_y) = start, end
        points = [(x + (to_x - x) * part / 5, y + (to_y - y) * part / 5) for part in range(6)]
        for number, (at_x, at_y) in enumerate(points):
            kind = 'touchMove' if number else 'touchStart'
            touch = {'type': kind, 'touchPoints': [{'x': at_x, 'y': at_y}]}
            fingers.send('Input.dispatchTouchEvent', touch)
        self.until(condition)
        fingers.send('Input.dispatchTouchEvent', {'type': 'touchEnd', 'touchPoints': []})
        fingers.detach()

    def until(self, condition):
        """Wait for a condition in the page."""
        self.wait(lambda: self.js(f'Boolean({condition})'), condition)

    def hold(self, key, condition):
        """
        Hold a key down until a condition is true, and longer.

        As that of a keyboard it repeats itself: the page lets go of its keys when it loses the
        focus or meets a new world.
        """
        held = self.tab.keyboard.down
        self.wait(lambda: held(key) or self.js(f'Boolean({condition})'), condition)

    def drive_ahead(self, distance):
        """Drive the first robot so far along x (m), until the key is released."""
        base = 'urlab.bodies.groups[urlab.world.robots[0].base].position.x'
        self.hold('w', f'{base} > {self.js(base)} + {distance}')
        self.tab.keyboard.up('w')

    def wait(self, condition, named='the condition'):
        """Wait for a condition, while the page goes on."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline, f'not within {PATIENCE:g} s: {named}'
            self.tab.wait_for_timeout(50)

    def drawn(self):
        """Wait until what is there now has been drawn."""
        frames = self.js('urlab.stage.frames')
        self.until(f'(urlab.stage.touch(), urlab.stage.frames > {frames} + 1)')

    def image(self):
        """Return what the world looks like, without panels: shape (height, width, 3)."""
        self.drawn()
        self.tab.evaluate("() => document.body.classList.add('bare')")
        png = self.tab.screenshot()
        self.tab.evaluate("() => document.body.classList.remove('bare')")
        return np.asarray(Image.open(io.BytesIO(png)).convert('RGB')).astype(int)

    def place(self, body):
        """Return where a body is, by its name: position, y up."""
        return np.array(
            self.js(
                'urlab.bodies.groups[urlab.world.bodies.find('
                f'({{name}}) => name === {body!r}).id].position.toArray()'
            )
        )

    def on_screen(self, vector):
        """Return the pixel at which a point of the world is drawn, given as three.js has it."""
        return self.js(
            f'(({{x, y}}) => [(x + 1) / 2 * innerWidth, (1 - y) / 2 * innerHeight])'
            f'({vector}.clone().project(urlab.stage.camera))'
        )


def changed(before, after):
    """Return the share of pixels that differ clearly."""
    return float((np.abs(before - after).max(axis=2) > 24).mean())
