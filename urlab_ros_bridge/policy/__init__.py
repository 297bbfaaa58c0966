# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The policy node: an ONNX model of the user that maps sensor messages to joint setpoints.

It depends on ROS only, not on the simulation, so the same policy file also drives the real robot.
`description` reads the YAML file; `terms`, `observations`, `model` and `controller` are plain
NumPy, which a training script can use too; `inputs`, `node` and `main` are ROS.
"""
