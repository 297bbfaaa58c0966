# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Drive to x = 3 m along y = 0, with one command for each odometry message (lockstep)."""

from contextlib import suppress

from geometry_msgs.msg import TwistStamped
from nav_msgs.msg import Odometry
import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node


class Controller(Node):
    """Drives to x = 3 m along y = 0, and answers every odometry."""

    def __init__(self) -> None:
        super().__init__('controller')
        self.publisher = self.create_publisher(TwistStamped, 'cmd_vel', 1)
        self.create_subscription(Odometry, 'odom', self.control, 10)

    def control(self, odom: Odometry) -> None:
        place = odom.pose.pose.position
        answer = TwistStamped()
        answer.header.stamp = odom.header.stamp  # which instant this answers
        answer.twist.linear.x = min(0.8, max(0.0, 3.0 - place.x))
        answer.twist.angular.z = -2.0 * place.y
        self.publisher.publish(answer)


if __name__ == '__main__':
    rclpy.init()
    with suppress(KeyboardInterrupt, ExternalShutdownException):
        rclpy.spin(Controller())
