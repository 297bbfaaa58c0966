# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0

from setuptools import setup

setup(
    name='my_robot',
    version='0.1.0',
    packages=['my_robot'],
    data_files=[
        ('share/ament_index/resource_index/packages', ['resource/my_robot']),
        ('share/my_robot', ['package.xml']),
    ],
    entry_points={'console_scripts': ['driver = my_robot.driver:main']},
    extras_require={'test': ['pytest']},  # else `colcon test` runs unittest, which finds nothing
)
