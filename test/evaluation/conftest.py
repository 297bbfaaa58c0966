# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A robot to evaluate policies on, and gateways in front of it."""

from test.gateways.chiral.conftest import _patient_gateway
from test.gateways.chiral.conftest import gateway
from test.gateways.chiral.conftest import quadruped

__all__ = ['_patient_gateway', 'gateway', 'quadruped']
