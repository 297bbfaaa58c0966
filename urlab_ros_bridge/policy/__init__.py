# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The node that runs a policy of the user: an ONNX model between sensors and joint setpoints.

It knows ROS and nothing of the simulation, so that the same file drives the real robot.
`description` reads the YAML file; `terms`, `observations`, `model` and `controller` are plain
NumPy, which a training script can use too; `inputs`, `node` and `main` are ROS.
"""
