# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Bridges that record; helpers of this folder become importable."""

from pathlib import Path
import shutil
import sys

from bridge_harness import wait_until
import pytest
import rclpy.publisher
from rclpy.serialization import serialize_message

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope='module')
def published():
    """Keep all that goes to rclpy: (topic, bytes)."""
    kept, publish = [], rclpy.publisher.Publisher.publish

    def keep(self, message):
        data = message if isinstance(message, bytes) else serialize_message(message)
        kept.append((self.topic_name, data))
        publish(self, message)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rclpy.publisher.Publisher, 'publish', keep)
        yield kept


@pytest.fixture(scope='module')
def lasting_recording(keep_all, lasting_bridged, published, tmp_path_factory):
    from small_world import SmallServer

    server, folder = keep_all(SmallServer()), tmp_path_factory.mktemp('data')
    return server, *lasting_bridged(server, data_dir=str(folder), cmd_vel_type='twist'), folder


@pytest.fixture
def recording(lasting_recording):
    """Return (server, bridge, listener, folder of bags) of a bridge without a bag."""
    server, bridge, listener, folder = lasting_recording
    wait_until(lambda: bridge.settled)
    yield server, bridge, listener, folder / 'Bags'
    if bridge.recorder.bag is not None:
        bridge.recorder.end()
    shutil.rmtree(folder / 'Bags', ignore_errors=True)
