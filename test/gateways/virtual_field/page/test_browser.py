# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The page in a real browser, with a real simulation behind it."""

import base64
import contextlib
import io
import json
from pathlib import Path

from gltf_files import glb
from gltf_files import textured
import numpy as np
from PIL import Image
from ports import free_port
import pytest

from test.gateways.running import field_at
from test.gateways.virtual_field.field_client import FieldClient
from test.gateways.virtual_field.page.browser import changed
from test.gateways.virtual_field.page.browser import NEEDED
from test.gateways.virtual_field.page.browser import PHONE
from test.gateways.virtual_field.page.browser import Visitor
from test.gateways.virtual_field.programs import simulation
from urlab_ros_bridge.client import Client
from urlab_ros_bridge.client.replies.ops import BRIDGE
from urlab_ros_bridge.gateways.virtual_field.page.pages import Page

pytestmark = NEEDED

ROVER = 'rover_base_link'
BASE = 'urlab.bodies.groups[urlab.world.robots[0].base]'


@pytest.fixture(scope='module')
def visitor(browser, rover_url):
    with Visitor(browser, rover_url) as visitor:
        yield visitor


def test_the_page_draws_the_world_and_names_it(visitor):
    assert visitor.tab.title() == 'rover · URLab'
    assert visitor.js('urlab.bodies.groups.length') == visitor.js('urlab.world.bodies.length')
    # Neither empty nor one colour.
    image = visitor.image()
    assert len(np.unique(image.reshape(-1, 3), axis=0)) > 200


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
    wheel = "urlab.world.bodies.find(({local}) => local === 'left_wheel_link').id"
    x, y = visitor.on_screen(
        f'urlab.bodies.bounds([{wheel}]).getCenter(urlab.stage.focus.clone())'
    )
    visitor.js("document.body.classList.add('bare')")
    visitor.tab.mouse.click(x, y)
    visitor.js("document.body.classList.remove('bare')")
    visitor.until('urlab.selected > 0')
    assert visitor.js('urlab.world.bodies[urlab.selected].robot') == 'rover'
    visitor.js(f'urlab.select({wheel})')
    visitor.until('urlab.inspector.channels.length === 1')
    assert visitor.tab.inner_text('#panel-details .joint .name') == 'left_wheel'
    visitor.js('urlab.select(-1)')


def test_a_pushed_body_settles_under_the_pointer(visitor, urlab):
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


def test_the_timeline_shows_past_states_until_it_returns_to_now(visitor, urlab):
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


PICTURES = "Number(document.querySelector('.camera-image img')?.dataset.images ?? 0)"


def test_camera_images_are_live_while_they_are_shown(visitor, urlab):
    urlab.reset()
    camera = visitor.js(
        "urlab.world.cameras.find(({ mode, body }) => mode === 'real' && body > 0)"
    )
    tab = visitor.tab.locator('#tabs button', has_text='Cameras')  # the window is narrow
    tab.click()
    visitor.tab.locator('#panel-cameras label', has_text=camera['name']).first.click()
    visitor.until(f'{PICTURES} > 1')
    shown = visitor.tab.locator('.camera-image img')
    visitor.until("document.querySelector('.camera-image img').naturalWidth > 0")
    size = shown.evaluate('(image) => [image.naturalWidth, image.naturalHeight]')
    assert size in (camera['resolution'], [0, 0])  # while the next one loads
    pixels = np.asarray(Image.open(io.BytesIO(shown.screenshot())).convert('RGB'))
    assert pixels.std() > 10  # neither empty nor one colour
    # A panel that is closed costs no rendering.
    tab.click()
    visitor.tab.wait_for_timeout(700)
    seen = visitor.js(PICTURES)
    visitor.tab.wait_for_timeout(700)
    assert visitor.js(PICTURES) == seen


TOASTS = "[...document.querySelectorAll('.toast')].map(({ textContent }) => textContent)"
RECORDED = 150  # frames, at least


@pytest.fixture(scope='module')
def recorded(visitor, rover_files):
    """Record with the button while the rover drives; return the file that it has saved."""
    button = visitor.tab.locator('#record')
    button.click()
    visitor.until('urlab.transport.isRecording')
    visitor.drive_ahead(0.1)
    visitor.until(f'urlab.transport.status.recording.frames > {RECORDED}')
    button.click()
    visitor.until(f"{TOASTS}.some((text) => text.startsWith('Saved'))")
    visitor.until('!urlab.transport.isRecording')
    (path,) = (rover_files / 'Replays').iterdir()
    assert any(path.name in text for text in visitor.js(TOASTS))
    return path


def test_the_record_button_saves_a_file_that_others_can_read(recorded, urlab):
    assert not urlab.status().raw['recording']['active']
    frames = json.loads(recorded.read_text())['Frames']
    assert urlab.replay_load(recorded.name).total_frames == len(frames) > RECORDED
    # It has what was seen: the rover drove ahead.
    first, last = (frames[i]['jointStates']['rover_base']['qPos'][0] for i in (0, -1))
    assert last > first + 0.02


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


def coloured_mesh():
    """Return a tetrahedron of 1 m without normals, in red at its vertices, as GLB in base 64."""
    document, binary = textured()
    for group in ('images', 'textures', 'samplers'):
        del document[group]
    document['materials'] = [{'pbrMetallicRoughness': {'metallicFactor': 0.0}}]
    red = np.tile(np.array([1, 0, 0], '<f4'), (4, 1)).tobytes()
    document['bufferViews'].append({'buffer': 0, 'byteOffset': len(binary), 'byteLength': 48})
    document['accessors'].append({**document['accessors'][0], 'bufferView': 4})
    document['meshes'][0]['primitives'][0]['attributes'] = {'POSITION': 0, 'COLOR_0': 3}
    document['buffers'] = [{'byteLength': len(binary + red)}]
    return base64.b64encode(glb(document, binary + red)).decode()


def reds(image):
    """Return the share of pixels that are lit and clearly red."""
    red, green, blue = image.transpose(2, 0, 1)
    return float(((red > 90) & (red > 2 * green) & (red > 2 * blue)).mean())


@pytest.mark.parametrize('quality', ['low', 'high'])
def test_publications_are_drawn_until_their_publisher_leaves(browser, rover_url, quality):
    with (
        Visitor(browser, rover_url, f'&quality={quality}') as visitor,
        FieldClient(rover_url, 'publisher') as publisher,
    ):
        before, place = visitor.image(), visitor.js('urlab.views.controls.target.toArray()')
        mesh = {'mesh_id': 'm', 'mesh_data_b64': coloured_mesh(), 'translation': place}
        publisher.send('add_mesh', mesh)
        cloud = {'overlay_id': 'p', 'points': [place], 'point_size': 0.1}
        publisher.send('update_overlay_points', cloud)
        visitor.until("urlab.published.meshes.get('m')?.children.length > 0")
        visitor.until("urlab.published.clouds.has('p')")
        assert reds(visitor.image()) > reds(before) + 0.005
        publisher.send('update_mesh_transform', {'mesh_id': 'm', 'translation': [5.0, 0.5, 0.0]})
        visitor.until("urlab.published.meshes.get('m').position.x === 5")
        publisher.close()
        visitor.until('urlab.published.group.children.length === 0')
        assert changed(before, visitor.image()) < 0.002


def test_keys_drive_the_selected_robot_or_show_why_they_cannot(browser):
    said = "[...document.querySelectorAll('.toast.bad')].map((t) => t.textContent).join()"
    places = (
        'urlab.world.robots.map((robot) => urlab.bodies.groups[robot.base].position.toArray())'
    )
    with (
        simulation('fleet') as port,
        field_at(port, Page()) as gateway,
        Visitor(browser, gateway.url) as visitor,
        Client(rpc_port=port, shared=True) as client,
    ):
        visitor.tab.keyboard.press('W')  # Caps Lock is on; nothing is selected
        visitor.until(f"{said}.includes('Select the robot to drive')")
        index = visitor.js('urlab.world.robots.indexOf(urlab.driving.robots.at(-1))')
        visitor.js(f'urlab.select(urlab.world.robots[{index}].base)')
        start = visitor.js(places)
        x, _, z = start[index]
        base = f'urlab.bodies.groups[urlab.world.robots[{index}].base].position'
        visitor.hold('w', f'Math.hypot({base}.x - {x}, {base}.z - {z}) > 0.1')
        assert visitor.js(
            "document.getElementById('hint').textContent"
            f'.includes(urlab.world.robots[{index}].prefix)'
        )
        visitor.tab.keyboard.up('w')
        moved = np.linalg.norm(np.subtract(visitor.js(places), start)[:, [0, 2]], axis=1)
        assert np.delete(moved, index).max() < 0.05
        client.connect()
        client.set_paused(True)
        visitor.until('urlab.transport.status.paused')
        visitor.tab.keyboard.press('w')
        visitor.until(f"{said}.includes('paused')")


def test_a_tip_follows_the_mouse(browser, bimanual_gateway, bimanual):
    handle = 'urlab.pointer.handles[0]'
    with (
        Visitor(browser, bimanual_gateway.url) as visitor,
        Client(rpc_port=bimanual, shared=True) as client,
    ):
        tip = visitor.js('urlab.world.tips[0]')
        at = f'urlab.bodies.worldPoint({tip["body"]}, {list(tip["offset"])})'

        def place():
            return np.array(visitor.js(f'{at}.toArray()'))

        def drag(right, up):
            x, y = visitor.on_screen(f'{handle}.position')
            visitor.tab.mouse.move(x, y)
            visitor.tab.mouse.down()
            visitor.until("urlab.pointer.drag?.kind === 'steer'")
            for part in range(1, 6):
                visitor.tab.mouse.move(x + right * part / 5, y - up * part / 5)

        visitor.js("document.body.classList.add('bare')")
        start = place()
        drag(0, visitor.js(f'0.1 * urlab.pointer.pixels({handle})'))  # a tenth of a metre
        visitor.until(f'{at}.distanceTo(urlab.pointer.drag.goal) < 0.01')
        visitor.tab.mouse.up()
        end = place()
        assert np.linalg.norm(end - start) > 0.02

        # Shift turns it where it is, and a click closes its gripper.
        group = f'urlab.bodies.groups[{tip["body"]}].quaternion'
        before = visitor.js(f'{group}.toArray()')
        visitor.tab.keyboard.down('Shift')
        drag(40, 0)  # 40 px are 0.4 rad, and the tip stays
        turned = f'{group}.angleTo({group}.clone().fromArray({before}))'
        visitor.until(f'Math.abs({turned} - 0.4) < 0.05')
        assert np.linalg.norm(place() - end) < 0.02
        visitor.tab.mouse.up()
        visitor.tab.keyboard.up('Shift')
        client.connect()

        def controls():
            return client.step().articulations['bimanual'].ctrl

        opened = controls().copy()
        visitor.tab.mouse.click(*visitor.on_screen(f'{handle}.position'))
        visitor.wait(lambda: np.abs(controls() - opened).max() > 0.01, 'a closed gripper')


def test_the_page_reconnects_after_a_restart_of_gateway_or_simulation(browser):
    rpc, port = free_port(), free_port()
    veil = "document.getElementById('veil')"
    with contextlib.ExitStack() as stack:

        def start(visitor):
            seen = visitor.js('urlab.states')
            visitor.until(f'urlab.connection.ack && urlab.states > {seen} + 5')
            visitor.until(f"!{veil}.classList.contains('on')")

        with simulation('rover', f'--rpc-port={rpc}', '--no-shm'):
            with field_at(rpc, Page(), port=port) as gateway:
                visitor = stack.enter_context(Visitor(browser, gateway.url))
            visitor.until(f"{veil}.classList.contains('on')")
            stack.enter_context(field_at(rpc, Page(), port=port))
            start(visitor)
        visitor.until(f"{veil}.textContent.includes('The simulation has ended')")
        visitor.tab.wait_for_timeout(1500)  # tries to come back do not change what is said
        assert 'The simulation has ended' in visitor.js(f'{veil}.textContent')
        late = browser.new_page()
        late.goto(f'http://127.0.0.1:{port}/?keep')
        late.wait_for_function(f"() => {veil}.textContent.includes('Waiting for it to start')")
        with simulation('rover', f'--rpc-port={rpc}', '--no-shm'):
            start(visitor)
            late.wait_for_function('() => window.urlab?.isReady')
            late.close()


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


def test_a_finger_turns_a_tip_where_it_is(browser, bimanual_gateway):
    with Visitor(browser, bimanual_gateway.url, **PHONE) as visitor:
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


def test_a_finger_sets_a_goal_and_a_viewer_cannot(browser, rover_url, rover, urlab):
    place = f'{BASE}.position.clone().setY(0).add({{ x: 0.5, y: 0, z: 0.5 }})'
    facing = f'{place}.add({{ x: 0, y: 0, z: 0.5 }})'
    with (
        Client(rpc_port=rover, shared=True, name=BRIDGE) as bridge,
        Visitor(browser, rover_url, **PHONE) as visitor,
        Visitor(browser, rover_url, query='&view', size=PHONE['size']) as onlooker,
    ):
        bridge.connect()
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
