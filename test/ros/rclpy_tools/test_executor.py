# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import pytest

from urlab_ros_bridge.ros.rclpy_tools.executor import start_problem


@pytest.mark.parametrize(
    ('text', 'advised'),
    [
        ('Failed to get logging directory, at rcl_logging_spdlog.cpp:138', True),  # no HOME
        ('Failed to create log directory: /nowhere/.ros/log', True),
        ("Couldn't parse log level", False),
    ],
)
def test_a_problem_with_the_folder_of_logs_comes_with_advice(text, advised):
    assert ('ROS_LOG_DIR' in start_problem(RuntimeError(text))) == advised
