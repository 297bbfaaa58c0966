# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The agents' side: what a player perceives, and how its effectors move a robot.

docs/simspark.md has the messages; units on this wire are degrees for angles, rad/s for
speeds of hinges, m and N.
"""
