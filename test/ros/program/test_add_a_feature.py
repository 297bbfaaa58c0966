# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The package examples/my_features, installed, adds a topic and a service."""

import os
import signal
import sys

from bridge_harness import free_domain
from bridge_harness import LISTEN_BEST_EFFORT
from bridge_harness import Listener
from bridge_harness import wait_for_message
from geometry_msgs.msg import PointStamped
from lifelines import run_process
from lifelines import start_process
import pytest
from std_srvs.srv import Trigger

from test.ros.program.my_features import install

pytestmark = pytest.mark.ros

# The page of interfaces as `make docs` writes it, then the bridge: one start for both.
PROGRAM = """
import sys
from urlab_ros_bridge.ros.program.features import installed_features
from urlab_ros_bridge.ros.program.interface_docs import interfaces_markdown
from urlab_ros_bridge.ros.program.main import main
open(sys.argv[1], 'w').write(interfaces_markdown(installed_features()))
sys.exit(main(sys.argv[2:]))
"""


def beside(site):
    """Return the environment in which a folder of packages is installed too."""
    return {'PYTHONPATH': os.pathsep.join([str(site), os.environ.get('PYTHONPATH', '')])}


@pytest.fixture
def page(tmp_path, small_server):
    """Run a bridge beside the package; yield listener, server, interfaces."""
    site = install(tmp_path)
    server, domain = small_server(), free_domain()
    interfaces = tmp_path / 'interfaces.md'
    rpc, state = server.ports.values()
    values = ('second_bridge:=warn', f'rpc_port:={rpc}', f'state_port:={state}')
    bridge = start_process(
        [
            sys.executable, '-c', PROGRAM, interfaces, '--ros-args',
            *(word for value in values for word in ('-p', value)),
        ],
        env={**os.environ, **beside(site), 'ROS_DOMAIN_ID': str(domain)},
    )  # fmt: skip
    listener = Listener(domain)
    yield listener, server, interfaces
    listener.close()
    bridge.send_signal(signal.SIGINT)
    bridge.wait(60)


def test_the_package_makes_a_topic_and_a_service(page):
    listener, server, interfaces = page
    height = wait_for_message(listener, PointStamped, 'height', qos=LISTEN_BEST_EFFORT)
    assert height.header.frame_id == 'map' and 0.0 < height.point.z < 10.0
    answer = listener.call(Trigger, '/count_contacts')
    assert answer.success and answer.message.endswith(' contacts')
    assert server.of('get_contacts')
    text = interfaces.read_text()
    assert '| `{robot}/height` | geometry_msgs/PointStamped |' in text
    assert '| `count_contacts` | std_srvs/srv/Trigger | Count the contacts of the present' in text


def test_a_feature_that_cannot_be_used_is_named_with_its_package(tmp_path):
    site = install(tmp_path, **{'height.py': 'FEATURE = 5'})
    ended = run_process(
        [sys.executable, '-m', 'urlab_ros_bridge.ros.program.main'],
        env={**os.environ, **beside(site)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ended.returncode == 1
    assert all(word in ended.stderr for word in ("'height'", 'my_features'))
