# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Images from the renderer to ROS, through the real programs."""

import itertools
from pathlib import Path

from bridge_harness import wait_until
import numpy as np
import pytest
from sensor_msgs.msg import CameraInfo
from sensor_msgs.msg import Image
from sensor_msgs.msg import PointCloud2
from simulations import ServerProgram
from stamps import ns_of
from std_msgs.msg import Header
from urlab_msgs import srv

WAIT = 40.0


def array_of(image, dtype, *shape):
    return np.frombuffer(bytes(image.data), dtype).reshape(image.height, image.width, *shape)


@pytest.fixture(scope='module')
def rover(lasting_simulation):
    # Time passes slowly: every image takes a processor a twentieth of a second here.
    return lasting_simulation(ServerProgram('--speed=20'))


def test_the_rover_sees_its_world_in_colour_depth_and_points(rover):
    _, bridge, listener = rover
    infos = listener.listen(CameraInfo, '/front_rgb/camera_info')
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
    # A server on this machine is read through shared memory.
    maps = Path(f'/proc/{bridge.process.pid}/maps').read_text()
    assert 'cam_rover_front_rgb.shm' in maps
    # Each stamp is that of one physics step, and no image is repeated or late.
    times = [ns_of(image) for image in colors]
    assert times == sorted(set(times)) and not any(stamp % 2_000_000 for stamp in times)
    wait_until(lambda: any(info.header.stamp == colors[0].header.stamp for info in list(infos)))


def test_a_node_that_answers_images_in_lockstep_gets_one_of_each_instant(rover):
    server, _, listener = rover
    listener.forget()
    seen = []
    publisher = listener.node.create_publisher(Header, 'seen', 1)

    def receive(image):
        seen.append(ns_of(image))
        publisher.publish(Header(stamp=image.header.stamp))

    listener.node.create_subscription(Image, '/front_rgb/image_raw', receive, 5)
    lockstep = {'enabled': True, 'topics': ['seen'], 'period': 0.1}
    assert listener.call(srv.SetLockstep, '/lockstep', **lockstep).success
    begun = len(seen)
    wait_until(lambda: len(seen) > begun + 8, WAIT)
    steps = {after - before for before, after in itertools.pairwise(seen[begun + 2 :])}
    assert steps == {10**8} and server.now_ns() >= seen[-1]
