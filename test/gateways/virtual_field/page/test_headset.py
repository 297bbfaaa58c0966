# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The page in a headset: a real browser with an emulated one (IWER, from npm)."""

import numpy as np
import pytest

from test.gateways.virtual_field.page.browser import NEEDED
from test.gateways.virtual_field.page.browser import Visitor
from urlab_ros_bridge.client import Client
from urlab_ros_bridge.gateways.virtual_field.page.files import WEB

EMULATOR = WEB / 'vendor/.tests/iwer.min.js'
HEADSET = """
const headset = new IWER.XRDevice(IWER.metaQuest3, { stereoEnabled: false });
headset.installRuntime({ forceInstall: true }); // Chromium has one, without a device
window.headset = headset;
for (const side of ['left', 'right']) {
  const controller = headset.controllers[side];
  controller.position.set(side === 'left' ? -0.2 : 0.2, 1.3, -0.3);
}
"""
HAND = "urlab.headset.grips[['left', 'right'].indexOf('{0}')]"
TURN = 'urlab.stage.camera.quaternion.clone()'
LISTEN = """(() => {
  const { connection } = urlab, sendProtocol = connection.sendProtocol;
  window.reported = [];
  connection.sendProtocol = (type, payload) => {
    if (type === 'xr_input') reported.push(payload);
    sendProtocol.call(connection, type, payload);
  };
})()"""
SQUEEZE = "headset.controllers.{0}.updateButtonValue('squeeze', {1})"

pytestmark = [*NEEDED, pytest.mark.skipif(not EMULATOR.is_file(), reason='no emulator: make web')]


@pytest.fixture(scope='module')
def visitor(browser, bimanual_gateway):
    with Visitor(browser, bimanual_gateway.url, scripts=(EMULATOR, HEADSET)) as visitor:
        yield visitor


def tip_of(visitor, index):
    """Return the place of a tip as the page draws it, y up."""
    tip = visitor.js(f'urlab.world.tips[{index}]')
    place = f'urlab.bodies.worldPoint({tip["body"]}, {tip["offset"]}).toArray()'
    return np.array(visitor.js(place))


def hand_of(visitor, side):
    """Return where a controller is in the world, y up, as the page draws it."""
    place = f'{HAND.format(side)}.getWorldPosition(urlab.stage.focus.clone()).toArray()'
    return np.array(visitor.js(place))


def test_hands_and_head_of_a_user_are_reported_where_they_are_drawn(visitor, bimanual_gateway):
    visitor.js(LISTEN)
    # The emulator covers the page, so a click of the mouse would not arrive.
    visitor.tab.get_by_role('button', name='Enter VR').evaluate('button => button.click()')
    visitor.until("urlab.connection.ack?.role === 'vr_client'")
    assert len(visitor.js('urlab.connection.ack.controlled_arm_ids')) == 2
    visitor.until('urlab.stage.renderer.xr.isPresenting && urlab.headset.sent > 0')
    assert any(bimanual_gateway.world.pool.ownership.owners)
    visitor.until('reported.at(-1)?.controllers.right')
    sample = visitor.js('reported.at(-1)')
    for side in ('left', 'right'):
        pose = sample['controllers'][side]['pose']
        np.testing.assert_allclose(pose['translation'], hand_of(visitor, side), atol=1e-4)
        turn = np.array(visitor.js(f'{HAND.format(side)}.getWorldQuaternion({TURN}).toArray()'))
        assert abs(np.dot(pose['rotation_xyzw'], turn)) > 1 - 1e-5
    eye = visitor.js('urlab.stage.renderer.xr.getCamera().matrixWorld.elements.slice(12, 15)')
    # An eye is half the distance between both from the middle of the head.
    assert 0.02 < np.linalg.norm(np.subtract(sample['head_pose']['translation'], eye)) < 0.04
    # The user stands elsewhere than at the origin of the headset's own space, and looks elsewhere.
    own = visitor.js('(({ x, y, z }) => [x, y, z])(headset.controllers.left.position)')
    assert np.linalg.norm(np.subtract(own, hand_of(visitor, 'left'))) > 0.3


def test_a_gripping_hand_moves_its_own_tip_only(visitor):
    starts = [tip_of(visitor, 0), tip_of(visitor, 1)]
    visitor.js(SQUEEZE.format('left', 1))
    held = hand_of(visitor, 'left')
    visitor.tab.wait_for_timeout(300)  # the grip has to arrive before the hand moves
    # Up, and to what is ahead of the user, which is no axis of the world.
    visitor.js('headset.controllers.left.position.y += 0.06')
    visitor.js('headset.controllers.left.position.z -= 0.05')

    def moved():
        return hand_of(visitor, 'left') - held

    visitor.wait(lambda: np.linalg.norm(moved()) > 0.07)
    visitor.wait(lambda: np.linalg.norm(tip_of(visitor, 0) - starts[0] - moved()) < 0.015)
    assert np.linalg.norm(tip_of(visitor, 1) - starts[1]) < 0.01
    # Without the grip the hand goes where it likes.
    visitor.js(SQUEEZE.format('left', 0))
    visitor.tab.wait_for_timeout(300)
    there = tip_of(visitor, 0)
    visitor.js('headset.controllers.left.position.y -= 0.08')
    visitor.tab.wait_for_timeout(700)
    assert np.linalg.norm(tip_of(visitor, 0) - there) < 0.01


def test_the_arms_are_free_when_the_headset_is_taken_off(visitor, bimanual_gateway, bimanual):
    visitor.tab.evaluate('() => urlab.headset.session.end()')
    visitor.until("urlab.connection.ack?.role === 'spectator'")
    visitor.wait(lambda: not any(bimanual_gateway.world.pool.ownership.owners))
    visitor.until('!urlab.stage.renderer.xr.isPresenting')
    visitor.drawn()
    with Client(rpc_port=bimanual, shared=True) as client:
        client.connect()
        client.reset('home')
