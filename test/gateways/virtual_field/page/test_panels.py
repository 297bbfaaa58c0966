# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Controls of the page: views, overlays, menus, help; laptop and phone, light and dark."""

import itertools
from pathlib import Path

import numpy as np
from PIL import Image
import pytest
from unstable_world import PREFIX
from unstable_world import write_unstable_world

from test.gateways.running import field_at
from test.gateways.virtual_field.page.browser import changed
from test.gateways.virtual_field.page.browser import NEEDED
from test.gateways.virtual_field.page.browser import Visitor
from test.gateways.virtual_field.programs import simulation
from urlab_ros_bridge.client import Client
from urlab_ros_bridge.client.errors import EStopEngaged
from urlab_ros_bridge.gateways.virtual_field.page.pages import Page

pytestmark = NEEDED

LAPTOP, PHONE = {'width': 1000, 'height': 640}, {'width': 390, 'height': 760}
BASE = 'urlab.bodies.groups[urlab.world.robots[0].base]'


@pytest.fixture(scope='module')
def visitor(browser, rover_url):
    with Visitor(browser, rover_url, size=LAPTOP) as visitor:
        yield visitor


def test_the_help_names_every_key_and_closes_again(visitor):
    visitor.tab.keyboard.press('?')
    assert visitor.js("document.getElementById('help').open")
    keys = set(visitor.js("[...document.querySelectorAll('#help kbd')].map((k) => k.textContent)"))
    assert {*'.R123FHCTXLBPK?WASDQENI', 'Space', 'Shift', 'Esc'} <= keys
    visitor.tab.keyboard.press('Escape')
    assert not visitor.js("document.getElementById('help').open")


def test_a_robot_is_followed_and_looked_through(visitor, urlab):
    urlab.reset()
    visitor.until('urlab.latest.time < 30')
    visitor.tab.keyboard.press('2')
    visitor.until("urlab.views.mode === 'follow' && !urlab.views.transition")
    visitor.drawn()
    away = f'urlab.stage.camera.position.clone().sub({BASE}.position).toArray()'
    before = visitor.js(away)
    visitor.drive_ahead(0.3)
    visitor.until(f'Math.hypot(...{away}.map((part, i) => part - {before}[i])) < 0.02')

    visitor.tab.keyboard.press('3')
    visitor.tab.locator('.menu .item', has_text='front').first.click()
    visitor.until("urlab.views.mode === 'camera'")
    visitor.drawn()
    assert visitor.js(f'urlab.stage.camera.position.distanceTo({BASE}.position)') < 0.6
    visitor.tab.keyboard.press('1')
    assert visitor.js('urlab.views.mode') == 'orbit'


def test_trails_frames_and_scans_are_where_they_belong(visitor, urlab):
    urlab.reset()
    visitor.tab.keyboard.press('t')
    visitor.tab.keyboard.press('x')
    visitor.drive_ahead(0.3)
    trail = np.array(visitor.js('urlab.overlays.trails[0].points.map((p) => p.toArray())'))
    assert len(trail) > 2 and (np.diff(trail[:, 0]) > 0).all()
    assert np.abs(trail[:, 2]).max() < 0.05  # straight on
    # The third axis of the robot, which is blue, points up, once it was drawn.
    visitor.until(
        'urlab.overlays.axes.find(({parent}) => parent.userData.body === '
        'urlab.world.robots[0].base).matrixWorld.elements[9] > 0.9'
    )
    # Each ray that meets something is a point, as far away as it was measured.
    _, ranges, shown = visitor.js(
        '[urlab.overlays.update([], urlab.watched), '
        '[...urlab.watched.get(urlab.overlays.scans[0].lidar.channel)]'
        '.map((range) => Number.isFinite(range) && range > 0 ? range : null), '
        '[...urlab.overlays.scans[0].positions.array.slice(0, '
        '3 * urlab.overlays.scans[0].points.geometry.drawRange.count)]]'
    )
    hits = [distance for distance in ranges if distance is not None]
    assert len(hits) > 100
    np.testing.assert_allclose(np.linalg.norm(np.reshape(shown, (-1, 3)), axis=1), hits, rtol=1e-5)
    for key in 'tx':
        visitor.tab.keyboard.press(key)


def test_speed_and_keyframes_are_chosen_from_menus_by_keys_and_mouse(visitor, urlab):
    visitor.tab.get_by_role('button', name='Speed').click()
    visitor.tab.keyboard.press('ArrowDown')
    visitor.tab.keyboard.press('Enter')
    visitor.wait(lambda: urlab.status().speed == 10, 'a tenth of the speed')
    visitor.until("urlab.transport.speed.textContent === '10 %'")
    urlab.set_sim_speed(100)
    visitor.tab.get_by_role('button', name='Reset to a keyframe').click()
    visitor.tab.locator('.menu .item', has_text='dock').first.click()
    model = urlab.handshake.model
    start = model.joint('rover_base').qposadr[0]
    wanted = model.key('rover_dock').qpos[start : start + 2]
    visitor.until(
        f'Math.hypot({BASE}.position.x - {wanted[0]}, {BASE}.position.z + {wanted[1]}) < 0.02'
    )
    urlab.reset()


def test_the_theme_is_changed(visitor):
    before = visitor.image()
    for theme in ('dark', 'light'):
        visitor.tab.get_by_role('button', name='Light or dark').click()
        assert visitor.js('document.documentElement.dataset.theme') == theme
        if theme == 'dark':
            assert changed(before, visitor.image()) > 0.2


def test_a_phone_has_everything_within_reach(visitor):
    visitor.tab.set_viewport_size(PHONE)
    visitor.until(f'innerWidth === {PHONE["width"]}')
    visitor.until("/[0-9.]+\u00d7|paused/.test(document.getElementById('facts').innerText)")

    def boxes(selector):
        return visitor.js(
            f'[...document.querySelectorAll({selector!r})].filter((e) => e.checkVisibility())'
            '.map((e) => e.getBoundingClientRect()).map((r) => [r.left, r.top, r.right, r.bottom])'
        )

    def check(selector, least):
        found = np.array(boxes(selector))
        assert len(found) >= least
        assert (found[:, :2] >= -0.5).all()
        assert (found[:, 2] <= PHONE['width'] + 0.5).all()
        assert (found[:, 3] <= PHONE['height'] + 0.5).all()
        return found

    buttons = check('#bar .btn, #e-stop .btn, #tools .btn, #tabs .btn', 16)
    assert (buttons[:, 2:] - buttons[:, :2]).min() >= 34  # px: a finger is no mouse
    for (left, top, right, bottom), other in itertools.combinations(buttons.tolist(), 2):
        apart = right <= other[0] + 1 or other[2] <= left + 1
        assert apart or bottom <= other[1] + 1 or other[3] <= top + 1
    tabs = visitor.tab.locator('#tabs button')
    for index in range(tabs.count()):
        tabs.nth(index).click()
        check('.panel.shown', 1)
        tabs.nth(index).click()
    visitor.tab.set_viewport_size(LAPTOP)


def test_plots_and_views_are_saved_as_files(visitor, urlab):
    visitor.js('urlab.plots.show()')
    visitor.until('urlab.plots.rows[0].length > 20')
    with visitor.tab.expect_download() as table:
        visitor.tab.get_by_role('button', name='Save as CSV').click()
    lines = Path(table.value.path()).read_text().splitlines()
    assert lines[0].startswith('time,left_wheel')
    times = [float(line.split(',')[0]) for line in lines[1:]]
    assert len(times) > 20 and times == sorted(times)
    with visitor.tab.expect_download() as view:
        visitor.tab.get_by_role('button', name='Save an image of the view').click()
    image = Image.open(view.value.path())
    assert min(image.size) >= 200 and len(image.convert('L').getcolors()) > 20
    # Time goes on across a reset.
    urlab.reset()
    visitor.until('urlab.plots.timeOffset > 0')
    times = visitor.js('urlab.plots.rows[0]')
    assert times == sorted(times) and len(times) > 5
    visitor.js('urlab.plots.hide()')


def test_a_plot_begins_with_the_past_and_stays_where_it_is_zoomed(visitor, urlab):
    visitor.until('urlab.history.frames.length > 40 && urlab.history.frames.at(-41).order.length')
    visitor.js(
        "urlab.plots.channels = urlab.world.channels.filter((one) => one.kind === 'velocity')"
    )
    visitor.js('urlab.plots.show()')
    times, speeds = visitor.js('urlab.plots.rows.slice(0, 2)')
    assert len(times) > 30 and times == sorted(times)
    assert sum(speed is not None for speed in speeds) > 30

    box = visitor.tab.locator('#dock .u-over').bounding_box()
    y = box['y'] + box['height'] / 2
    visitor.tab.mouse.move(box['x'] + 0.6 * box['width'], y)
    visitor.tab.mouse.down()
    visitor.tab.mouse.move(box['x'] + 0.8 * box['width'], y, steps=4)
    visitor.tab.mouse.up()
    visitor.until('urlab.plots.isZoomed')
    low, high = visitor.js('[urlab.plots.plot.scales.x.min, urlab.plots.plot.scales.x.max]')
    assert high - low == pytest.approx(0.2 * visitor.js('urlab.plots.seconds'), rel=0.1)
    count = visitor.js('urlab.plots.rows[0].length')
    visitor.until(f'urlab.plots.rows[0].length > {count} + 10')
    assert visitor.js('urlab.plots.plot.scales.x.min') == low
    visitor.tab.get_by_role('button', name='Follow the newest values again').click()
    visitor.until(f'urlab.plots.plot.scales.x.min > {low}')
    visitor.js('urlab.plots.hide()')


def test_a_wheel_turns_while_its_slider_is_held(visitor, urlab):
    base = visitor.js('urlab.world.robots[0].base')
    visitor.js(f'urlab.select({base})')
    slider = visitor.tab.get_by_label('Command left_wheel')
    box = slider.bounding_box()
    middle = box['y'] + box['height'] / 2
    visitor.tab.mouse.move(box['x'] + box['width'] / 2, middle)
    visitor.tab.mouse.down()
    visitor.tab.mouse.move(box['x'] + box['width'] * 0.75, middle)

    def speed():
        return urlab.forward(observations='full').articulations['rover'].qvel[-2]

    visitor.wait(lambda: speed() > 2.0)
    visitor.tab.wait_for_timeout(1000)  # longer than an unrepeated command lasts
    assert speed() > 2.0
    visitor.tab.mouse.up()
    visitor.wait(lambda: abs(speed()) < 0.1)
    visitor.js('urlab.select(-1)')
    urlab.reset()


def test_an_unstable_simulation_is_shown_until_the_next_reset(browser, tmp_path):
    alarm = "document.getElementById('unstable')"
    with (
        simulation(write_unstable_world(tmp_path)) as port,
        field_at(port, Page()) as gateway,
        Client(rpc_port=port, shared=True, raise_on_divergence=False) as client,
        Visitor(browser, gateway.url, size=LAPTOP) as visitor,
    ):
        visitor.until('urlab.transport.status')
        assert visitor.js(f'{alarm}.hidden')
        client.set_setpoints(PREFIX, {'hinge': 0.5})
        visitor.until(f'!{alarm}.hidden && {alarm}.checkVisibility()')
        assert 'unstable' in visitor.js(f'{alarm}.title')
        visitor.tab.keyboard.press('r')
        visitor.until(f'{alarm}.hidden')


GAMEPAD = """
window.pad = { mapping: 'standard', axes: [0, 0, 0, 0], buttons: [] };
navigator.getGamepads = () => [null, window.pad];
"""


@pytest.fixture(scope='module')
def second_page(browser, rover_url):
    """Yield a second page, with a gamepad."""
    with Visitor(browser, rover_url, size=PHONE, scripts=[GAMEPAD]) as other:
        yield other


@pytest.fixture
def other(second_page):
    """Return the second page, in control."""
    second_page.take_control()
    return second_page


def test_another_page_has_control_until_it_is_taken(visitor, other, urlab):
    control = "document.getElementById('control')"
    visitor.until(f'!{control}.hidden')
    assert 'Chrome on Linux' in visitor.tab.locator('#control').inner_text()
    visitor.tab.get_by_role('button', name='Ask').click()
    other.until(f"{control}.textContent.includes('asks for control')")
    visitor.tab.get_by_role('button', name='Take').click()
    other.until(f"{control}.textContent.includes('has control')")
    visitor.until(f'{control}.hidden')


def test_the_e_stop_is_seen_on_every_page_and_holds_the_robot(visitor, other, urlab):
    shown = "document.getElementById('stopped').checkVisibility()"
    try:
        other.tab.locator('#e-stop button').click()
        for page in (other, visitor):
            page.until(shown)
        with pytest.raises(EStopEngaged):
            urlab.set_twist('rover', (0.3, 0.0, 0.0))
        visitor.tab.keyboard.press('w')
        visitor.until("document.getElementById('toasts').textContent.includes('e-stop')")
        other.tab.get_by_role('button', name='Release the e-stop').click()
        for page in (other, visitor):
            page.until(f'!{shown}')
        visitor.tab.keyboard.press('Backspace')
        other.until(shown)
    finally:
        urlab.e_stop(False)
    visitor.until(f'!{shown}')


def test_a_gamepad_drives_the_robot_and_its_release_stops_it(other, urlab):
    urlab.reset()
    other.until(f'Math.hypot({BASE}.position.x, {BASE}.position.z) < 0.05')
    other.js('(document.hasFocus = () => true, pad.axes = [0, -1, 0, 0])')
    other.until(f'{BASE}.position.x > 0.3')
    other.js('(pad.axes = [0.05, 0.05, 0, 0])')
    other.until('urlab.driving.moved === false')
    urlab.reset()
