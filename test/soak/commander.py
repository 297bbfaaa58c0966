# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Drives the rover until it is killed: ``commander.py RPC_PORT``."""

import sys
import time

from urlab_ros_bridge.client import Client

with Client(rpc_port=int(sys.argv[1]), shared=True, name='commander') as client:
    print('ready', flush=True)
    while True:
        client.set_twist('rover', (0.5, 0.0, 0.0), (0.0, 0.0, 0.3), timeout=0.4)
        time.sleep(0.05)
