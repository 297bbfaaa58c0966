# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A node that drives one metre and stops."""

from contextlib import suppress

from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node


class Driver(Node):
    """Drives one metre and stops; answers every odometry."""

    def __init__(self) -> None:
        super().__init__('driver')
        self.publisher = self.create_publisher(Twist, 'cmd_vel', 1)
        self.create_subscription(Odometry, 'odom', self.control, 10)

    def control(self, odometry: Odometry) -> None:
        command = Twist()
        left = 1.0 - odometry.pose.pose.position.x
        command.linear.x = min(0.8, max(0.0, 2.0 * left))
        self.publisher.publish(command)


def main() -> None:
    rclpy.init()
    with suppress(KeyboardInterrupt, ExternalShutdownException):
        rclpy.spin(Driver())


if __name__ == '__main__':
    main()
