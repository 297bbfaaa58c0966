# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The package examples/my_features, installed, adds a topic and a service."""

import os
import sys

from bridge_harness import LISTEN_BEST_EFFORT
from geometry_msgs.msg import PointStamped
from installed import install_example
from lifelines import run_process
import pytest
from std_srvs.srv import Trigger


@pytest.fixture(scope='module')
def site(tmp_path_factory):
    """Return the folder that the package is installed in."""
    return install_example('my_features', tmp_path_factory.mktemp('package'))


def test_the_package_makes_a_topic_and_a_service(site, monkeypatch, small_server, bridged):
    monkeypatch.syspath_prepend(site)
    server = small_server()
    _, listener = bridged(server, features=None)
    height = listener.wait_for(PointStamped, 'height', qos=LISTEN_BEST_EFFORT)
    assert height.header.frame_id == 'map' and 0.0 < height.point.z < 10.0
    answer = listener.call(Trigger, '/count_contacts')
    assert answer.success and answer.message.endswith(' contacts')
    assert server.of('get_contacts')


def test_an_invalid_feature_is_named_with_its_package(tmp_path, site):
    (tmp_path / 'height.py').write_text('FEATURE = 5')
    folders = [tmp_path, site, os.environ.get('PYTHONPATH', '')]
    ended = run_process(
        [sys.executable, '-m', 'urlab_ros_bridge.ros.program.main'],
        env={**os.environ, 'PYTHONPATH': os.pathsep.join(map(str, folders))},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ended.returncode == 1
    assert all(word in ended.stderr for word in ("'height'", 'my_features'))
