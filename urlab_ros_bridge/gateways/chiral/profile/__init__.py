# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The profile, and the actions and observations that follow from it."""

from urlab_ros_bridge.gateways.chiral.profile.profile import find_profile
from urlab_ros_bridge.gateways.chiral.profile.profile import load_profile
from urlab_ros_bridge.gateways.chiral.profile.profile import Profile
from urlab_ros_bridge.gateways.chiral.profile.profile import profile_names
from urlab_ros_bridge.gateways.chiral.profile.profile import read_profile

__all__ = ['Profile', 'find_profile', 'load_profile', 'profile_names', 'read_profile']
