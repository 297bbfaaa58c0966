# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Images from the renderer to ROS, through the real programs."""

import json
from pathlib import Path
import time

from bridge_harness import LATCHED
from bridge_harness import LISTEN_BEST_EFFORT
from bridge_harness import wait_until
import numpy as np
import pytest
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import CameraInfo
from sensor_msgs.msg import Image
from sensor_msgs.msg import PointCloud2
from tf2_msgs.msg import TFMessage
from urlab_msgs import srv

WAIT = 40.0
# Time passes slowly: every image takes a processor a twentieth of a second here.
SLOWLY = ('--speed', 20)


def array_of(image, dtype, *shape):
    return np.frombuffer(bytes(image.data), dtype).reshape(image.height, image.width, *shape)


@pytest.fixture(scope='module')
def lasting_rover(lasting_simulation):
    return lasting_simulation(*SLOWLY)


@pytest.fixture
def rover(lasting_rover):
    """Return (server, bridge, listener) of a rover whose images come through shared memory."""
    yield lasting_rover
    lasting_rover[2].forget()  # cameras without subscribers cost nothing


def test_the_rover_sees_its_world_in_colour_depth_and_points(rover):
    _, bridge, listener = rover
    listener.listen(CameraInfo, '/front_rgb/camera_info')
    colors = listener.listen(Image, '/front_rgb/image_raw')
    clouds = listener.listen(PointCloud2, '/front_depth/points')
    depth = listener.wait_for(Image, '/front_depth/image_raw', timeout=WAIT)
    wait_until(lambda: colors and clouds, WAIT)
    color = colors[-1]
    assert (color.encoding, color.width, color.height) == ('rgb8', 640, 480)
    assert color.header.frame_id == 'front_rgb_optical_frame'
    # A warehouse, not a grey field.
    assert array_of(color, np.uint8, 3).std() > 20
    metres = array_of(depth, np.float32)
    seen = np.isfinite(metres)
    assert 0.2 < seen.mean() < 0.9 and metres[seen].min() > 0.5 and metres[seen].max() < 12
    cloud = clouds[-1]
    points = np.frombuffer(bytes(cloud.data), '<f4').reshape(480, 640, 4)
    # The floor, 0.2 m below the camera or so, at the bottom of the image.
    floor = points[470:, :, :3][np.isfinite(points[470:, :, 2])]
    assert np.ptp(floor[:, 1]) < 0.02 and 0.05 < floor[:, 1].mean() < 0.6
    wait_until(lambda: len(colors) > 5, WAIT)
    assert maps_images(bridge), 'a server on this machine is read through shared memory'
    # Each stamp is that of one physics step, and no image is repeated or late.
    times = [m.header.stamp.sec * 10**9 + m.header.stamp.nanosec for m in colors]
    assert times == sorted(set(times)) and not any(stamp % 2_000_000 for stamp in times)
    stamps = {(m.header.stamp.sec, m.header.stamp.nanosec) for m in colors[:5]}
    clocks = lambda: {  # noqa: E731
        (m.header.stamp.sec, m.header.stamp.nanosec)
        for m in listener.received['/front_rgb/camera_info']
    }
    wait_until(lambda: stamps & clocks())
    # Seen by the scene's camera too, which has a place in the world.
    tree = listener.wait_for(
        TFMessage,
        '/tf_static',
        lambda message: any(
            t.child_frame_id == 'overview_optical_frame' for t in message.transforms
        ),
        qos=LATCHED,
    )
    (parent,) = (
        each.header.frame_id
        for each in tree.transforms
        if each.child_frame_id == 'overview_optical_frame'
    )
    assert parent == 'map'


def test_after_a_reset_no_image_is_older_than_the_reset(rover):
    _, _, listener = rover
    images = listener.listen(Image, '/front_rgb/image_raw')
    listener.listen(Clock, '/clock', LISTEN_BEST_EFFORT)
    wait_until(lambda: len(images) > 3, WAIT)
    for _ in range(2):
        time.sleep(1.1)
        begin = len(listener.order)
        assert listener.call(srv.Reset, '/reset', time=True).success
        wait_until(lambda begin=begin: images_after_jump(listener.order, begin) > 3, WAIT)


def images_after_jump(order, begin):
    """
    Count the images that were sent after /clock had jumped back, and check that all are new.

    By the time of sending: a large message may be heard long after the clock.
    """
    clock, jumped, count = -1, False, 0
    recent = order[max(0, begin - 50) :]
    for _, topic, message in sorted(recent, key=lambda item: item[0]):
        stamp = message.clock if topic == '/clock' else message.header.stamp
        stamp = stamp.sec * 10**9 + stamp.nanosec
        if topic == '/clock':
            jumped = jumped or stamp < clock
            clock = stamp
        elif jumped:
            # The clock is published less often than images may arrive.
            assert stamp <= clock + 100_000_000
            count += 1
    return count


def maps_images(program):
    """Return whether a process has a camera's shared memory mapped."""
    maps = Path(f'/proc/{program.process.pid}/maps').read_text()
    return 'cam_rover_front_rgb.shm' in maps


def test_labels_name_the_object_of_each_colour(simulation, tmp_path):
    from std_msgs.msg import String

    (tmp_path / 'labels.xml').write_text(
        '<mujoco><worldbody><light pos="0 0 3"/><geom name="floor" type="plane" size="3 3 1"/>'
        '<camera name="seg" pos="0 0 2" resolution="64 48"/></worldbody></mujoco>'
    )
    (tmp_path / 'labels.yaml').write_text(
        'scene: labels.xml\nglobal_cameras:\n  seg: {mode: semantic, rate: 20}\n'
    )
    _, _, listener = simulation('--model', tmp_path / 'labels.yaml')
    labels = listener.wait_for(String, '/seg/labels', qos=LATCHED, timeout=WAIT)
    known = {tuple(color) for color in json.loads(labels.data).values()}
    image = listener.wait_for(Image, '/seg/image_raw', timeout=WAIT)
    seen = {tuple(color) for color in array_of(image, np.uint8, 3).reshape(-1, 3).tolist()}
    assert seen <= known | {(0, 0, 0)} and len(seen - {(0, 0, 0)}) >= 1
