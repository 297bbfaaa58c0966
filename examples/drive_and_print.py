# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Drive the rover of `make demo` in a circle and print its odometry once a second.

    . ./env.sh
    python examples/drive_and_print.py

Stop with Ctrl-C: the robot stops half a second after the last command.
"""

from contextlib import suppress

from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data


class CircleDriver(Node):
    """Publish one velocity ten times a second, and print where the robot is."""

    def __init__(self) -> None:
        super().__init__('circle_driver')
        self._position = None
        self._velocity = self.create_publisher(Twist, 'cmd_vel', 10)
        self.create_subscription(Odometry, 'odom', self._on_odometry, qos_profile_sensor_data)
        self.create_timer(0.1, self._drive)
        self.create_timer(1.0, self._print)

    def _on_odometry(self, message: Odometry) -> None:
        self._position = message.pose.pose.position

    def _drive(self) -> None:
        message = Twist()
        message.linear.x = 0.5  # m/s
        message.angular.z = 0.3  # rad/s
        self._velocity.publish(message)

    def _print(self) -> None:
        if self._position is None:
            print('waiting for /odom: is `make demo` running?', flush=True)
        else:
            print(f'x {self._position.x:6.2f} m   y {self._position.y:6.2f} m', flush=True)


def main() -> None:
    rclpy.init()
    with suppress(KeyboardInterrupt, ExternalShutdownException):
        rclpy.spin(CircleDriver())


if __name__ == '__main__':
    main()
