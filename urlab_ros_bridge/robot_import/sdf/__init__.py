# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Worlds and models of Gazebo (SDF), as worlds that the server serves.

`document` reads files, `includes` puts in what they include, `frames` resolves poses, `shapes` and
`models` make bodies and robots of it, and `importing` writes the world.
"""
