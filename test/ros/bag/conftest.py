# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Bridges that record; helpers of this folder become importable."""

from pathlib import Path
import sys

from bridge_harness import wait_until
import pytest
import rclpy.publisher
from rclpy.serialization import serialize_message

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def published(monkeypatch):
    """Keep all that goes to rclpy: (topic, bytes)."""
    kept, publish = [], rclpy.publisher.Publisher.publish

    def keep(self, message):
        data = message if isinstance(message, bytes) else serialize_message(message)
        kept.append((self.topic_name, data))
        publish(self, message)

    monkeypatch.setattr(rclpy.publisher.Publisher, 'publish', keep)
    return kept


@pytest.fixture
def recording(small_server, bridged, tmp_path):
    """Return a function that starts a server and a bridge whose bags lie in tmp_path."""

    def start(**parameters):
        server = small_server()
        bridge, listener = bridged(server, data_dir=str(tmp_path), **parameters)
        wait_until(lambda: bridge.settled)
        return server, bridge, listener

    return start
