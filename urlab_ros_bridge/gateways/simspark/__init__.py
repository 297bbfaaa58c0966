# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The SimSpark network protocol in front of any URLab server: RoboCup tools on MuJoCo robots.

Agents and monitors connect by TCP; messages are S-expressions behind a length.
docs/simspark.md defines what is served.
"""
