# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The page in a real browser, with a real simulation behind it."""

import base64
import contextlib
import io
import json
from pathlib import Path

from bundled_server import port_of
from bundled_server import running_server
from bundled_server import simulation
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
from test.gateways.virtual_field.page.browser import READY
from test.gateways.virtual_field.page.browser import SIZE
from test.gateways.virtual_field.page.browser import Visitor
from urlab_ros_bridge.client import Client
from urlab_ros_bridge.client.errors import EStopEngaged
from urlab_ros_bridge.client.replies.ops import BRIDGE
from urlab_ros_bridge.gateways.virtual_field.page.files import PageFiles

pytestmark = NEEDED

BASE = 'urlab.bodies.groups[urlab.world.robots[0].base]'
SMALL = """
<mujoco>
  <worldbody>
    <geom type="plane" size="4 4 0.1"/>
    <body name="box" pos="0 0 0.5"><freejoint/><geom type="box" size="0.5 0.5 0.5"/></body>
  </worldbody>
</mujoco>
"""
TOASTS = "[...document.querySelectorAll('.toast')].map((toast) => toast.textContent).join()"


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


@pytest.fixture
def small_world(tmp_path):
    """Return settings of a server of a world that is quickly drawn."""
    (tmp_path / 'small.xml').write_text(SMALL)
    return {'model': tmp_path / 'small.xml', 'cameras': 'off'}


def test_publications_are_drawn_with_all_detail_until_their_publisher_leaves(browser, small_world):
    with (
        running_server(**small_world, paused=True) as server,
        field_at(port_of(server), PageFiles()) as gateway,
        Visitor(browser, gateway.url, '&quality=high') as visitor,
        FieldClient(gateway.url, 'publisher') as publisher,
    ):
        visitor.until('urlab.stage.scene.environment')
        before, place = visitor.image(), visitor.js('urlab.views.controls.target.toArray()')
        # The world is drawn: neither empty nor one colour.
        assert len(np.unique(before.reshape(-1, 3), axis=0)) > 200
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
    places = (
        'urlab.world.robots.map((robot) => urlab.bodies.groups[robot.base].position.toArray())'
    )
    with (
        simulation('fleet', cameras='off') as port,
        field_at(port, PageFiles()) as gateway,
        Visitor(browser, gateway.url) as visitor,
        Client(rpc_port=port, shared=True) as client,
    ):
        visitor.tab.keyboard.press('W')  # Caps Lock is on; nothing is selected
        visitor.until(f"{TOASTS}.includes('Select the robot to drive')")
        index = visitor.js('urlab.world.robots.indexOf(urlab.driving.robots.at(-1))')
        visitor.js(f'urlab.select(urlab.world.robots[{index}].base)')
        start = visitor.js(places)
        x, _, z = start[index]
        base = f'urlab.bodies.groups[urlab.world.robots[{index}].base].position'
        visitor.hold('w', f'Math.hypot({base}.x - {x}, {base}.z - {z}) > 0.1')
        visitor.tab.keyboard.up('w')
        moved = np.linalg.norm(np.subtract(visitor.js(places), start)[:, [0, 2]], axis=1)
        assert np.delete(moved, index).max() < 0.05
        client.connect()
        client.set_paused(True)
        visitor.until('urlab.transport.status.paused')
        visitor.tab.keyboard.press('w')
        visitor.until(f"{TOASTS}.includes('paused')")


def test_the_page_waits_for_gateway_and_simulation_and_returns_with_them(browser, small_world):
    rpc, port = free_port(), free_port()
    veil = "document.getElementById('veil')"

    def run():
        return running_server(**small_world, rpc_port=rpc)

    def is_back(visitor):
        seen = visitor.js('urlab.states')
        visitor.until(f'urlab.connection.ack && urlab.states > {seen} + 5')
        visitor.until(f"!{veil}.classList.contains('on')")

    with contextlib.ExitStack() as stack:
        with run():
            first = contextlib.ExitStack()
            gateway = first.enter_context(field_at(rpc, PageFiles(), port=port))
        waits = f"{veil}?.textContent.includes('Waiting for it to start')"
        visitor = stack.enter_context(Visitor(browser, gateway.url, ready=waits))
        with run():
            visitor.until(READY)
            first.close()
            visitor.until(f"{veil}.classList.contains('on')")
            stack.enter_context(field_at(rpc, PageFiles(), port=port))
            is_back(visitor)
        visitor.until(f"{veil}.textContent.includes('The simulation has ended')")
        with run():
            is_back(visitor)


@pytest.fixture(scope='module')
def visitor(browser, rover_url):
    with Visitor(browser, rover_url) as visitor:
        yield visitor


@pytest.fixture
def wide(visitor):
    """Return the page in a window that has room for all of its controls."""
    visitor.tab.set_viewport_size({'width': 1000, 'height': 640})
    yield visitor
    visitor.tab.set_viewport_size(SIZE)


def test_pause_step_speed_and_reset_do_what_they_say(wide, urlab):
    visitor = wide
    visitor.tab.click('#run')
    visitor.until("urlab.transport.run.dataset.state === 'paused'")
    assert urlab.status().paused
    stands_at = urlab.status().step
    visitor.until(f'urlab.latest.step === {stands_at}')
    visitor.tab.click('#step')
    visitor.until(f'urlab.latest.step === {stands_at} + 10')
    assert urlab.status().step == stands_at + 10
    visitor.tab.click('#reset')
    visitor.until(f'urlab.latest.time < 0.01 && {BASE}.position.x < 0.02')
    assert urlab.status().paused

    visitor.tab.get_by_role('button', name='Reset to a keyframe').click()
    visitor.tab.locator('.menu .item', has_text='dock').first.click()
    model = urlab.handshake.model
    start = model.joint('rover_base').qposadr[0]
    x, y = model.key('rover_dock').qpos[start : start + 2]
    visitor.until(f'Math.hypot({BASE}.position.x - {x}, {BASE}.position.z + {y}) < 0.02')
    visitor.tab.get_by_role('button', name='Speed').click()
    visitor.tab.keyboard.press('ArrowDown')
    visitor.tab.keyboard.press('Enter')
    visitor.wait(lambda: urlab.status().speed == 10, 'a tenth of the speed')
    urlab.set_sim_speed(100)
    visitor.tab.click('#run')
    visitor.until("urlab.transport.run.dataset.state === 'running'")
    assert not urlab.status().paused


def test_a_wheel_of_the_clicked_robot_turns_while_its_slider_is_held(wide, urlab):
    visitor = wide
    wheel = "urlab.world.bodies.find(({local}) => local === 'left_wheel_link').id"
    visitor.js("document.body.classList.add('bare')")
    visitor.tab.mouse.click(
        *visitor.on_screen(f'urlab.bodies.bounds([{wheel}]).getCenter(urlab.stage.focus.clone())')
    )
    visitor.js("document.body.classList.remove('bare')")
    visitor.until("urlab.world.bodies[urlab.selected]?.robot === 'rover'")
    visitor.js(f'urlab.select({wheel})')
    visitor.until('urlab.inspector.channels.length === 1')
    assert visitor.tab.inner_text('#panel-details .joint .name') == 'left_wheel'

    box = visitor.tab.get_by_label('Command left_wheel').bounding_box()
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


PICTURES = "Number(document.querySelector('.camera-image img')?.dataset.images ?? 0)"


def test_camera_images_are_live_while_they_are_shown(visitor, urlab):
    camera = visitor.js(
        "urlab.world.cameras.find(({ mode, body }) => mode === 'real' && body > 0)"
    )
    tab = visitor.tab.locator('#tabs button', has_text='Cameras')  # the window is narrow
    tab.click()
    visitor.tab.locator('#panel-cameras label', has_text=camera['name']).first.click()
    visitor.until(f'{PICTURES} > 1')
    shown = visitor.tab.locator('.camera-image img')
    visitor.until("document.querySelector('.camera-image img').naturalWidth > 0")
    pixels = np.asarray(Image.open(io.BytesIO(shown.screenshot())).convert('RGB'))
    assert pixels.std() > 10  # neither empty nor one colour
    # A panel that is closed costs no rendering.
    tab.click()
    visitor.tab.wait_for_timeout(700)
    seen = visitor.js(PICTURES)
    visitor.tab.wait_for_timeout(700)
    assert visitor.js(PICTURES) == seen


def test_what_the_record_button_saves_is_replayed_and_then_the_world_runs_on(
    visitor, urlab, rover_files
):
    urlab.reset()  # away from the wall
    button = visitor.tab.locator('#record')
    button.click()
    visitor.until('urlab.transport.isRecording')
    visitor.drive_ahead(0.1)
    visitor.until('urlab.transport.status.recording.frames > 150')
    button.click()
    visitor.until(f"{TOASTS}.includes('Saved')")
    (path,) = (rover_files / 'Replays').iterdir()
    frames = json.loads(path.read_text())['Frames']

    def place(frame):
        return frames[frame]['jointStates']['rover_base']['qPos'][:3]

    assert len(frames) > 150 and place(-1)[0] > place(0)[0] + 0.02

    tab = visitor.tab.locator('#tabs button', has_text='Records')  # the window is narrow
    tab.click()
    saved = visitor.tab.locator(f'#panel-recordings .row[title^="{path.name}"]')
    with visitor.tab.expect_download() as download:
        saved.get_by_role('button', name='Download').click()
    assert Path(download.value.path()).read_bytes() == path.read_bytes()
    saved.locator('.item').click()
    tab.click()
    # It plays to its end, and stays there.
    visitor.until(f'urlab.recordings.replay?.frame === {len(frames) - 1}')
    visitor.until('!urlab.recordings.replay.isPlaying')
    slider = visitor.tab.locator('#timeline input')
    slider.evaluate("(slider) => (slider.value = 5, slider.dispatchEvent(new Event('input')))")
    visitor.until('!urlab.recordings.replay.seeking && urlab.recordings.replay.frame === 5')
    qpos = urlab.forward().articulations['rover'].qpos
    np.testing.assert_allclose(qpos[:3], place(5), atol=1e-9)
    visitor.until(f'Math.abs({BASE}.position.x - {place(5)[0]}) < 1e-4')

    visitor.tab.get_by_role('button', name='Resume the replay').click()
    visitor.until('urlab.recordings.replay.frame > 20')
    visitor.tab.get_by_role('button', name='End the replay').click()
    visitor.until("urlab.transport.run.dataset.state === 'running'")
    visitor.wait(lambda: urlab.status().mode == 'live', 'live again')


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
    visitor.js("document.body.classList.remove('bare')")
    placed = visitor.js(
        'urlab.bodies.groups[urlab.world.entities.find(({ name }) => name === "box").body]'
        '.position.toArray()'
    )
    assert np.hypot(placed[0] - goal[0], placed[2] - goal[2] - 0.8) < 0.3
    assert 0.0 < placed[1] < 0.4
    assert 'box' in urlab.connect().entities
    visitor.js("urlab.change('delete', { entity: 'box' })")
    visitor.until(f"!{names}.includes('box') && urlab.isReady")
    assert visitor.js(names) == before


def test_clicks_or_a_drag_set_goal_and_initial_pose_for_the_bridge(visitor, urlab, rover):
    tab, arrow = visitor.tab, 'urlab.navigation.arrow.visible'
    # Without a bridge, the key says why not.
    visitor.until("document.getElementById('navigate').title.includes('No ROS bridge')")
    tab.keyboard.press('n')
    visitor.until(f"{TOASTS}.includes('No ROS bridge')")
    assert visitor.js('urlab.pointer.tool') == 'select'
    place, facing = (
        f'{BASE}.position.clone().setY(0).add({{ x: {x}, y: 0, z: {z} }})'
        for x, z in ((-0.2, 0.9), (0.4, 0.3))
    )
    with Client(rpc_port=rover, shared=True, name=BRIDGE) as bridge:
        bridge.connect()
        visitor.until('urlab.transport.status.bridge')
        visitor.js("document.body.classList.add('bare')")
        east, _, south = visitor.js(f'{BASE}.position.toArray()')
        for count, (keyed, kind) in enumerate((('n', 'goal'), ('i', 'initial_pose')), 1):
            tab.keyboard.press(keyed)
            if kind == 'goal':
                tab.mouse.click(*visitor.on_screen(place))
                tab.mouse.click(*visitor.on_screen(facing))
            else:
                tab.mouse.move(*visitor.on_screen(place))
                tab.mouse.down()
                tab.mouse.move(*visitor.on_screen(facing), steps=3)
                tab.mouse.up()
            visitor.wait(lambda n=count: len(bridge.status().navigation_targets) == n, kind)
            target = bridge.status().navigation_targets[-1]
            assert (target.articulation, target.kind) == ('rover', kind)
            assert (target.x, target.y) == pytest.approx((east - 0.2, -south - 0.9), abs=0.1)
            assert target.yaw == pytest.approx(np.pi / 4, abs=0.15)
            visitor.until(f"{arrow} && urlab.pointer.tool === 'select'")
        visitor.js("document.body.classList.remove('bare')")


def test_plots_begin_with_the_past_go_on_after_a_reset_and_are_saved(wide, urlab):
    visitor = wide
    visitor.until('urlab.history.frames.length > 40 && urlab.history.frames.at(-41).order.length')
    visitor.js('urlab.plots.show()')
    times, values = visitor.js('urlab.plots.rows.slice(0, 2)')
    assert len(times) > 30 and sum(value is not None for value in values) > 30
    urlab.reset()
    visitor.until('urlab.plots.timeOffset > 0 && urlab.plots.rows[0].length > 5')
    with visitor.tab.expect_download() as table:
        visitor.tab.get_by_role('button', name='Save as CSV').click()
    lines = Path(table.value.path()).read_text().splitlines()
    assert lines[0].startswith('time,left_wheel')
    times = [float(line.split(',')[0]) for line in lines[1:]]
    assert len(times) > 5 and times == sorted(times)
    visitor.js('urlab.plots.hide()')


def test_a_robot_is_followed_with_trail_and_scan_where_they_belong(wide, urlab):
    visitor = wide
    urlab.reset()
    visitor.until('urlab.latest.time < 30')
    for key in '2t':
        visitor.tab.keyboard.press(key)
    visitor.until("urlab.views.mode === 'follow' && !urlab.views.transition")
    visitor.drawn()
    away = f'urlab.stage.camera.position.clone().sub({BASE}.position).toArray()'
    before = visitor.js(away)
    visitor.drive_ahead(0.3)
    visitor.until(f'Math.hypot(...{away}.map((part, i) => part - {before}[i])) < 0.02')
    trail = np.array(visitor.js('urlab.overlays.trails[0].points.map((p) => p.toArray())'))
    assert len(trail) > 2 and (np.diff(trail[:, 0]) > 0).all()
    assert np.abs(trail[:, 2]).max() < 0.05  # straight on
    # Each ray that meets something is a point, as far away as it was measured.
    _, ranges, shown = visitor.js(
        '[urlab.overlays.update([], urlab.watched), '
        '[...urlab.watched.get(urlab.overlays.scans[0].lidar.channel)]'
        '.filter((range) => Number.isFinite(range) && range > 0), '
        '[...urlab.overlays.scans[0].positions.array.slice(0, '
        '3 * urlab.overlays.scans[0].points.geometry.drawRange.count)]]'
    )
    assert len(ranges) > 100
    points = np.reshape(shown, (-1, 3))
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), ranges, rtol=1e-5)

    visitor.tab.keyboard.press('3')
    visitor.tab.locator('.menu .item', has_text='front').first.click()
    visitor.until("urlab.views.mode === 'camera'")
    visitor.drawn()
    assert visitor.js(f'urlab.stage.camera.position.distanceTo({BASE}.position)') < 0.6
    for key in '1t':
        visitor.tab.keyboard.press(key)


def test_of_two_pages_one_has_control_and_both_can_e_stop(browser, rover_url, wide, urlab):
    visitor = wide
    control = "document.getElementById('control')"
    stopped = "document.getElementById('stopped').checkVisibility()"
    visitor.take_control()
    with Visitor(browser, rover_url, size=PHONE['size']) as other:
        visitor.until(f'!{control}.hidden')
        visitor.tab.get_by_role('button', name='Ask').click()
        other.until(f"{control}.textContent.includes('asks for control')")
        visitor.tab.get_by_role('button', name='Take').click()
        other.until(f"{control}.textContent.includes('has control')")
        visitor.until(f'{control}.hidden')
        try:
            other.tab.locator('#e-stop button').click()
            for page in (other, visitor):
                page.until(stopped)
            with pytest.raises(EStopEngaged):
                urlab.set_twist('rover', (0.3, 0.0, 0.0))
            visitor.tab.keyboard.press('w')
            visitor.until(f"{TOASTS}.includes('e-stop')")
            other.take_control()
            other.tab.get_by_role('button', name='Release the e-stop').click()
            for page in (other, visitor):
                page.until(f'!{stopped}')
            visitor.tab.keyboard.press('Backspace')
            other.until(stopped)
        finally:
            urlab.e_stop(False)
        visitor.until(f'!{stopped}')


GAMEPAD = """
window.pad = { mapping: 'standard', axes: [0, 0, 0, 0], buttons: [] };
navigator.getGamepads = () => [null, window.pad];
document.hasFocus = () => true;
"""


def test_a_gamepad_drives_the_robot_and_its_release_stops_it(visitor, urlab):
    visitor.take_control()
    urlab.reset()
    visitor.until(f'Math.hypot({BASE}.position.x, {BASE}.position.z) < 0.05')
    visitor.tab.evaluate(GAMEPAD)
    visitor.js('pad.axes = [0, -1, 0, 0]')
    visitor.until(f'{BASE}.position.x > 0.3')
    visitor.js('pad.axes = [0.05, 0.05, 0, 0]')
    visitor.until('urlab.driving.moved === false')


def test_a_finger_turns_a_tip_and_the_mouse_moves_it_and_closes_its_gripper(
    browser, bimanual_gateway, bimanual
):
    handle = 'urlab.pointer.handles[0]'
    with (
        Visitor(browser, bimanual_gateway.url, **PHONE) as visitor,
        Client(rpc_port=bimanual, shared=True) as client,
    ):
        tip = visitor.js('urlab.world.tips[0]')
        at = f'urlab.bodies.worldPoint({tip["body"]}, {list(tip["offset"])})'
        group = f'urlab.bodies.groups[{tip["body"]}].quaternion'
        start, before = visitor.js(f'{at}.toArray()'), visitor.js(f'{group}.toArray()')

        def turn_tool():
            visitor.js("document.body.classList.remove('bare')")
            visitor.tab.locator('#turn').tap()
            visitor.js("document.body.classList.add('bare')")

        turn_tool()
        x, y = visitor.on_screen(f'{handle}.position')
        # 40 px are 0.4 rad, and the tip stays.
        turned = f'{group}.angleTo({group}.clone().fromArray({before}))'
        visitor.drag_by_finger((x, y), (x + 40, y), f'Math.abs({turned} - 0.4) < 0.05')
        visitor.until('!urlab.pointer.drag')
        assert np.linalg.norm(np.subtract(visitor.js(f'{at}.toArray()'), start)) < 0.02

        turn_tool()
        x, y = visitor.on_screen(f'{handle}.position')
        up = visitor.js(f'0.1 * urlab.pointer.pixels({handle})')  # a tenth of a metre
        visitor.tab.mouse.move(x, y)
        visitor.tab.mouse.down()
        visitor.tab.mouse.move(x, y - up, steps=5)
        visitor.until(f'{at}.distanceTo({at}.clone().fromArray({start})) > 0.03')
        visitor.until(f'{at}.distanceTo(urlab.pointer.drag.goal) < 0.01')
        visitor.tab.mouse.up()
        client.connect()

        def controls():
            return client.step().articulations['bimanual'].ctrl

        opened = controls().copy()
        visitor.tab.mouse.click(*visitor.on_screen(f'{handle}.position'))
        visitor.wait(lambda: np.abs(controls() - opened).max() > 0.01, 'a closed gripper')
