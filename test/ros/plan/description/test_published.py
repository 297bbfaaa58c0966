# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""robot_description and transforms of links, as another node hears them."""

from bridge_harness import LATCHED
from bridge_harness import wait_until
import mujoco
import numpy as np
import pytest
from small_model import XML
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from urlab_ros_bridge.geometry import compose
from urlab_ros_bridge.geometry import rotate

BALL = XML.replace(
    'axis="0 0 1"/>',
    'axis="0 0 1"/><body name="{p}_wrist" pos="0 .2 0">'
    '<joint name="{p}_wrist" type="ball" pos="0 .05 0"/><geom size="0.05" mass=".2"/></body>',
)


def transforms(message):
    return {
        t.child_frame_id: (
            t.header.frame_id,
            (t.transform.translation.x, t.transform.translation.y, t.transform.translation.z),
            (t.transform.rotation.x, t.transform.rotation.y, t.transform.rotation.z,
             t.transform.rotation.w),
        )
        for t in message.transforms
    }  # fmt: skip


def of_links(message):
    return any(t.child_frame_id == 'arm' for t in message.transforms)


def test_the_description_comes_to_late_subscribers(small_server, bridged, tmp_path):
    import yourdfpy  # takes a second

    server = small_server()
    bridge, listener = bridged(server, mesh_directory=str(tmp_path))
    wait_until(lambda: bridge.stream.world is not None)
    text = listener.wait_for(String, 'robot_description', qos=LATCHED).data
    path = tmp_path / 'robot.urdf'
    path.write_text(text)
    urdf = yourdfpy.URDF.load(str(path), load_meshes=False)
    assert urdf.base_link == 'base_link'
    assert set(urdf.link_map) == {'base_link', 'arm', 'lift'}
    assert urdf.actuated_joint_names == ['shoulder', 'lift']


def test_published_links_have_the_poses_of_the_simulation(small_server, bridged):
    server = small_server()
    server.data.qvel[6:8] = 0.7, -0.3
    _, listener = bridged(server, link_tf_rate=0.0)
    message = listener.wait_for(
        TFMessage, '/tf', lambda m: of_links(m) and m.transforms[0].header.stamp.sec > 0
    )
    found = transforms(message)
    assert {k: v[0] for k, v in found.items()} == {'arm': 'base_link', 'lift': 'base_link'}
    stamps = {(t.header.stamp.sec, t.header.stamp.nanosec) for t in message.transforms}
    ((sec, nanosec),) = stamps
    seconds = sec + nanosec * 1e-9
    # Nothing pulls at the slide but what the base feels.
    (_, position, turn) = found['lift']
    assert position[2] < -0.05 * seconds and turn == (0, 0, 0, 1)
    assert position[:2] == pytest.approx((0, -0.3))
    axis = np.array(found['arm'][2][:3])
    assert axis[1] != 0 and axis[0] == axis[2] == 0


def test_ball_joints_are_published_as_chains_of_links(small_server, bridged):
    server = small_server(model_xml=BALL)
    original = server._state

    def state_with_ball(level):
        # The server sends the first 9 coordinates; this robot has 13.
        state = original(level)
        state['per_articulation']['bot']['qpos'] = server.data.qpos[:13].tolist()
        return state

    with server.lock:
        server._state, server.paused = state_with_ball, True
        server.data.joint('bot_wrist').qpos = 0.5, 0.5, -0.5, 0.5
        mujoco.mj_forward(server.model, server.data)
    _, listener = bridged(server)
    message = listener.wait_for(TFMessage, '/tf', lambda m: 'wrist_z_link' in transforms(m))
    found = transforms(message)
    static = listener.wait_for(TFMessage, '/tf_static', qos=LATCHED)
    found |= transforms(static)
    pose, link = ((0, 0, 0), (0, 0, 0, 1)), 'wrist'
    while link != 'lift':
        parent, position, turn = found[link]
        pose, link = compose(position, turn, *pose), parent
    lift, wrist = server.data.body('bot_lift'), server.data.body('bot_wrist')
    expected = lift.xmat.reshape(3, 3).T @ (wrist.xpos - lift.xpos)
    assert np.allclose(pose[0], expected, atol=1e-6)
    turned = np.array([rotate(pose[1], axis) for axis in np.eye(3)]).T
    assert np.allclose(turned, lift.xmat.reshape(3, 3).T @ wrist.xmat.reshape(3, 3), atol=1e-6)


def test_the_state_publisher_can_take_over(small_server, bridged):
    _, listener = bridged(small_server(), publish_link_tf=False)
    messages = listener.listen(TFMessage, '/tf')
    wait_until(lambda: len(messages) > 30)
    assert not any(map(of_links, messages)), 'odometry alone'
    static = transforms(listener.wait_for(TFMessage, '/tf_static', qos=LATCHED))
    assert 'imu_link' in static, 'sensors are no part of the description'
