# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
A user's node on another machine: ends well when it has heard odometry and a picture.

Usage: far_node.py SECONDS.
"""

import sys
import time

from nav_msgs.msg import Odometry
import rclpy
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import CompressedImage


def main(seconds):
    rclpy.init()
    node = rclpy.create_node('far_node')
    heard = {}
    for kind, topic in ((Odometry, 'odom'), (CompressedImage, 'front_rgb/image_raw/compressed')):

        def take(message, topic=topic):
            heard[topic] = message

        node.create_subscription(kind, topic, take, qos_profile_sensor_data)
    deadline = time.monotonic() + seconds
    while len(heard) < 2 and time.monotonic() < deadline:
        rclpy.spin_once(node, timeout_sec=0.5)
    print('heard', *sorted(heard))
    rclpy.shutdown()
    return len(heard) < 2


if __name__ == '__main__':
    raise SystemExit(main(float(sys.argv[1])))
