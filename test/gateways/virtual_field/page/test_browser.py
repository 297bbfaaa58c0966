# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The page in a real browser, with a real simulation behind it."""

import base64
import json
from pathlib import Path
import socket
import urllib.request

import numpy as np
import pytest

from test.gateways.virtual_field.field_client import FieldClient
from test.gateways.virtual_field.page.browser import changed
from test.gateways.virtual_field.page.browser import NEEDED
from test.gateways.virtual_field.page.browser import PHONE
from test.gateways.virtual_field.page.browser import Visitor
from test.gateways.virtual_field.programs import gateway_at
from test.gateways.virtual_field.programs import simulation
from test.gateways.virtual_field.protocol.test_foreign_gltf import glb
from test.gateways.virtual_field.protocol.test_foreign_gltf import textured
from urlab_ros_bridge.client import Client
from urlab_ros_bridge.client.replies.ops import BRIDGE
from urlab_ros_bridge.gateways.virtual_field.page.pages import Page

pytestmark = NEEDED

ROVER = 'rover_base_link'
BASE = 'urlab.bodies.groups[urlab.world.robots[0].base]'


@pytest.fixture(scope='module')
def visitor(browser, rover_url):
    return Visitor(browser, rover_url)


def test_the_page_draws_the_world_and_names_it(visitor):
    assert visitor.tab.title() == 'rover · URLab'
    assert visitor.js('urlab.bodies.groups.length') == visitor.js('urlab.world.bodies.length')
    # Neither empty nor one colour.
    picture = visitor.picture()
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 200


def test_pixels_of_the_robot_move_when_keys_drive_it_and_else_do_not(visitor, urlab):
    before = visitor.picture()
    start = visitor.place(ROVER)
    assert changed(before, visitor.picture()) < 0.002
    visitor.hold(
        'w', f'urlab.bodies.groups[urlab.world.robots[0].base].position.x > {start[0]} + 0.25'
    )
    visitor.tab.keyboard.up('w')
    assert changed(before, visitor.picture()) > 0.02
    # The key was let go: the robot stands again.
    visitor.until('urlab.history.frames.length > 40')
    visitor.until(
        '(([a, b]) => Math.abs(a - b) < 1e-3)'
        '([-1, -10].map((i) => urlab.history.frames.at(i)?.poses[0]))'
    )


def test_what_is_driven_does_not_leave_the_picture(visitor, urlab):
    urlab.reset()
    visitor.until('urlab.latest.time < 30')
    place = f'{BASE}.position.clone().project(urlab.stage.camera)'
    shown = f'(({{x, y}}) => Math.max(Math.abs(x), Math.abs(y)))({place})'
    visitor.js(
        '(window.seenFrom = [urlab.stage.camera.position, urlab.views.controls.target]'
        '.map((place) => place.clone()))'
    )
    camera, start = visitor.js('window.seenFrom[0].toArray()'), visitor.place(ROVER)
    # As far as it was from where the picture was taken: without the camera it would be gone.
    away = np.linalg.norm(np.array(camera) - start)
    visitor.hold('w', f'{BASE}.position.x > {start[0] + 0.8 * away}')
    assert visitor.js(shown) < 0.9
    visitor.tab.keyboard.up('w')
    moved = np.array(visitor.js('urlab.stage.camera.position.toArray()')) - camera
    assert moved[0] > 0.2 and abs(moved[2]) < 0.1
    urlab.reset()
    visitor.js('urlab.views.moveTo(...window.seenFrom, 0)')  # where the other tests look from


def test_pause_step_and_reset_do_what_they_say(visitor, urlab):
    visitor.tab.click('#run')
    visitor.until("urlab.transport.run.dataset.state === 'paused'")
    assert urlab.status().paused
    stands_at = urlab.status().step
    visitor.until(f'urlab.latest.step === {stands_at}')

    visitor.tab.click('#step')
    visitor.until(f'urlab.latest.step === {stands_at} + 10')
    assert urlab.status().step == stands_at + 10

    visitor.tab.click('#reset')
    visitor.until('urlab.latest.time < 0.01')
    np.testing.assert_allclose(visitor.place(ROVER)[0], 0.0, atol=0.02)
    assert urlab.status().paused

    visitor.tab.click('#run')
    visitor.until("urlab.transport.run.dataset.state === 'running'")
    assert not urlab.status().paused


def test_a_click_selects_a_body_and_shows_its_joints(visitor, urlab):
    wheel = (
        'urlab.bodies.bounds([urlab.world.bodies.find(({local}) => '
        "local === 'left_wheel_link').id])"
        '.getCenter(urlab.stage.focus.clone())'
    )
    visitor.js(
        "urlab.select(urlab.world.bodies.find(({local}) => local === 'left_wheel_link').id)"
    )
    visitor.until('urlab.inspector.channels.length === 1')
    assert visitor.tab.inner_text('#panel-details .title') == 'left_wheel_link'
    assert visitor.tab.inner_text('#panel-details .joint .name') == 'left_wheel'
    visitor.js('urlab.select(-1)')

    x, y = visitor.on_screen(wheel)
    visitor.js("document.body.classList.add('bare')")
    visitor.tab.mouse.click(x, y)
    visitor.js("document.body.classList.remove('bare')")
    visitor.until('urlab.selected > 0')
    assert visitor.js('urlab.world.bodies[urlab.selected].robot') == 'rover'


def test_what_is_watched_is_plotted_with_its_time(visitor, urlab):
    visitor.tab.keyboard.press('p')
    visitor.until('urlab.plots.rows[0].length > 10')
    times, first = visitor.js('urlab.plots.rows.slice(0, 2)')
    assert (np.diff(times) > 0).all()
    joint = visitor.js('urlab.plots.channels[0].name')
    position = urlab.step(observations='standard').articulations['rover'].qpos
    names = visitor.js('urlab.world.joints.map(({name}) => name)')
    assert joint in names
    # The wheels stand: what is plotted is one of the positions of the robot.
    assert np.abs(position - first[-1]).min() < 1e-2
    visitor.tab.keyboard.press('p')
    assert visitor.js('urlab.plots.dock.hidden')


def test_contacts_come_with_the_weight_of_the_robot(visitor, urlab):
    visitor.js("urlab.showPanel.toggle('contacts')")
    visitor.until('urlab.overlays.contacts.group.children[0].count > 2')
    rows = np.array(visitor.js('[...urlab.overlays.rows]')).reshape(-1, 6)
    moving = set(visitor.js('urlab.world.moving'))
    bodies = visitor.js('urlab.world.bodies')
    mass = sum(body['mass'] for body in bodies if body['id'] in moving)
    assert abs(np.abs(rows[:, 4]).sum() / (9.81 * mass) - 1.0) < 0.2
    visitor.js("urlab.showPanel.toggle('contacts')")


def test_what_is_pushed_comes_to_rest_under_the_pointer(visitor, urlab):
    urlab.reset()
    pallet = visitor.js('urlab.world.entities.find(({free}) => free)?.body ?? 0')
    body = pallet or visitor.js('urlab.world.robots[0].base')
    name = visitor.js(f'urlab.world.bodies[{body}].name')
    visitor.js(f'(urlab.fit({body}), urlab.views.transition = null)')
    visitor.drawn()
    start = visitor.place(name)
    goal = start + np.array([0.3, 0.0, 0.1])
    # Four messages a second, as of a slow page.
    visitor.tab.evaluate(
        f'() => {{ window.pushing = setInterval(() => urlab.connection.send("push", '
        f'{{ body: {body}, point: [0, 0, 0], target: {goal.tolist()} }}), 250); }}'
    )
    place = f'urlab.bodies.groups[{body}].position'
    [x, y, z] = goal
    away = f'Math.hypot({place}.x - {x}, {place}.y - {y}, {place}.z - {z})'
    visitor.until(f'{away} < 0.02')
    visitor.tab.wait_for_timeout(1500)
    assert visitor.js(away) < 0.03
    visitor.tab.evaluate('() => clearInterval(window.pushing)')
    visitor.until(
        '(([a, b]) => Math.abs(a - b) < 1e-3)([-1, -10].map((i) => urlab.history.frames.at(i)'
        f'?.poses[urlab.world.moving.indexOf({body}) * 7]))'
    )


def test_keys_drive_the_selected_robot_or_say_why_not(browser):
    page = Page()
    with simulation('fleet') as port, gateway_at(port, page) as gateway:
        visitor = Visitor(browser, gateway.url)
        robots = visitor.js('urlab.world.robots.map(({prefix, base}) => [prefix, base])')
        drives = visitor.js('urlab.driving.robots.map(({prefix}) => prefix)')
        said = "[...document.querySelectorAll('.toast.bad')].map((t) => t.textContent).join()"
        visitor.tab.keyboard.press(
            'W'
        )  # Caps Lock is on.  Nothing is selected, and several could be meant
        visitor.until(f"{said}.includes('Select the robot to drive')")
        prefix, base = next(robot for robot in robots if robot[0] == drives[-1])
        others = [number for other, number in robots if other != prefix]
        places = {number: f'urlab.bodies.groups[{number}].position' for _, number in robots}
        before = visitor.js(f'[{",".join(f"{p}.toArray()" for p in places.values())}]')
        visitor.js(f'urlab.select({base})')
        start = visitor.js(f'{places[base]}.toArray()')
        moved = f'Math.hypot({places[base]}.x - {start[0]}, {places[base]}.z - {start[2]}) > 0.1'
        visitor.hold('w', moved)
        assert prefix in visitor.js("document.getElementById('hint').textContent")
        visitor.tab.keyboard.up('w')
        for (_, number), place in zip(robots, before, strict=True):
            if number in others:
                now = visitor.js(f'{places[number]}.toArray()')
                assert np.hypot(now[0] - place[0], now[2] - place[2]) < 0.05
        with Client(rpc_port=port, shared=True) as client:
            client.connect()
            client.set_paused(True)
            visitor.until('urlab.transport.status.paused')
            visitor.tab.keyboard.press('w')
            visitor.until(f"{said}.includes('paused')")
        assert visitor.errors == []
        visitor.tab.close()


def test_looking_back_shows_what_was_and_now_what_is(visitor, urlab):
    visitor.until('urlab.history.frames.length > 3')
    visitor.tab.keyboard.press('k')
    visitor.until('!urlab.history.bar.hidden')
    visitor.js(
        "(urlab.history.slider.value = 0, urlab.history.slider.dispatchEvent(new Event('input')))"
    )
    shown = 'urlab.bodies.groups[urlab.world.moving[0]].position.x'
    assert visitor.js(f'Math.abs({shown} - urlab.history.frames[0].poses[0])') < 1e-4
    assert visitor.js('urlab.history.isBack')
    visitor.tab.get_by_role('button', name='Back to now').click()
    assert not visitor.js('urlab.history.isBack')
    visitor.tab.keyboard.press('k')


# While its next picture loads, an image has no size, and nothing of it can be read.
SHOWN = """(async () => {
  const image = document.querySelector('.camera-image img');
  const canvas = document.createElement('canvas');
  while (!image.complete || !image.naturalWidth) await new Promise((done) => setTimeout(done, 5));
  canvas.width = 64;
  canvas.height = 48;
  const pen = canvas.getContext('2d');
  pen.drawImage(image, 0, 0, 64, 48);
  const pixels = [...pen.getImageData(0, 0, 64, 48).data];
  return { size: [image.naturalWidth, image.naturalHeight], pixels };
})()"""
PICTURES = "Number(document.querySelector('.camera-image img')?.dataset.images ?? 0)"


def shown_picture(visitor):
    """Return the size of the camera picture that is shown, and its pixels: shape (48, 64, 3)."""
    shown = visitor.js(SHOWN)
    return shown['size'], np.array(shown['pixels']).reshape(48, 64, 4)[..., :3]


def test_pictures_of_a_camera_are_live_while_they_are_shown(visitor, urlab):
    urlab.reset()
    camera = visitor.js(
        "urlab.world.cameras.find(({ mode, body }) => mode === 'real' && body > 0)"
    )
    tab = visitor.tab.locator('#tabs button', has_text='Cameras')  # the window is narrow
    tab.click()
    visitor.tab.locator('#panel-cameras label', has_text=camera['name']).first.click()
    visitor.until(f'{PICTURES} > 1')
    size, before = shown_picture(visitor)
    assert size == camera['resolution']
    assert before.std() > 10  # neither empty nor one colour
    # It turns: what its camera sees is something else.
    start = visitor.js('urlab.bodies.groups[urlab.world.robots[0].base].quaternion.y')
    visitor.hold(
        'a',
        f'Math.abs(urlab.bodies.groups[urlab.world.robots[0].base].quaternion.y - {start}) > 0.2',
    )
    visitor.tab.keyboard.up('a')
    seen = visitor.js(PICTURES)
    visitor.until(f'{PICTURES} > {seen} + 2')
    _, after = shown_picture(visitor)
    assert changed(before, after) > 0.1
    # A panel that is closed costs no rendering.
    tab.click()
    visitor.tab.wait_for_timeout(700)
    seen = visitor.js(PICTURES)
    visitor.tab.wait_for_timeout(700)
    assert visitor.js(PICTURES) == seen
    urlab.reset()  # others drive ahead


def test_what_publishers_add_is_drawn_and_goes_with_them(visitor, urlab, rover_url):
    before = visitor.picture()
    place = visitor.js('urlab.views.controls.target.toArray()')
    digest = visitor.js('urlab.world.bodies[urlab.world.robots[0].base].seen')
    with urllib.request.urlopen(f'{rover_url}/bodies/{digest}.glb') as file:
        data = base64.b64encode(file.read()).decode()
    with FieldClient(rover_url, 'publisher') as publisher:
        publisher.send(
            'add_mesh',
            {'mesh_id': 'm', 'mesh_data_b64': data, 'translation': place},
        )
        cloud = [[x + 0.1 * i, y + 0.3, z] for i in range(5) for x, y, z in [place]]
        publisher.send(
            'update_overlay_points', {'overlay_id': 'p', 'points': cloud, 'point_size': 0.1}
        )
        visitor.until("urlab.published.meshes.get('m')?.children.length > 0")
        visitor.until("urlab.published.clouds.has('p')")
        assert changed(before, visitor.picture()) > 0.002
        publisher.send('update_mesh_transform', {'mesh_id': 'm', 'translation': [5.0, 0.5, 0.0]})
        visitor.until("urlab.published.meshes.get('m').position.x === 5")
    visitor.until('urlab.published.group.children.length === 0')
    assert changed(before, visitor.picture()) < 0.002


TOASTS = "[...document.querySelectorAll('.toast')].map(({ textContent }) => textContent)"
RECORDED = 150  # frames, at least


@pytest.fixture(scope='module')
def recorded(visitor, rover_files):
    """Record with the button while the rover drives; return the file that it has saved."""
    button = visitor.tab.locator('#record')
    button.click()
    visitor.until('urlab.transport.isRecording')
    start = visitor.js(f'{BASE}.position.x')
    visitor.hold('w', f'{BASE}.position.x > {start} + 0.1')
    visitor.hold('w', f'urlab.transport.status.recording.frames > {RECORDED}')
    visitor.tab.keyboard.up('w')
    button.click()
    visitor.until(f"{TOASTS}.some((text) => text.startsWith('Saved'))")
    visitor.until('!urlab.transport.isRecording')
    (path,) = (rover_files / 'Replays').iterdir()
    assert any(path.name in text for text in visitor.js(TOASTS))
    return path


def test_the_record_button_saves_a_file_that_others_can_read(recorded, urlab):
    assert not urlab.status().raw['recording']['active']
    frames = json.loads(recorded.read_text())['Frames']
    assert len(frames) > RECORDED
    times = [frame['timestamp'] for frame in frames]
    np.testing.assert_allclose(np.diff(times), urlab.handshake.timestep, rtol=1e-6)
    # It has what was seen: the rover drove ahead.
    ahead = [frame['jointStates']['rover_base']['qPos'][0] for frame in frames]
    assert ahead[-1] > ahead[0] + 0.02
    assert urlab.replay_load(recorded.name).total_frames == len(frames)


def test_the_replay_buttons_show_what_was_recorded_and_then_the_world_runs_on(
    visitor, urlab, recorded
):
    frames = json.loads(recorded.read_text())['Frames']
    tab = visitor.tab.locator('#tabs button', has_text='Records')  # the window is narrow
    tab.click()
    saved = visitor.tab.locator(f'#panel-recordings .row[title^="{recorded.name}"]')
    times = [frame['timestamp'] for frame in frames]
    assert f'{times[-1] - times[0]:.1f} s' in saved.inner_text()
    with visitor.tab.expect_download() as download:
        saved.get_by_role('button', name='Download').click()
    assert Path(download.value.path()).read_bytes() == recorded.read_bytes()
    saved.locator('.item').click()
    tab.click()
    # It plays to its end, and stays there.
    visitor.until(f'urlab.recordings.replay?.frame === {len(frames) - 1}')
    visitor.until('!urlab.recordings.replay.isPlaying')
    assert urlab.status().mode == 'direct'

    for frame in (100, 5):  # on, and back
        slider = visitor.tab.locator('#timeline input')
        slider.evaluate(
            "(slider, frame) => (slider.value = frame, slider.dispatchEvent(new Event('input')))",
            frame,
        )
        visitor.until(
            f'!urlab.recordings.replay.seeking && urlab.recordings.replay.frame === {frame}'
        )
        x, y, z = frames[frame]['jointStates']['rover_base']['qPos'][:3]
        qpos = urlab.forward().articulations['rover'].qpos
        np.testing.assert_allclose(qpos[:3], [x, y, z], atol=1e-9)
        visitor.until(f'Math.abs({BASE}.position.x - {x}) < 1e-4')

    visitor.tab.get_by_role('button', name='Resume the replay').click()
    visitor.until('urlab.recordings.replay.frame > 20')
    visitor.tab.get_by_role('button', name='End the replay').click()
    visitor.until("urlab.transport.run.dataset.state === 'running'")
    visitor.wait(lambda: urlab.status().mode == 'live', 'live again')
    assert visitor.js("document.getElementById('timeline').hidden")


def test_refusals_of_the_simulation_are_said_and_nothing_breaks(visitor, urlab):
    visitor.js("urlab.transport.perform('mode', { mode: 'sideways' })")
    visitor.until("document.querySelector('.toast.bad')?.textContent.includes('sideways')")
    visitor.js("urlab.connection.send('fly')")
    visitor.until(
        "[...document.querySelectorAll('.toast.bad')].some((t) => t.textContent.includes('fly'))"
    )


def test_an_object_is_put_where_one_clicks_and_deleted_again(visitor, urlab):
    names = 'urlab.world.entities.map(({ name }) => name)'
    before = visitor.js(names)
    # On the floor, off the robot.
    goal = visitor.js(f'{BASE}.position.toArray()')
    x, y = visitor.on_screen(f'{BASE}.position.clone().add({{ x: 0, y: 0, z: 0.8 }})')
    visitor.js('urlab.chooseModel(urlab.scenePanel.add)')
    visitor.tab.locator('.menu .item', has_text='box').click()
    visitor.js("document.body.classList.add('bare')")
    visitor.tab.mouse.click(x, y)
    visitor.until(f"{names}.includes('box') && urlab.isReady")
    placed = visitor.place('box')
    assert np.hypot(placed[0] - goal[0], placed[2] - goal[2] - 0.8) < 0.3
    assert 0.0 < placed[1] < 0.4
    assert 'box' in urlab.connect().entities
    visitor.js("urlab.select(urlab.world.entities.find(({ name }) => name === 'box').body)")
    visitor.js("document.body.classList.remove('bare')")
    visitor.js("urlab.change('delete', { entity: 'box' })")
    visitor.until(f"!{names}.includes('box') && urlab.isReady")
    assert visitor.js(names) == before
    assert visitor.errors == []


def test_two_clicks_set_a_goal_for_the_bridge(visitor, urlab, rover):
    tab, arrow = visitor.tab, 'urlab.navigation.arrow.visible'
    toasts = "[...document.querySelectorAll('.toast')].map((t) => t.textContent).join()"
    # Without a bridge, key and button say why not.
    visitor.until("document.getElementById('navigate').title.includes('No ROS bridge')")
    tab.keyboard.press('n')
    visitor.until(f"{toasts}.includes('No ROS bridge')")
    assert visitor.js('urlab.pointer.tool') == 'select'
    place, facing = (
        f'{BASE}.position.clone().setY(0).add({{ x: {x}, y: 0, z: {z} }})'
        for x, z in ((-0.2, 0.9), (0.4, 0.3))
    )
    with Client(rpc_port=rover, shared=True, name=BRIDGE) as bridge:
        bridge.connect()
        visitor.until('urlab.transport.status.bridge')
        visitor.js("document.body.classList.add('bare')")
        # Escape cancels.
        tab.keyboard.press('n')
        tab.mouse.click(*visitor.on_screen(place))
        visitor.until(arrow)
        tab.keyboard.press('Escape')
        visitor.until(f"!{arrow} && urlab.pointer.tool === 'select'")
        assert not bridge.status().navigation_targets
        east, _, south = visitor.place(ROVER)
        for count, (keyed, kind) in enumerate((('n', 'goal'), ('i', 'initial_pose')), 1):
            tab.keyboard.press(keyed)
            assert visitor.js("document.getElementById('hint').className") == 'on'
            tab.mouse.click(*visitor.on_screen(place))
            tab.mouse.click(*visitor.on_screen(facing))
            visitor.until(
                f"{toasts}.includes('{'new goal' if kind == 'goal' else 'Initial pose'}')"
            )
            visitor.wait(lambda n=count: len(bridge.status().navigation_targets) == n, kind)
            target = bridge.status().navigation_targets[-1]
            assert (target.articulation, target.kind) == ('rover', kind)
            assert (target.x, target.y) == pytest.approx((east - 0.2, -south - 0.9), abs=0.1)
            assert target.yaw == pytest.approx(np.pi / 4, abs=0.15)
            assert visitor.js(f"{arrow} && urlab.pointer.tool === 'select'")
        visitor.js("document.body.classList.remove('bare')")
    assert visitor.errors == []


def test_a_tip_follows_the_mouse(browser, bimanual):
    page = Page()
    with gateway_at(bimanual, page) as gateway:
        visitor = Visitor(browser, gateway.url)
        assert visitor.js('urlab.world.tips.length') == 2
        tip = visitor.js('urlab.world.tips[0]')
        at = f'urlab.bodies.worldPoint({tip["body"]}, {list(tip["offset"])})'
        start = np.array(visitor.js(f'{at}.toArray()'))
        visitor.js("document.body.classList.add('bare')")
        x, y = visitor.on_screen('urlab.pointer.handles[0].position')
        visitor.tab.mouse.move(x, y)
        visitor.tab.mouse.down()
        visitor.until("urlab.pointer.drag?.kind === 'steer'")
        up = visitor.js(
            '0.1 * urlab.pointer.pixels(urlab.pointer.handles[0])'
        )  # a tenth of a metre
        for part in range(1, 6):
            visitor.tab.mouse.move(x, y - up * part / 5)
        goal = np.array(visitor.js('urlab.pointer.drag.goal.toArray()'))
        assert np.linalg.norm(goal - start) > 0.02
        visitor.until(f'{at}.distanceTo(urlab.pointer.drag.goal) < 0.01')
        visitor.tab.mouse.up()
        end = np.array(visitor.js(f'{at}.toArray()'))
        assert np.linalg.norm(end - start) > 0.02

        # Shift turns it where it is, and a click closes its gripper.
        group = f'urlab.bodies.groups[{tip["body"]}].quaternion'
        before = visitor.js(f'{group}.toArray()')
        x, y = visitor.on_screen('urlab.pointer.handles[0].position')
        visitor.tab.keyboard.down('Shift')
        visitor.tab.mouse.move(x, y)
        visitor.tab.mouse.down()
        for part in range(1, 6):
            visitor.tab.mouse.move(x + 8 * part, y)
        # 40 px are 0.4 rad, and the tip stays.
        visitor.until(
            f'Math.abs({group}.angleTo({group}.clone().fromArray({before})) - 0.4) < 0.05'
        )
        assert np.linalg.norm(visitor.js(f'{at}.toArray()') - end) < 0.02
        visitor.tab.mouse.up()
        visitor.tab.keyboard.up('Shift')
        with Client(rpc_port=bimanual, shared=True) as client:
            client.connect()
            robot = client.step().articulations['bimanual']
            opened = robot.ctrl.copy()
            visitor.tab.mouse.click(*visitor.on_screen('urlab.pointer.handles[0].position'))
            visitor.wait(
                lambda: np.abs(client.step().articulations['bimanual'].ctrl - opened).max() > 0.01,
                'a closed gripper',
            )
        assert visitor.errors == []
        visitor.tab.close()


def test_a_finger_turns_a_tip_where_it_is(browser, bimanual):
    with gateway_at(bimanual, Page()) as gateway:
        visitor = Visitor(browser, gateway.url, **PHONE)
        tip = visitor.js('urlab.world.tips[0]')
        at = f'urlab.bodies.worldPoint({tip["body"]}, {list(tip["offset"])})'
        group = f'urlab.bodies.groups[{tip["body"]}].quaternion'
        start, before = visitor.js(f'{at}.toArray()'), visitor.js(f'{group}.toArray()')
        tabs = visitor.tab.locator('#tabs button')
        assert tabs.filter(has_text='Scene').is_visible()
        assert not tabs.filter(has_text='Cameras').is_visible()  # this server renders none
        visitor.tab.locator('#turn').tap()
        visitor.js("document.body.classList.add('bare')")
        x, y = visitor.on_screen('urlab.pointer.handles[0].position')
        # 40 px are 0.4 rad, and the tip stays.
        turned = f'{group}.angleTo({group}.clone().fromArray({before}))'
        visitor.drag_by_finger((x, y), (x + 40, y), f'Math.abs({turned} - 0.4) < 0.05')
        visitor.until('!urlab.pointer.drag')
        assert np.linalg.norm(np.subtract(visitor.js(f'{at}.toArray()'), start)) < 0.02
        # Without the tool, a finger moves it.
        visitor.js("document.body.classList.remove('bare')")
        visitor.tab.locator('#turn').tap()
        visitor.js("document.body.classList.add('bare')")
        x, y = visitor.on_screen('urlab.pointer.handles[0].position')
        moved = f'{at}.distanceTo({at}.clone().fromArray({start})) > 0.03'
        visitor.drag_by_finger((x, y), (x, y - 40), moved)
        assert visitor.errors == []
        visitor.tab.close()


def test_a_finger_drags_out_a_goal_and_an_onlooker_cannot(browser, rover_url, rover, urlab):
    place = f'{BASE}.position.clone().setY(0).add({{ x: 0.5, y: 0, z: 0.5 }})'
    facing = f'{place}.add({{ x: 0, y: 0, z: 0.5 }})'
    with Client(rpc_port=rover, shared=True, name=BRIDGE) as bridge:
        bridge.connect()
        visitor = Visitor(browser, rover_url, **PHONE)
        visitor.until('urlab.transport.status.bridge')
        visitor.tab.locator('#navigate').tap()
        visitor.tab.locator('.menu .item', has_text='goal').tap()
        start, end = visitor.on_screen(place), visitor.on_screen(facing)
        visitor.drag_by_finger(start, end, 'urlab.navigation.arrow.visible')
        visitor.wait(
            lambda: any(
                target.kind == 'goal' and target.yaw == pytest.approx(-np.pi / 2, abs=0.2)
                for target in bridge.status().navigation_targets
            ),
            'the goal',
        )
        onlooker = Visitor(browser, rover_url, query='&view', size=PHONE['size'])
        onlooker.until("document.body.classList.contains('view-only')")
        assert not onlooker.tab.locator('#navigate').is_visible()
        onlooker.tab.keyboard.press('n')
        onlooker.until(
            "document.querySelector('.toast.bad')?.textContent.includes('only watches')"
        )
        request = "{ robot: 'rover', kind: 'goal', position: [0, 0, 0], yaw: 0 }"
        refusal = onlooker.js(
            f"urlab.connection.request('navigate', {request}).catch((error) => error.message)"
        )
        assert 'only watch' in refusal
        assert visitor.errors == onlooker.errors == []
        visitor.tab.close()
        onlooker.tab.close()


def coloured_mesh():
    """Return a tetrahedron of 1 m without normals, in red at its vertices, as GLB in base 64."""
    document, binary = textured()
    del document['images'], document['textures'], document['samplers']
    document['materials'] = [{'pbrMetallicRoughness': {'metallicFactor': 0.0}}]
    red = np.tile(np.array([1, 0, 0], '<f4'), (4, 1)).tobytes()
    document['bufferViews'].append(
        {'buffer': 0, 'byteOffset': len(binary), 'byteLength': len(red)}
    )
    document['accessors'].append(
        {'bufferView': 4, 'componentType': 5126, 'count': 4, 'type': 'VEC3'}
    )
    document['meshes'][0]['primitives'][0]['attributes'] = {'POSITION': 0, 'COLOR_0': 3}
    document['buffers'] = [{'byteLength': len(binary + red)}]
    return base64.b64encode(glb(document, binary + red)).decode()


@pytest.mark.parametrize('quality', ['low', 'high'])
def test_a_mesh_without_normals_has_the_colours_of_its_vertices(browser, rover_url, quality):
    visitor = Visitor(browser, rover_url, f'&quality={quality}')
    place = visitor.js('urlab.views.controls.target.toArray()')
    before = reds(visitor.picture())
    with FieldClient(rover_url, 'publisher') as publisher:
        mesh = {'mesh_id': 'red', 'mesh_data_b64': coloured_mesh(), 'translation': place}
        publisher.send('add_mesh', mesh)
        visitor.until("urlab.published.meshes.get('red')?.children.length > 0")
        assert reds(visitor.picture()) > before + 0.005
    assert visitor.errors == []
    visitor.tab.close()


def reds(picture):
    """Return the share of pixels that are lit and clearly red."""
    red, green, blue = picture.transpose(2, 0, 1)
    return float(((red > 90) & (red > 2 * green) & (red > 2 * blue)).mean())


def test_the_page_comes_back_after_the_gateway_and_after_the_simulation(browser):
    with (
        socket.create_server(('127.0.0.1', 0)) as probe,
        socket.create_server(('127.0.0.1', 0)) as other,
    ):
        rpc, port = probe.getsockname()[1], other.getsockname()[1]
    page = Page()

    def states_again():
        seen = visitor.js('urlab.states')
        visitor.until(f'urlab.connection.ack && urlab.states > {seen} + 5')

    with simulation('rover', f'--rpc-port={rpc}', '--no-shm'):
        with gateway_at(rpc, page, port=port) as gateway:
            visitor = Visitor(browser, gateway.url)
        visitor.until("document.getElementById('veil').classList.contains('on')")
        gateway = gateway_at(rpc, page, port=port)
        gateway.__enter__()
        states_again()
    veil = "document.getElementById('veil')"
    visitor.until(f"{veil}.classList.contains('on')")
    visitor.until(f"{veil}.textContent.includes('The simulation has ended')")
    visitor.tab.wait_for_timeout(1500)  # tries to come back do not change what is said
    assert 'The simulation has ended' in visitor.js(f'{veil}.textContent')
    assert visitor.js("document.querySelector('#facts').textContent").count('\u2013') >= 2
    try:
        late = browser.new_page()
        late.goto(f'http://127.0.0.1:{port}/?keep')
        late.wait_for_function(f"() => {veil}.textContent.includes('Waiting for it to start')")
        with simulation('rover', f'--rpc-port={rpc}', '--no-shm'):
            states_again()
            visitor.until(f"!{veil}.classList.contains('on')")
            late.wait_for_function('() => window.urlab?.isReady')
            late.close()
    finally:
        gateway.__exit__(None, None, None)
    assert visitor.errors == []
    visitor.tab.close()


def test_the_console_stays_clean(visitor):
    assert visitor.errors == []
