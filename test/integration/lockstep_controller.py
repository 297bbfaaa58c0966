# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
A controller that takes another time for every answer.

It drives by what odometry says, and prints a line for every run that began at time 0: how many
instants there were in a row, a digest of every bit of them, and where the robot is.
"""

import contextlib
import hashlib
import random
import sys
import time

from geometry_msgs.msg import TwistStamped
from nav_msgs.msg import Odometry
import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.serialization import deserialize_message

PERIOD_NS = 20_000_000


class Controller(Node):
    def __init__(self, count):
        super().__init__('controller')
        self._count = count
        self._stamps = []
        self._digest = hashlib.sha256()
        self._random = random.SystemRandom()
        self._publisher = self.create_publisher(TwistStamped, 'cmd_vel', 1)
        self.create_subscription(Odometry, 'odom', self._take, 10, raw=True)

    def _take(self, data):
        odometry = deserialize_message(data, Odometry)
        self._record(odometry.header.stamp, data, odometry.pose.pose.position)
        if self._random.random() < 0.3:
            time.sleep(self._random.uniform(0.0, 0.012))
        answer = TwistStamped(header=odometry.header)
        place = odometry.pose.pose.position
        answer.twist.linear.x = 0.7 - 0.3 * place.x
        answer.twist.angular.z = 1.0 - 5.0 * place.y
        self._publisher.publish(answer)

    def _record(self, stamp, data, place):
        stamp_ns = stamp.sec * 10**9 + stamp.nanosec
        if stamp_ns == 0:
            self._stamps, self._digest = [], hashlib.sha256()
        elif not self._stamps:
            return
        self._stamps.append(stamp_ns)
        self._digest.update(data)
        if len(self._stamps) == self._count:
            row = [PERIOD_NS * number for number in range(self._count)]
            whole = sum(a == b for a, b in zip(self._stamps, row, strict=True))
            print(whole, self._digest.hexdigest(), f'{place.x:.3f} {place.y:.3f}', flush=True)


if __name__ == '__main__':
    rclpy.init()
    with contextlib.suppress(KeyboardInterrupt, ExternalShutdownException):
        rclpy.spin(Controller(int(sys.argv[1])))
